"""The scripted model's arithmetic: usage, replacement, and where an attempt goes on (contract §8)."""

import asyncio
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import ModelRequest, TextPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters

from stepweave.agents.script import Play, fill, script_problems
from stepweave.agents.scripted import ScriptedModel, tokens

texts = st.text(max_size=40)
said = st.fixed_dictionaries({"text": texts}) | st.fixed_dictionaries({"thinking": texts})
errors = st.fixed_dictionaries({"error": texts, "retryable": st.booleans()})
turns = st.lists(st.lists(said | errors, max_size=6), max_size=4)
words = st.fixed_dictionaries(dict.fromkeys(("prompt", "system", "tool", "answer"), texts))


@given(st.integers(min_value=0, max_value=10**9))
def test_a_token_is_four_characters_rounded_up(characters: int) -> None:
    assert tokens(characters) == math.ceil(characters / 4)


@given(prompt=texts, system=texts, steps=st.lists(said, max_size=6))
def test_usage_counts_what_was_read_and_what_was_said_after_replacement(
    prompt: str, system: str, steps: list[dict[str, str]]
) -> None:
    steps = [*steps, {"text": "$prompt"}]
    model = ScriptedModel(Play([steps], prompt, system))
    response = asyncio.run(
        model.request([ModelRequest(parts=[UserPromptPart(prompt + "!")])], None, ModelRequestParameters())
    )
    known = {"prompt": prompt, "system": system, "tool": "", "answer": ""}
    spoken = [fill(text, known) for step in steps for text in step.values()]
    assert response.usage.input_tokens == math.ceil((len(system) + len(prompt) + 1) / 4)
    assert response.usage.output_tokens == math.ceil(sum(map(len, spoken)) / 4)
    assert "".join(part.content for part in response.parts if isinstance(part, TextPart)).endswith(prompt)


@given(pieces=st.lists(texts.filter(lambda text: "$" not in text), max_size=6), words=words, data=st.data())
def test_each_reference_becomes_its_word_and_nothing_else_changes(
    pieces: list[str], words: dict[str, str], data: st.DataObject
) -> None:
    names = [data.draw(st.sampled_from(sorted(words))) for _ in pieces]
    script = "".join(piece + "$" + name for piece, name in zip(pieces, names, strict=True))
    assert fill(script, words) == "".join(piece + words[name] for piece, name in zip(pieces, names, strict=True))


@given(turns)
def test_over_all_attempts_every_step_has_its_effect_once_and_in_order(script: list[list[dict[str, Any]]]) -> None:
    """Played as the engine does: a failed attempt tries its turn again, a finished turn is in the history."""
    assert script_problems(script) == []
    played, tries, turn = [], 0, 0
    while (steps := Play(script, "", tries=tries).turn(turn)) is not None:
        failed = False
        for place, step in steps:
            played.append((turn, place))
            if "error" in step:
                failed = True
                break
        tries, turn = (tries + 1, turn) if failed else (tries, turn + 1)
    assert played == [(turn, place) for turn, steps in enumerate(script) for place in range(len(steps))]
