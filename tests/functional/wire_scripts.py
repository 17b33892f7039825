"""A script of the scripted model (contract §8) as replies of real providers: what each would have sent for it.

An `error` stands first in its turn: the request fails, and the next one gets the rest of the turn.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from tests.functional import bedrock_server as bedrock
from tests.functional import openai_server as openai
from tests.functional.bedrock_server import BedrockReply
from tests.functional.openai_server import Reply

Script = Sequence[Sequence[Mapping[str, Any]]]

_STATUS = re.compile(r"the model provider failed \(HTTP (\d+)\): (.*)")


def usage_of(request: int) -> tuple[int, int]:
    """What the `request`-th request that is answered (from 1) costs: tokens read and written."""
    return 100 * request, request


def openai_replies(script: Script) -> list[Reply]:
    replies = []
    for number, (failure, steps) in enumerate(_requests(script), start=1):
        if failure is not None:
            replies.append(openai.fails(*failure))
        calls = list(_calls(number, steps))
        deltas = [_openai_delta(step) for step in steps if _is_said(step)] + list(openai.calls(*calls).deltas)
        reason = "tool_calls" if calls else "stop"
        replies.append(Reply(deltas=tuple(deltas), finish_reason=reason, usage=usage_of(number)))
    return replies


def bedrock_replies(script: Script) -> list[BedrockReply]:
    replies = []
    for number, (failure, steps) in enumerate(_requests(script), start=1):
        if failure is not None:
            status, words = failure
            replies.append(BedrockReply(status=status, error=words))
        events = _bedrock_words([step for step in steps if _is_said(step)])
        calls = list(_calls(number, steps))
        for index, call in enumerate(calls, start=len(steps)):
            events += [*bedrock.called(index, *call), bedrock.stopped(index)]
        reason = "tool_use" if calls else "end_turn"
        replies.append(BedrockReply((*events, *bedrock.ended(reason, usage_of(number)))))
    return replies


def _requests(script: Script) -> Iterator[tuple[tuple[int, str] | None, Sequence[Mapping[str, Any]]]]:
    """Each turn's failure, `(status, words)`, and its other steps."""
    for turn in script:
        found = _STATUS.fullmatch(str(turn[0].get("error", ""))) if turn else None
        yield ((int(found[1]), found[2]), turn[1:]) if found else (None, turn)


def _is_said(step: Mapping[str, Any]) -> bool:
    return "thinking" in step or "text" in step


def _calls(number: int, steps: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, str]]:
    """`(id, name, arguments)` of the calls in a turn."""
    for place, step in enumerate(steps):
        match step:
            case {"tool": {"name": name, "args": arguments}}:
                pass
            case {"ask": arguments}:
                name = "clarify"
            case {"todo": todos}:
                name, arguments = "todo", {"todos": todos}
            case _:
                continue
        yield f"c{number}-{place}", name, json.dumps(arguments, ensure_ascii=False)


def _openai_delta(step: Mapping[str, Any]) -> dict[str, Any]:
    return {"reasoning_content": step["thinking"]} if "thinking" in step else {"content": step["text"]}


def _bedrock_words(steps: Sequence[Mapping[str, Any]]) -> list[bedrock.Event]:
    """Thoughts and text, a content block for each unbroken stretch of one of them; thoughts end with a signature."""
    events: list[bedrock.Event] = []
    index = 0
    for step, following in pairwise([*steps, {}]):
        thinks = "thinking" in step
        events.append(
            bedrock.said(index, reasoningContent={"text": step["thinking"]})
            if thinks
            else bedrock.said(index, text=step["text"])
        )
        if ("thinking" in following) != thinks or not following:
            if thinks:
                events.append(bedrock.said(index, reasoningContent={"signature": f"signed-{index}"}))
            events.append(bedrock.stopped(index))
            index += 1
    return events
