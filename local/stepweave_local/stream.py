"""A run's events over SSE (contract §5): in order, each once, across any number of broken connections."""

import json
import time
from collections.abc import Callable, Iterable, Iterator

import httpx

from stepweave.event_stream import Message, MessageReader
from stepweave.texts import Text
from stepweave_local.client import Client, refused
from stepweave_local.command_error import CommandError, Unreachable
from stepweave_local.events import TERMINAL, Event, Interrupted

_ATTEMPTS = 8
_LONGEST_WAIT = 16.0
_PAUSE = 0.1
_IDLE_PAUSE = 1.0
_ENDED = 204


def follow(
    client: Client, path: str, *, after: int = 0, sleep: Callable[[float], None] = time.sleep
) -> Iterator[Event | Interrupted]:
    """Every event after `after`, up to and with the terminal one.

    A connection that breaks is made again from the last event seen, with growing pauses; an answer that just ends (a
    gateway that buffers) is asked for at once. Raises `CommandError` for a refusal, and when nothing answers for long.
    """
    last, failures = after, 0
    while True:
        pause, retry = _IDLE_PAUSE, _PAUSE
        try:
            with client.stream(path, last) as response:
                if response.status_code == _ENDED:
                    return
                _check(client, response)
                for message in read_messages(response.iter_bytes()):
                    failures = 0
                    retry = retry if message.retry_ms is None else message.retry_ms / 1000
                    pause = retry
                    event = _event(message)
                    if event is None or event.id <= last:
                        continue
                    last = event.id
                    yield event
                    if event.type in TERMINAL:
                        return
        except (httpx.TransportError, _Unwell) as error:
            failures += 1
            if failures > _ATTEMPTS:
                raise _lost(client, error) from error
            pause = min(2.0 ** (failures - 1), _LONGEST_WAIT)
            yield Interrupted(pause)
        sleep(pause)


def read_messages(chunks: Iterable[bytes]) -> Iterator[Message]:
    """The blocks of an SSE body; a block cut off at its end is dropped."""
    reader = MessageReader()
    for chunk in chunks:
        yield from reader.feed(chunk)


def _event(message: Message) -> Event | None:
    if message.id is None or not message.data:
        return None
    data = json.loads(message.data)
    return Event(message.id, message.event or str(data.get("type")), data)


class _Unwell(Exception):
    """The server, or something before it, answered that it cannot serve just now."""


def _check(client: Client, response: httpx.Response) -> None:
    """Raises `ServerRefused` where asking again would change nothing; the error is the body's event (contract §5)."""
    if response.is_success:
        return
    if response.status_code == 429 or response.status_code >= 500:
        raise _Unwell(f"HTTP {response.status_code}")
    body = response.read()
    message = next(read_messages([body, b"\n\n"]), Message())
    try:
        answer = json.loads(message.data or body)
    except ValueError as error:
        raise client.not_stepweave(response.status_code) from error
    raise refused(response.status_code, answer, client.endpoint)


def _lost(client: Client, error: Exception) -> CommandError:
    if isinstance(error, httpx.TransportError):
        return client.unreachable(error)
    return Unreachable(
        Text(
            f"{client.endpoint.url} 暂时不可用（{error}）：请稍后重试。",
            f"{client.endpoint.url} is not available ({error}): try again later.",
        )
    )
