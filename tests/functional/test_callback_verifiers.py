"""The verifiers of docs/callbacks.md, run as they stand in the page, against what is sent."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from stepweave.execution.callback import WAITS, Callback, signed_headers

PAGE = (Path(__file__).parents[2] / "docs" / "callbacks.md").read_text(encoding="utf-8")
CALLBACK = Callback("0000c0de", "https://shop.example/", "key-000000000000", "dlv-1")
SECRET = "cs-shop"
BODY = '{"type":"workflow_complete","message":"工作流执行成功"}'.encode()

Verifier = Callable[[list[tuple[dict[str, str], str]]], list[bool]]
"""Says of each `(headers, body in hexadecimal)` whether it is genuine."""


def code(language: str) -> str:
    [found] = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def run(tmp_path: Path, name: str, program: str, *command: str) -> Verifier:
    file = tmp_path / name
    file.write_text(program, encoding="utf-8")

    def verify(cases: list[tuple[dict[str, str], str]]) -> list[bool]:
        done = subprocess.run(
            [*command, str(file)], input=json.dumps([SECRET, cases]), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        told: list[bool] = json.loads(done.stdout)
        return told

    return verify


@pytest.fixture(params=["python", "javascript"])
def verifier(request: pytest.FixtureRequest, tmp_path: Path) -> Verifier:
    if request.param == "python":
        calls = "import json, sys\nsecret, cases = json.load(sys.stdin)\n"
        calls += "print(json.dumps([is_genuine(secret, headers, bytes.fromhex(body)) for headers, body in cases]))\n"
        return run(tmp_path, "verifier.py", code("python") + calls, sys.executable)
    calls = 'import { readFileSync } from "node:fs";\nconst [secret, cases] = JSON.parse(readFileSync(0, "utf8"));\n'
    calls += 'console.log(JSON.stringify(cases.map(([headers, body]) => isGenuine(secret, headers, Buffer.from(body, "hex")))));\n'
    return run(tmp_path, "verifier.mjs", code("javascript") + calls, "node")


def headers(secret: str = SECRET, at: float = 0, body: bytes = BODY) -> dict[str, str]:
    """Of a callback that is signed so many seconds from now."""
    signed = signed_headers(CALLBACK, secret, int(time.time() + at), body)
    return {name.lower(): value for name, value in signed.items()}


def test_a_verifier_believes_what_was_sent_and_nothing_else(verifier: Verifier) -> None:
    genuine = headers()
    signature, timestamp = genuine["x-stepweave-signature"], genuine["x-stepweave-timestamp"]
    cases = [
        ("as it came", genuine, BODY),
        ("signed four minutes ago", headers(at=-240), BODY),
        ("an empty body", headers(body=b""), b""),
        ("another body", genuine, BODY + b" "),
        ("another secret", headers("cs-other"), BODY),
        ("another time", genuine | {"x-stepweave-timestamp": str(int(timestamp) - 1)}, BODY),
        ("an old one, sent again", headers(at=-400), BODY),
        ("one from the future", headers(at=400), BODY),
        ("no signature", {"x-stepweave-timestamp": timestamp}, BODY),
        ("no time", {"x-stepweave-signature": signature}, BODY),
        ("no headers", {}, BODY),
        ("a short signature", genuine | {"x-stepweave-signature": signature[:-1]}, BODY),
        ("a strange signature", genuine | {"x-stepweave-signature": "签" * 24}, BODY),
        ("a strange time", genuine | {"x-stepweave-timestamp": "now"}, BODY),
    ]
    told = verifier([(given, body.hex()) for _, given, body in cases])
    believed = [name for (name, _, _), genuine in zip(cases, told, strict=True) if genuine]
    assert believed == ["as it came", "signed four minutes ago", "an empty body"]


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_verifier_is_short_enough_to_be_read(language: str) -> None:
    lines = [
        line for line in code(language).splitlines() if line.strip() and not line.strip().startswith(('"""', "/**"))
    ]
    assert len(lines) <= 10


def test_the_page_tells_the_waits_as_they_are() -> None:
    told = "5 seconds,\n1 minute, 5 minutes, 30 minutes, 2 hours, 6 hours and 11 hours"
    assert told in PAGE
    units = {"second": 1, "minute": 60, "hour": 3600}
    assert tuple(int(number) * units[unit] for number, unit in re.findall(r"(\d+) (second|minute|hour)", told)) == WAITS
