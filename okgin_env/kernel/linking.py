"""Compiles the kernel as one program: each function is typed and lowered once, each entry point optimised once.

Numba by itself optimises and assembles every function again together with all it calls, once at every level of the call tree.
Here a function called by compiled code is only a `Part`: lowered, neither optimised nor assembled. What Python calls is a
`Whole`, which links all parts it reaches and is optimised and assembled once. This stands on inner classes of Numba; where they
are not as expected, `okgin_env.kernel.jit` falls back on `numba.njit`.
"""

from __future__ import annotations

import gc
import inspect
import sys
from typing import Any

from numba import typeof, types
from numba.core import registry, sigutils
from numba.core import typed_passes as typed
from numba.core import untyped_passes as untyped
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.runtime import nrt
from numba.core.serialize import dumps

from okgin_env.kernel.cache import Kept, one_at_a_time, saying_so

# Numba's own attributes are unknown to type checkers.
CPUDispatcher: Any = registry.CPUDispatcher
NativeLowering: Any = typed.NativeLowering


class _Library(JITCodeLibrary):
    """Compiled code whose functions go through one manager of passes, not through a new one for every declaration too."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        manager, builder = self._codegen._function_pass_manager()
        for function in ll_module.functions:
            if not function.is_declaration:
                manager.run(function, builder)


class _Part(_Library):
    """A lowered function, to be linked into others."""

    def _ensure_finalized(self) -> None:
        """Does nothing: a part is never assembled."""

    def own_module(self) -> Any:
        """Its own functions, which any number of modules may define."""
        if self._shared_module is None:
            self._shared_module = self._final_module.clone()
            for function in self._shared_module.functions:
                if not function.is_declaration and function.linkage.name == "external":
                    function.linkage = "linkonce_odr"
        return self._shared_module

    def _get_module_for_linking(self) -> Any:
        """All that it reaches, for a caller that Numba compiles in its own way."""
        module = self.own_module().clone()
        for library in _reached(self._linking_libraries):
            module.link_in(_module(library), preserve=True)
        return module


class _Program(_Library):
    """An entry point with all that it reaches."""

    def finalize(self) -> None:
        """Links, optimises and assembles."""
        own = next(f.name for f in self._final_module.functions if not f.is_declaration)
        for library in _reached(self._linking_libraries):
            self._final_module.link_in(_module(library), preserve=True)
        self._linking_libraries.clear()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage.name == "linkonce_odr":
                # Of nobody else's from now on, so that its arguments may change: nobody may find it by its old name.
                function.linkage = "internal"
                function.name = f"{own}.{function.name}"
        super().finalize()


def _module(library: Any) -> Any:
    return library.own_module() if isinstance(library, _Part) else library._get_module_for_linking()


def _reached(libraries: Any) -> list[Any]:
    """All libraries that some reach, callers first: the linker takes only functions that were already asked for."""
    seen: set[int] = set()
    found: list[Any] = []

    def visit(library: Any) -> None:
        if id(library) not in seen:
            seen.add(id(library))
            if isinstance(library, _Part):
                for callee in library._linking_libraries:
                    visit(callee)
            found.append(library)

    for library in libraries:
        visit(library)
    return found[::-1]


def _handles_arrays(state: Any) -> bool:
    """Whether a function makes arrays or hands them back: only then references to them need to be counted."""
    made = [s.return_type for s in state.calltypes.values() if hasattr(s, "return_type")]
    return any(_holds_array(t) for t in [state.return_type, *made])


def _holds_array(t: Any) -> bool:
    return isinstance(t, types.Array) or any(_holds_array(x) for x in getattr(t, "types", ()))


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerPart(NativeLowering):
    """Lowers a function into a part, and tells callers where it is."""

    _name = "okgin_lower_part"

    def run_pass(self, state: Any) -> bool:
        """Runs the pass."""
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        if not _handles_arrays(state):
            state.targetctx = state.targetctx.subtarget(enable_nrt=False)
        flags = state.flags
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        super().run_pass(state)
        key = object()  # in place of a function that Python could call
        state.targetctx.insert_user_function(key, state["cr"].fndesc, [state.library])
        state["cr"] = state["cr"]._replace(cfunc=key)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerProgram(NativeLowering):
    """Lowers an entry point and assembles it with all it reaches."""

    _name = "okgin_lower_program"

    def run_pass(self, state: Any) -> bool:
        """Runs the pass."""
        state.library = _Program(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.flags.no_cfunc_wrapper = True
        return super().run_pass(state)


# What these do for closures, `with`, literals and array expressions, the kernel has no use for.
_UNUSED = (
    typed.AnnotateTypes,
    typed.InlineOverloads,
    typed.NopythonRewrites,
    untyped.WithLifting,
    untyped.InlineClosureLikes,
    untyped.MakeFunctionToJitFunction,
    untyped.InlineInlinables,
    untyped.FindLiterallyCalls,
    untyped.LiteralUnroll,
    untyped.LiteralPropagationSubPipelinePass,
    untyped.RewriteDynamicRaises,
)


class _Compiler(CompilerBase):
    """Numba's steps with a lowering of our own, and without notes on types for people to read."""

    lowering: Any

    def define_pipelines(self) -> list[PassManager]:
        """The steps."""
        steps = PassManager("okgin")
        build = DefaultPassBuilder
        for part in (
            build.define_untyped_pipeline,
            build.define_typed_pipeline,
            build.define_nopython_lowering_pipeline,
        ):
            steps.passes.extend(part(self.state).passes)
        steps.passes = [
            (self.lowering if step is NativeLowering else step, why)
            for step, why in steps.passes
            if step not in _UNUSED
        ]
        steps.finalize()
        return [steps]


