"""What a fresh local stack is stocked with: the example skills and workflows, and a key for each scope."""

import json
from collections.abc import Callable
from pathlib import Path

from stepweave.clock import SystemClock
from stepweave.errors import GraphInvalid, StepweaveError
from stepweave.runtime.engine import Engine
from stepweave.services.definitions import Definitions
from stepweave.services.keys import ApiKeys
from stepweave.store.keys import Keys
from stepweave.texts import Text
from stepweave_local.skill_folder import read_skill_folder


def load_example_skills(engine: Engine, folder: Path, tell: Callable[[Text], None]) -> None:
    """Pushes each folder in `folder`; one that has not changed makes no new version, one that is no skill is told."""
    for path in sorted(path for path in folder.iterdir() if path.is_dir()):
        try:
            engine.skills.push(read_skill_folder(path))
        except StepweaveError as refused:
            tell(
                Text(
                    f"示例技能 {path.name} 已跳过：{refused.text.zh}",
                    f"the example skill {path.name} was left out: {refused.text.en}",
                )
            )


def load_examples(engine: Engine, folder: Path, tell: Callable[[Text], None]) -> None:
    """Saves each example that is new, or that has changed since it was saved; one that is not valid is told."""
    definitions = Definitions(engine.workflows, engine.specs, engine.ports.clock)
    for path in sorted(folder.glob("*.json")):
        raw = json.loads(path.read_text(encoding="utf-8"))
        known = engine.workflows.find_by_name(raw["name"])
        try:
            if known is None:
                definitions.create(raw)
            elif not known.deleted and engine.workflows.definition(known.name, known.latest) != raw:
                definitions.update(known, raw)
        except GraphInvalid as invalid:
            problems = Text.join([problem.message for problem in invalid.problems])
            tell(
                Text(
                    f"示例 {path.name} 未通过校验，已跳过：{problems.zh}",
                    f"example {path.name} is not valid and was left out: {problems.en}",
                )
            )


def dev_keys(engine: Engine, data_dir: Path) -> dict[str, str]:
    """`apiKey` and `adminKey` for this machine: those of the last time where they still open the door, else new ones."""
    keys = ApiKeys(Keys(engine.ports.items), SystemClock())
    known = _known(data_dir / "dev.json")
    for field, scope in (("apiKey", "run"), ("adminKey", "admin")):
        if field not in known or keys.recognise(known[field]) is None:
            known[field] = keys.create(f"local {scope}", [scope], None).secret  # type: ignore[list-item]
    return {field: known[field] for field in ("apiKey", "adminKey")}


def _known(path: Path) -> dict[str, str]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return (
        {str(name): value for name, value in content.items() if isinstance(value, str)}
        if isinstance(content, dict)
        else {}
    )
