"""MaskablePPO at the speed of its arithmetic: the same algorithm, files and logs, in fewer and cheaper passes.

Policy and value network read an observation in one joint first layer. A processor that multiplies bfloat16 does all layers but the
last in it; another adds up, in the first layer, the rows of those features that are there (`okgin_env.kernel.sparse`). Adam is
fused; nothing is done game by game in Python. What it saves, MaskablePPO loads.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import explained_variance
from stable_baselines3.common.vec_env import VecEnv
from torch import Tensor
from torch.nn import functional

from okgin_env.kernel import sparse
from okgin_env.layout import N_ACTIONS
from okgin_env.learning.config import PRECISIONS
from okgin_env.utils.errors import check_choice

_LEARNED = ("actions", "action_masks", "log_probs", "advantages", "returns")  # of a rollout
ILLEGAL = -1e8  # in place of the logit of an illegal action, as MaskablePPO has it


@cache
def has_bfloat16() -> bool:
    """Whether this processor multiplies bfloat16 (x86-64: AMX, or AVX-512 BF16)."""
    features = llvm.get_host_cpu_features()
    return bool(features.get("amx-bf16") or features.get("avx512bf16"))


class _FirstLayer(torch.autograd.Function):
    """A linear layer on some rows of int8 observations of 0s and 1s."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, bias: Tensor, observations: Any, rows: Any) -> Tensor:  # pyright: ignore
        """(B, H) outputs from (H, D) weights, (H,) biases, (N, D) int8 observations and (B,) rows, the last two of NumPy."""
        ctx.read = observations, rows
        outputs = torch.empty(len(rows), len(bias))
        by_feature = weight.detach().t().contiguous().numpy()
        sparse.add_rows(observations, rows, by_feature, bias.detach().numpy(), outputs.numpy())
        return outputs

    @staticmethod
    def backward(ctx: Any, gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:  # pyright: ignore
        """The gradients of weights and biases."""
        observations, rows = ctx.read
        gradients = gradients.contiguous()
        sums = torch.zeros(observations.shape[1], gradients.shape[1])
        sparse.add_gradients(observations, rows, gradients.numpy(), sums.numpy())
        return sums.t(), gradients.sum(0), None, None


class RolloutBuffer(MaskableRolloutBuffer):
    """A rollout whose masks take a byte an action."""

    def reset(self) -> None:
        """Empties it."""
        super().reset()
        self.action_masks = np.ones(self.action_masks.shape, np.int8)


class FastMaskablePPO(MaskablePPO):
    """MaskablePPO for observations of 0s and 1s, vector environments with masks, and policies of two networks of ReLU layers.

    Args and errors as for `MaskablePPO`, and:

    Args:
        precision: "bfloat16": hidden layers are computed in it, weights and the last layer in float32; "float32": everything;
            "auto": in bfloat16 on a processor that has it. On a graphics card always in float32.
    """

    def __init__(self, *args: Any, precision: str = "auto", **more: Any) -> None:
        check_choice("precision", precision, PRECISIONS)
        self.precision = precision
        policy = {**more.pop("policy_kwargs", {}), "optimizer_kwargs": {"fused": True, "eps": 1e-5}}
        super().__init__(*args, policy_kwargs=policy, rollout_buffer_class=RolloutBuffer, **more)

    def outputs(
        self, observations: NDArray[np.int8], rows: NDArray[np.int64]
    ) -> tuple[Tensor, Tensor]:
        """(B, 108) logits and (B,) values of some rows of (N, D) observations."""
        policy: Any = self.policy
        actor, critic = policy.mlp_extractor.policy_net, policy.mlp_extractor.value_net
        weight = torch.cat([actor[0].weight, critic[0].weight])
        bias = torch.cat([actor[0].bias, critic[0].bias])
        on_cpu = self.device.type == "cpu"
        asked = self.precision == "bfloat16" or (self.precision == "auto" and has_bfloat16())
        half = on_cpu and asked
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            if half or not on_cpu:
                read = torch.from_numpy(observations[rows]).to(self.device)
                read = read.to(torch.bfloat16 if half else torch.float32)
                joint = functional.linear(read, weight, bias)
            else:
                joint: Any = _FirstLayer.apply(weight, bias, observations, rows)
            a, b = torch.relu(joint).split(actor[0].out_features, dim=1)
            a, b = actor[2:](a), critic[2:](b)
        return policy.action_net(a.float()), policy.value_net(b.float()).flatten()

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: Any,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Plays a rollout; as MaskablePPO's, for episodes that are never truncated."""
        self.policy.set_training_mode(False)
        rollout_buffer.reset()
        everyone = np.arange(env.num_envs)
        last: Any = self._last_obs
        callback.on_rollout_start()
        for _ in range(n_rollout_steps):
            masks = np.stack(env.env_method("action_masks")).reshape(env.num_envs, N_ACTIONS)
            with torch.no_grad():
                logits, values = self.outputs(last, everyone)
                legal = torch.from_numpy(masks).to(self.device)
                log_probs = functional.log_softmax(torch.where(legal, logits, ILLEGAL), dim=1)
                noise = torch.rand_like(log_probs).log_().neg_().log_()
                actions = (log_probs - noise).argmax(dim=1)  # a draw from the softmax
                chosen = log_probs.gather(1, actions[:, None]).flatten()
            taken = actions.cpu().numpy()
            new: Any
            new, rewards, dones, infos = env.step(taken)
            self.num_timesteps += env.num_envs
            callback.update_locals(locals())
            if not callback.on_step():
                return False
            self._update_info_buffer([infos[i] for i in np.flatnonzero(dones)])
            rollout_buffer.add(
                last, taken[:, None], rewards, self._last_episode_starts, values, chosen,
                action_masks=masks,
            )  # fmt: skip
            self._last_obs = last = new
            self._last_episode_starts = dones
        with torch.no_grad():
            _, values = self.outputs(last, everyone)
        dones = self._last_episode_starts
        rollout_buffer.compute_returns_and_advantage(last_values=values, dones=dones)
        callback.on_rollout_end()
        return True

    def train(self) -> None:
        """Learns from the rollout: MaskablePPO's losses, in its order of minibatches."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        clip: Any = self.clip_range(self._current_progress_remaining)  # pyright: ignore
        buffer: Any = self.rollout_buffer
        n, size = buffer.buffer_size * buffer.n_envs, int(self.batch_size or 0)
        seen = buffer.swap_and_flatten(buffer.observations)
        flat = {
            k: torch.from_numpy(buffer.swap_and_flatten(getattr(buffer, k))).to(self.device)
            for k in _LEARNED
        }
        told: list[tuple[float, ...]] = []
        for _ in range(self.n_epochs):
            order = np.random.permutation(n)  # noqa: NPY002 - as MaskablePPO does
            for first in range(0, n, size):
                rows = order[first : first + size]
                batch = {name: values[torch.from_numpy(rows)] for name, values in flat.items()}
                told.append(self._learn_from(*self.outputs(seen, rows), batch, clip))
            self._n_updates += 1
        names = ("entropy_loss", "policy_gradient_loss", "value_loss", "clip_fraction", "approx_kl")
        for name, values in zip(names, np.transpose(told), strict=False):
            if name == "approx_kl":  # MaskablePPO tells that of the last pass
                values = values[-len(told) // self.n_epochs :]
            self.logger.record(f"train/{name}", values.mean())
        explained = explained_variance(buffer.values.flatten(), buffer.returns.flatten())
        self.logger.record("train/loss", told[-1][-1])
        self.logger.record("train/explained_variance", explained)
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        self.logger.record("train/clip_range", clip)

    def _learn_from(
        self, logits: Tensor, values: Tensor, batch: dict[str, Tensor], clip: float
    ) -> tuple[float, ...]:
        """Learns from a minibatch; returns what is logged of it, the loss last."""
        legal = batch["action_masks"].bool()
        log_probs = functional.log_softmax(torch.where(legal, logits, ILLEGAL), dim=1)
        log_prob = log_probs.gather(1, batch["actions"].long()).flatten()
        known = torch.where(
            legal, log_probs, 0.0
        )  # which adds nothing, and has a cheap exponential
        entropy_loss = (known.exp() * known).sum(1).mean()
        advantages = batch["advantages"].flatten()
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        log_ratio = log_prob - batch["log_probs"].flatten()
        ratio = log_ratio.exp()
        clipped = advantages * ratio.clamp(1 - clip, 1 + clip)
        policy_loss = -torch.min(advantages * ratio, clipped).mean()
        value_loss = functional.mse_loss(values, batch["returns"].flatten())
        loss = policy_loss + self.ent_coef * entropy_loss + self.vf_coef * value_loss
        self.policy.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
        self.policy.optimizer.step()
        with torch.no_grad():
            kl = (ratio - 1 - log_ratio).mean()
            clip_fraction = ((ratio - 1).abs() > clip).float().mean()
        logged = (entropy_loss, policy_loss, value_loss, clip_fraction, kl, loss)
        return tuple(torch.stack(logged).detach().cpu().tolist())
