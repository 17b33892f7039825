"""The table of node types (contract §2: a further type is one module and one line)."""

import subprocess
import sys

import pytest

from stepweave.nodes import table
from stepweave.nodes.condition import Condition
from stepweave.nodes.output import Output
from stepweave.nodes.user_input import UserInput


@pytest.mark.parametrize(("name", "kind"), [("userInput", UserInput), ("condition", Condition), ("output", Output)])
def test_light_types_are_found_by_name_and_made_once(name: str, kind: type) -> None:
    spec = table.spec_of(name)
    assert isinstance(spec, kind)
    assert spec.light
    assert spec.chain == "flow"
    assert table.spec_of(name) is spec


def test_every_line_of_the_table_leads_to_a_type() -> None:
    for name in table.TYPES:
        spec = table.spec_of(name)
        assert spec is not None
        assert spec.light == (spec.chain == "flow")


@pytest.mark.parametrize("name", ["", "userinput", "unknown", "__class__"])
def test_a_type_that_does_not_exist_is_none(name: str) -> None:
    assert table.spec_of(name) is None


def test_a_type_is_imported_when_it_is_first_used() -> None:
    script = (
        "import sys; from stepweave.nodes import table; table.spec_of('userInput'); "
        "print([m for m in ('llm', 'condition', 'output') if 'stepweave.nodes.' + m in sys.modules])"
    )
    told = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert told.stdout.strip() == "[]"
