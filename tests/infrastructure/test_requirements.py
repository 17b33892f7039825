import importlib.util
import re
import shutil
from pathlib import Path
from types import ModuleType

import pytest

from tests.infrastructure.template import ROOT


def load(path: Path) -> ModuleType:
    """The script as a module; it finds the requirements beside itself."""
    spec = importlib.util.spec_from_file_location("lock", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


lock = load(ROOT / "requirements/lock.py")
LOCKS = sorted(ROOT.glob("requirements/*.txt")) + sorted(ROOT.glob("layers/*/requirements.txt"))
PIN = re.compile(r"^([a-z0-9][a-z0-9._-]*(?:\[[a-z0-9,._-]+\])?)==(\S+)", re.MULTILINE)


def pins(path: Path) -> dict[str, str]:
    return dict(PIN.findall(path.read_text()))


def test_every_lock_is_one_that_the_script_makes() -> None:
    assert sorted(LOCKS) == sorted(lock.lock_of(source) for source in lock.SOURCES)


def test_every_lock_was_made_from_the_requirements_as_they_stand() -> None:
    assert lock.stale() == []


def test_a_lock_is_stale_when_its_requirements_or_those_that_they_include_change(tmp_path: Path) -> None:
    for folder in ("requirements", "layers/engine"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("stepweave"))
    copy = load(tmp_path / "requirements/lock.py")
    assert copy.stale() == []
    with (tmp_path / "layers/engine/requirements.in").open("a") as file:
        file.write("one-more\n")
    stale = {path.relative_to(tmp_path).as_posix() for path in copy.stale()}
    assert {"layers/engine/requirements.txt", "requirements/dev.txt"} <= stale
    assert not stale & {"requirements/sam.txt", "requirements/ministack.txt"}


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_lock_has_a_hash_for_every_package_and_no_address(path: Path) -> None:
    text = path.read_text()
    assert "://" not in text
    assert "--index-url" not in text
    assert "--find-links" not in text
    entries = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(entries) == len(pins(path)) > 0
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


def test_tests_run_with_the_versions_that_the_functions_get() -> None:
    tested, shipped = pins(ROOT / "requirements/dev.txt"), pins(ROOT / "layers/engine/requirements.txt")
    assert {name: tested.get(name) for name in shipped} == shipped


def test_no_other_lock_file_carries_addresses() -> None:
    others = [*ROOT.glob("uv.lock"), *ROOT.glob("poetry.lock"), *ROOT.glob("package-lock.json")]
    assert [path.name for path in others if "://" in path.read_text()] == []
