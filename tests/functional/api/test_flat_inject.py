"""The setting `workflow.workspace.legacy-flat-inject`: what a node resolved, with and without the old spread (contract §3)."""

import json
from typing import Any

import pytest

from tests.functional.api.definitions import echo
from tests.functional.api.stack import Stack


def variables(stack: Stack) -> dict[str, Any]:
    """What each node of a run resolved."""
    stack.save(echo())
    run_id = stack.finish_run("echo", variables={"topic": "x"})
    recorded = [event["data"]["visit"] for event in stack.events(run_id) if event["type"] == "visit_recorded"]
    return {visit["nodeId"]: json.loads(visit["variablesJson"]) for visit in recorded}


def test_a_node_has_only_what_it_refers_to() -> None:
    assert variables(Stack()) == {"in": {"topic": "x", "count": 3}, "say": {"topic": "x"}, "out": {"said": "x"}}


@pytest.mark.parametrize("node", ["say", "out"])
def test_with_the_setting_every_predecessor_is_spread_into_effect_and_light_nodes(node: str) -> None:
    spread = variables(Stack(workflow_workspace_legacy_flat_inject=True))[node]
    assert spread.items() >= {"in__topic": "x", "in__count": 3}.items()
    assert ("say__said" in spread) == (node == "out")