class _PartCompiler(_Compiler):
    lowering = _LowerPart


class _ProgramCompiler(_Compiler):
    lowering = _LowerProgram


class _Entry(CPUDispatcher):
    """What Python calls: compiled with all it reaches, or loaded."""

    def __init__(self, py_func: Any, targetoptions: Any) -> None:
        super().__init__(py_func, {}, targetoptions, _ProgramCompiler)
        inside = py_func.__module__.startswith("okgin_env.kernel.")
        try:
            source = "" if inside else inspect.getsource(sys.modules[py_func.__module__])
            self._kept = Kept(py_func, source)
        except (OSError, TypeError, KeyError):  # typed in by somebody
            self._kept = None

    def compile(self, sig: Any) -> Any:
        """Called by Python: loads or compiles the entry point, once for each signature."""
        args, _ = sigutils.normalize_signature(sig)
        with global_compiler_lock, self._compiling_counter:
            if args not in self.overloads and not self._load(args):
                with one_at_a_time():
                    if not self._load(args):  # nobody has compiled it in the meantime
                        self._make(args)
            return self.overloads[args].entry_point

    def _load(self, args: Any) -> bool:
        found = None if self._kept is None else self._kept.load(args)
        if found is not None:
            nrt.rtsys.initialize(
                self.targetctx
            )  # counts references; what compiling takes stays away
            self.add_overload(CompileResult._rebuild(self.targetctx, *found))
        return found is not None

    def _make(self, args: Any) -> None:
        collecting = gc.isenabled()
        gc.disable()  # a tenth of the time goes into looking for garbage that there is not
        try:
            with saying_so():
                result = self._compiler.compile(args, None)
        finally:
            if collecting:
                gc.enable()
        self.add_overload(result)
        if self._kept is not None:
            self._kept.save(args, dumps(result._reduce()))


class Function(CPUDispatcher):
    """A kernel function: a part of whatever compiled code calls it, an entry point of its own where Python does."""

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None) -> None:
        options = targetoptions or {"nopython": True, "nogil": True}
        super().__init__(py_func, {}, options, _PartCompiler)
        self._entry = _Entry(py_func, options)
        self._known: set[tuple[Any, ...]] = set()  # types that Python has called it with

    def compile(self, sig: Any) -> Any:
        """Called by compiled code: types and lowers the part, once for all constants of a type."""
        literals, return_type = sigutils.normalize_signature(sig)
        args = tuple(map(types.unliteral, literals))
        with global_compiler_lock, self._compiling_counter:
            if args not in self.overloads:
                self.add_overload(self._compiler.compile(args, return_type))
            return self.overloads[args].entry_point

    def add_overload(self, cres: Any) -> None:
        """Keeps a part; there is nothing that Python could call."""
        self.overloads[tuple(cres.signature.args)] = cres

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        """Called by Python with types that are new: gives it the entry point, and what to call the next time."""
        function = self._entry._compile_for_args(*args, **kws)
        codes = tuple(numba_type._code for numba_type in map(typeof, args))  # pyright: ignore
        with global_compiler_lock:
            # Once, also for threads that call it together: of two alike, Numba would look for the better one at every call.
            if codes not in self._known:
                self._known.add(codes)
                self._insert(list(codes), function, False)
        return function
