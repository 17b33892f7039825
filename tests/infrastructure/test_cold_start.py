"""What a function's process must not import before it is asked to do something."""

import json
import subprocess
import sys

import pytest

from tests.infrastructure.template import ROOT, template, variables

REPORT = "import json, sys, handler; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
MODELS = {"anthropic", "openai", "pydantic_ai"}
HTTP = {"fastapi", "mangum", "starlette"}


def environment(function: str) -> dict[str, str]:
    """What the function finds around it: the template's own values, with the defaults of its parameters."""
    parameters = template()["Parameters"]
    found = {
        name: value if isinstance(value, str) else str(parameters.get(value.get("Ref"), {}).get("Default", "x"))
        for name, value in variables(function).items()
    }
    return found | {
        "PYTHONPATH": str(ROOT / "layers/engine"),
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "HERMES_CONTEXT_QUERY_PUBLIC": "true",
    }


def imported(function: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", REPORT],
        cwd=ROOT / "functions" / function,
        env=environment(function),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("function", ["flow", "recover", "sweep"])
def test_the_functions_that_move_runs_start_without_http_and_without_models(function: str) -> None:
    assert not imported(function) & (HTTP | MODELS)


def test_the_function_of_models_imports_a_provider_when_a_node_first_names_it() -> None:
    assert not imported("llm") & (HTTP | MODELS)


@pytest.mark.parametrize(("function", "server"), [("api", "mangum"), ("stream", "fastapi")])
def test_the_api_starts_without_models(function: str, server: str) -> None:
    modules = imported(function)
    assert modules >= {"fastapi", server}
    assert not modules & MODELS


def test_callbacks_are_made_without_the_api_and_without_models() -> None:
    assert not imported("callback") & (HTTP | MODELS)
