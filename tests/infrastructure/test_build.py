"""What is built again, and when; SAM itself is played by a script that leaves a layer behind."""

import shutil
from pathlib import Path

import pytest

from stepweave_local.build import AWS_SERVICES, LAYER, build
from stepweave_local.project import LocalStackError, Project, architecture
from tests.infrastructure.template import ROOT

SAM = """#!/bin/sh
echo "$@" >> sam.calls
[ -e broken ] && { echo "Build Failed" >&2; echo "Error: template.yaml has no Resources." >&2; exit 1; }
packages=.aws-sam/build/EngineLayer/python
rm -rf .aws-sam
mkdir -p $packages/botocore/data/s3 $packages/botocore/data/ec2 $packages/bin $packages/some.dist-info
cp -r layers/engine/stepweave $packages/
touch $packages/botocore/data/endpoints.json $packages/some.pyi $packages/some.dist-info/RECORD $packages/some.dist-info/METADATA
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    engine = tmp_path / "layers/engine/stepweave"
    engine.mkdir(parents=True)
    (engine / "clock.py").write_text("NOW = 1\n")
    (tmp_path / "layers/engine/requirements.txt").touch()
    (tmp_path / "template.yaml").touch()
    (tmp_path / "samconfig.toml").touch()
    (tmp_path / "functions/api").mkdir(parents=True)
    (tmp_path / "functions/api/handler.py").touch()
    (tmp_path / "statemachines").mkdir()
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    sam = tmp_path / ".tools/sam/bin/sam"
    sam.parent.mkdir(parents=True)
    sam.write_text(SAM)
    sam.chmod(0o755)
    return Project(tmp_path)


def calls(project: Project) -> list[str]:
    return (project.root / "sam.calls").read_text().splitlines()


def packages(project: Project) -> Path:
    return project.build / LAYER / "python"


def test_what_has_not_changed_is_not_built_again(project: Project) -> None:
    first, second = build(project), build(project)
    assert (first.reused, second.reused) == (False, True)
    assert first.digest == second.digest
    assert calls(project) == [f"build --parameter-overrides Architecture={architecture()}"]


def test_the_layer_loses_what_no_function_reads(project: Project) -> None:
    build(project)
    left = {path.relative_to(packages(project)).as_posix() for path in packages(project).rglob("*")}
    assert "botocore/data/s3" in left
    assert "s3" in AWS_SERVICES
    assert "botocore/data/endpoints.json" in left
    assert "some.dist-info/METADATA" in left
    assert not left & {"botocore/data/ec2", "bin", "some.pyi", "some.dist-info/RECORD"}


def test_the_layer_is_compiled_for_whatever_time_stamps_the_zip_gives_it(project: Project) -> None:
    build(project)
    [compiled] = (packages(project) / "stepweave/__pycache__").glob("clock.*.pyc")
    assert compiled.read_bytes()[4:8] == b"\x01\x00\x00\x00"  # by hash, unchecked (PEP 552)


def test_a_change_of_the_engine_alone_is_copied_and_compiled_without_sam(project: Project) -> None:
    before = build(project)
    source = project.root / "layers/engine/stepweave/clock.py"
    source.rename(source.with_name("watch.py"))
    after = build(project)
    assert len(calls(project)) == 1
    assert after.digest != before.digest
    assert {path.name for path in (packages(project) / "stepweave").glob("*.py")} == {"watch.py"}
    assert [path.name.split(".")[0] for path in (packages(project) / "stepweave").rglob("*.pyc")] == ["watch"]


@pytest.mark.parametrize(
    "path",
    ["template.yaml", "layers/engine/requirements.txt", "functions/api/handler.py", "statemachines/new.asl.json"],
)
def test_a_change_of_anything_else_is_built_by_sam(project: Project, path: str) -> None:
    before = build(project)
    (project.root / path).write_text("# changed\n")
    assert build(project).digest != before.digest
    assert len(calls(project)) == 2


def test_bytecode_beside_the_sources_changes_nothing(project: Project) -> None:
    build(project)
    cache = project.root / "layers/engine/stepweave/__pycache__"
    cache.mkdir()
    (cache / "clock.cpython-312.pyc").touch()
    assert build(project).reused


def test_a_failed_build_is_told_with_its_reason_and_is_not_taken_for_done(project: Project, tmp_path: Path) -> None:
    (project.root / "broken").touch()
    log = tmp_path / "sam-build.log"
    for _ in range(2):
        with pytest.raises(
            LocalStackError, match=r"sam build.*template\.yaml has no Resources\. Mend it.*sam-build\.log"
        ):
            build(project, log)
    assert "Build Failed" in log.read_text()
    (project.root / "broken").unlink()
    assert not build(project, log).reused


def test_an_interrupted_build_is_done_again(project: Project) -> None:
    build(project)
    shutil.rmtree(project.build)
    assert not build(project).reused


def test_a_layer_that_lambda_would_refuse_is_refused_here(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stepweave_local.build.LARGEST_LAYER", 10)
    with pytest.raises(LocalStackError, match=r"Lambda takes 0.*requirements\.in"):
        build(project)
