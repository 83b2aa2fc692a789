"""The answers of `render()` in each render mode, and the window of `render_mode="human"`."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import logger
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray

from okgin_env.render import raster
from okgin_env.view import SeatView


class Screen:
    """Shows views in one render mode.

    Args:
        mode: None, "ansi" (text), "rgb_array" ((H, W, 3) uint8) or "human" (a window).
        fps: Pictures a second in a window, at most.

    Raises:
        DependencyNotInstalled: What the mode needs is not installed.
    """

    def __init__(self, mode: str | None, fps: int) -> None:
        if mode in ("rgb_array", "human"):
            raster.check_installed()
        if mode == "human":
            Window("Oklahoma Gin")  # asks for pygame now, and opens with the first picture
        self._mode, self._fps = mode, fps
        self._window: Window | None = None

    def show(self, view: SeatView) -> Any:
        """The answer of `render()`: text, an array, or None once the window shows it."""
        if self._mode is None:
            logger.warn("render() without a render_mode; give one, such as render_mode='ansi'")
            return None
        if self._mode == "ansi":
            return str(view)
        picture = raster.draw(view)
        if self._mode == "rgb_array":
            return picture
        self._window = self._window or Window("Oklahoma Gin")
        self._window.show(picture, self._fps)
        return None

    def close(self) -> None:
        """Closes the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None


class Window:
    """A pygame window of the size of its first picture.

    Args:
        title: What its bar says.

    Raises:
        DependencyNotInstalled: pygame is not installed.
    """

    def __init__(self, title: str) -> None:
        try:
            import pygame
        except ImportError as error:
            raise DependencyNotInstalled(
                "a window needs pygame: pip install 'okgin-env[render]'"
            ) from error
        self._pygame: Any = pygame
        self._screen: Any = None
        self._title = title

    def show(self, picture: NDArray[np.uint8], fps: int) -> None:
        """Shows an (H, W, 3) uint8 picture, at most `fps` of them a second."""
        pygame = self._pygame
        size = (picture.shape[1], picture.shape[0])
        if self._screen is None or self._screen.get_size() != size:
            pygame.display.init()
            self._screen = pygame.display.set_mode(size)
            pygame.display.set_caption(self._title)
            self._clock = pygame.time.Clock()
        surface = pygame.surfarray.make_surface(picture.swapaxes(0, 1))
        self._screen.blit(surface, (0, 0))
        pygame.event.pump()
        pygame.display.flip()
        self._clock.tick(fps)

    def close(self) -> None:
        """Closes the window."""
        if self._screen is not None:
            self._pygame.display.quit()
            self._screen = None
