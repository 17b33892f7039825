"""template.yaml and the state machine as data, for the tests beside this file."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]


class _Loader(yaml.SafeLoader):
    """Reads `!Ref x` as `{"Ref": "x"}` and `!Name x` as `{"Fn::Name": "x"}`, as CloudFormation does."""


def _intrinsic(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        assert isinstance(node, yaml.MappingNode)
        value = loader.construct_mapping(node, deep=True)
    return {"Ref" if suffix == "Ref" else f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _intrinsic)


@cache
def template() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.load((ROOT / "template.yaml").read_text(), _Loader)
    return loaded


def resources(kind: str) -> dict[str, dict[str, Any]]:
    """The properties of all resources of a type, by logical id."""
    return {name: each["Properties"] for name, each in template()["Resources"].items() if each["Type"] == kind}


def functions() -> dict[str, dict[str, Any]]:
    """Functions by the name of their folder."""
    found = resources("AWS::Serverless::Function")
    return {properties["CodeUri"].removeprefix("functions/"): properties for properties in found.values()}


def variables(function: str) -> dict[str, Any]:
    everywhere = template()["Globals"]["Function"]["Environment"]["Variables"]
    return {**everywhere, **functions()[function].get("Environment", {}).get("Variables", {})}


def timeout(function: str) -> int:
    seconds: int = functions()[function].get("Timeout", template()["Globals"]["Function"]["Timeout"])
    return seconds


def statements(node: Any) -> Iterator[dict[str, Any]]:
    """Every IAM statement anywhere under a piece of the template."""
    if isinstance(node, dict):
        if "Effect" in node:
            yield node
        for value in node.values():
            yield from statements(value)
    elif isinstance(node, list):
        for value in node:
            yield from statements(value)


@cache
def chain() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((ROOT / "statemachines/run.asl.json").read_text())
    return loaded


def tasks() -> dict[str, dict[str, Any]]:
    return {name: state for name, state in chain()["States"].items() if state["Type"] == "Task"}


def function_of(task: dict[str, Any]) -> str:
    """The folder of the function that a Task calls."""
    substitution = task["Parameters"]["FunctionName"].removeprefix("${").removesuffix("}")
    [machine] = resources("AWS::Serverless::StateMachine").values()
    logical_id = machine["DefinitionSubstitutions"][substitution]["Fn::GetAtt"].split(".")[0]
    code: str = template()["Resources"][logical_id]["Properties"]["CodeUri"]
    return code.removeprefix("functions/")
