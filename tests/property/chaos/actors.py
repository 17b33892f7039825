"""Invocations that can be stopped between any two calls to the outside, and killed there: one greenlet each."""

from collections.abc import Callable
from typing import Any

from greenlet import getcurrent, greenlet


class Killed(BaseException):
    """The process died. No `except Exception` of the engine may survive it."""


def pause() -> None:
    """Lets others run. Outside of an actor (while a test sets up or looks at the end) nothing else runs."""
    current = getcurrent()
    if current.parent is not None:
        current.parent.switch()


class Actor:
    """One call of the engine. It runs from one `pause` to the next each time it is resumed."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._greenlet = greenlet(self._run)
        self.done = False
        self.killed = False
        self.result: Any = None
        self.error: Exception | None = None

    def resume(self) -> None:
        self._greenlet.switch()

    def kill(self) -> None:
        if self._greenlet:  # it has begun and has not ended
            self._greenlet.throw(Killed)
            assert self._greenlet.dead, "something swallowed the death of its process"
        self.done = self.killed = True

    def _run(self) -> None:
        try:
            self.result = self._call()
        except Killed:
            pass
        except Exception as error:  # noqa: BLE001 - whoever started the actor judges
            self.error = error
        self.done = True
