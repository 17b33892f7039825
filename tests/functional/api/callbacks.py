"""Callbacks played over the whole engine in memory: messages are taken from the queue as the platform takes them."""

from collections.abc import Callable, Mapping
from typing import Any

from stepweave.services.delivery import Attempt, Delivery, Post
from stepweave.store.callbacks import Callbacks
from stepweave.store.keys import Keys
from tests.functional.api.stack import Stack

URL = "https://shop.example/ended"


def takes(told: list[dict[str, str]]) -> Post:
    """A receiver that takes everything, and writes down the headers."""

    def post(url: str, headers: Mapping[str, str], body: bytes) -> int:
        told.append({**headers, "url": url, "body": body.decode()})
        return 200

    return post


def delivery(stack: Stack, post: Post) -> Delivery:
    engine = stack.engine
    return Delivery(
        runs=engine.store,
        results=engine.results,
        callbacks=Callbacks(stack.items),
        keys=Keys(stack.items),
        clock=stack.clock,
        post=post,
    )


def deliver_all(stack: Stack, post: Post) -> list[Attempt]:
    """One attempt for each message in the queue; a message whose attempt failed stays there."""
    delivering = delivery(stack, post)
    waiting, stack.callbacks.sent = stack.callbacks.sent, []
    attempts = [delivering.attempt(run_id) for run_id in waiting]
    stack.callbacks.sent += [
        run_id for run_id, attempt in zip(waiting, attempts, strict=True) if attempt.outcome == "failed"
    ]
    return attempts


class Killed(BaseException):
    """The process is gone."""


class Fate:
    """Ends the process at its `step`th use of the outside (from 0), before or after it takes place."""

    def __init__(self, step: int, *, done: bool) -> None:
        self.left = step
        self.has_struck = False
        self._done = done
        self._met: list[tuple[Any, str]] = []

    def passes(self) -> None:
        """From now on nothing is the last any more."""
        for holder, name in self._met:
            delattr(holder, name)

    def meets(self, holder: Any, *names: str) -> None:
        for name in names:
            setattr(holder, name, self._mortal(getattr(holder, name)))
            self._met.append((holder, name))

    def _mortal(self, act: Callable[..., Any]) -> Callable[..., Any]:
        def may_be_the_last(*arguments: Any, **options: Any) -> Any:
            self.left -= 1
            if self.left >= 0 or self.has_struck:
                return act(*arguments, **options)
            self.has_struck = True
            if self._done:
                act(*arguments, **options)
            raise Killed

        return may_be_the_last
