"""Builds the deployable artefacts: `sam build`, then what SAM leaves undone for the layer.

SAM packs every package as it is. Here the layer loses what no function reads (models of AWS services that the engine
never calls, type stubs, command line scripts) and gains compiled bytecode, without which imports take about twice as
long in Lambda's read-only file system. An unchanged source is not built again; where only the engine's own code has
changed, it is copied, which is all that SAM would do with it.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stepweave.texts import Text
from stepweave_local.project import LocalStackError, Project, architecture

LAYER = "EngineLayer"
ENGINE = Path("layers/engine/stepweave")
AWS_SERVICES = {
    "bedrock-runtime",
    "dynamodb",
    "s3",
    "secretsmanager",
    "signin",
    "sqs",
    "sso",
    "sso-oidc",
    "ssm",
    "stepfunctions",
    "sts",
}
"""The services that functions call, and those that botocore asks for credentials."""

LARGEST_LAYER = 250 * 1024 * 1024
"""Bytes, unzipped, of a function with its layers (Lambda's quota)."""


@dataclass(frozen=True, slots=True)
class Build:
    digest: str
    """Of everything that is deployed: the same digest, the same stack."""
    reused: bool


def build(project: Project, log: Path | None = None) -> Build:
    """Brings `.aws-sam/build` up to date with the sources. Raises `LocalStackError`."""
    shell, engine = _digest(project, _shell_files(project)), _digest(project, _engine_files(project))
    digest = hashlib.sha256(f"{shell} {engine}".encode()).hexdigest()
    record = project.build / "stepweave.json"
    built = json.loads(record.read_text()) if record.exists() else {}
    if built == {"shell": shell, "engine": engine}:
        return Build(digest, reused=True)
    record.unlink(missing_ok=True)
    packages = project.build / LAYER / "python"
    if built.get("shell") == shell:
        _copy_engine(project, packages / ENGINE.name)
        _compile(project, packages / ENGINE.name)
    else:
        _sam_build(project, log)
        _slim(packages)
        _compile(project, packages)
    _refuse_if_too_large(project.build / LAYER)
    record.write_text(json.dumps({"shell": shell, "engine": engine}))
    return Build(digest, reused=False)


def sam_environment(project: Project, **more: str) -> dict[str, str]:
    """For the SAM CLI: the project's Python 3.12 first on the path, and nothing of the person's AWS account."""
    foreign = ("AWS_", "SAM_", "PYTHON", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if not name.startswith(foreign)} | {
        "PATH": os.pathsep.join([str(project.venv / "bin"), os.environ.get("PATH", "")]),
        "SAM_CLI_TELEMETRY": "0",
        **more,
    }


def _sam_build(project: Project, log: Path | None) -> None:
    command = [str(project.sam()), "build", "--parameter-overrides", f"Architecture={architecture()}"]
    done = subprocess.run(
        command, cwd=project.root, env=sam_environment(project), capture_output=True, text=True, check=False
    )
    if log is not None:
        log.write_text(done.stdout + done.stderr)
    if done.returncode != 0:
        reason = last_line(done.stderr or done.stdout)
        where = f" ({log})" if log is not None else ""
        raise LocalStackError(
            Text(
                f"构建失败（sam build）：{reason}。请修正后重试，完整输出见日志{where}。",
                f"The build failed (sam build): {reason}. Mend it and try again; the log has the whole output{where}.",
            )
        )


def last_line(output: str) -> str:
    """The last thing a tool said, which is where the reason stands."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1].rstrip(".。") if lines else "no output"


def _copy_engine(project: Project, target: Path) -> None:
    shutil.rmtree(target)
    shutil.copytree(project.root / ENGINE, target, ignore=shutil.ignore_patterns("__pycache__"))


def _slim(packages: Path) -> None:
    for service in (packages / "botocore" / "data").iterdir():
        if service.is_dir() and service.name not in AWS_SERVICES:
            shutil.rmtree(service)
    for directory in ("bin", "boto3/data/ec2", "boto3/examples"):
        shutil.rmtree(packages / directory, ignore_errors=True)
    for pattern in ("*.pyi", "*.dist-info/RECORD", "requirements.in", "requirements.txt"):
        for file in packages.rglob(pattern):
            file.unlink()


def _compile(project: Project, directory: Path) -> None:
    """Bytecode that is valid whatever time stamps the zip gives the sources."""
    python = project.venv / "bin" / "python"  # of the version that Lambda runs
    options = ("-q", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash", "-s", str(project.build / LAYER))
    # What does not compile (templates for other Pythons in packages) does not matter: nobody imports it.
    subprocess.run([str(python), "-m", "compileall", *options, str(directory)], check=False)


def _refuse_if_too_large(layer: Path) -> None:
    size = sum(file.stat().st_size for file in layer.rglob("*") if file.is_file())
    if size > LARGEST_LAYER:
        raise LocalStackError(
            Text(
                f"层解压后为 {size >> 20} MB，超过 Lambda 的 {LARGEST_LAYER >> 20} MB 上限：请减少 layers/engine/requirements.in 中的依赖。",
                f"The layer is {size >> 20} MB unzipped, Lambda takes {LARGEST_LAYER >> 20}: "
                "drop packages from layers/engine/requirements.in.",
            )
        )


def _shell_files(project: Project) -> Iterator[Path]:
    """Everything that is built or deployed beside the engine's own code, and this recipe."""
    yield Path(__file__)
    yield from (project.root / name for name in ("template.yaml", "samconfig.toml", "layers/engine/requirements.txt"))
    for directory in ("functions", "statemachines"):
        yield from _sources(project.root / directory)


def _engine_files(project: Project) -> Iterator[Path]:
    return _sources(project.root / ENGINE)


def _sources(directory: Path) -> Iterator[Path]:
    return (file for file in sorted(directory.rglob("*")) if file.is_file() and "__pycache__" not in file.parts)


def _digest(project: Project, files: Iterator[Path]) -> str:
    digest = hashlib.sha256(architecture().encode())
    for file in files:
        digest.update(f"{os.path.relpath(file, project.root)}\0{file.stat().st_size}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def main() -> int:
    try:
        project = Project.here()
        made = build(project)
    except LocalStackError as error:
        sys.stderr.write(f"{error.text}\n")
        return 1
    print(f"{'unchanged' if made.reused else 'built'}: {os.path.relpath(project.build)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
