"""The emulator's life: it starts, keeps what it was told, and never outlives who started it."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import pytest

from stepweave_local.deploy import CREDENTIALS, deployed
from stepweave_local.emulator import HOST, Emulator
from stepweave_local.project import REGION, LocalStackError, Project
from tests.infrastructure.template import ROOT

if TYPE_CHECKING:
    pass

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("emulator")]


@pytest.fixture
def project() -> Project:
    return Project(ROOT)


@pytest.fixture
def emulator(project: Project, tmp_path: Path) -> Iterator[Emulator]:
    with Emulator(project, tmp_path / "data") as started:
        yield started


def buckets(emulator: Emulator) -> list[str]:
    return [bucket["Name"] for bucket in s3(emulator).list_buckets()["Buckets"]]


def s3(emulator: Emulator):
    return boto3.client(
        "s3",
        endpoint_url=emulator.endpoint_url,
        region_name=REGION,
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
    )


def members(group: int) -> list[int]:
    """The living processes of a process group."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            state, _, pgid = file.read_text().rpartition(")")[2].split()[:3]
            found += [int(file.parent.name)] if int(pgid) == group and state != "Z" else []
    return found


def eventually(holds: Callable[[], bool], seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def pid_of(emulator: Emulator) -> int:
    assert emulator._process is not None
    return emulator._process.pid


def test_it_listens_on_the_loopback_interface_only(emulator: Emulator) -> None:
    port = int(emulator.endpoint_url.rsplit(":", 1)[1])
    with socket.create_connection((HOST, port), timeout=2):
        pass
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.2", port), timeout=2)


def test_what_it_was_told_is_there_after_a_restart(project: Project, tmp_path: Path) -> None:
    with Emulator(project, tmp_path) as first:
        s3(first).create_bucket(Bucket="kept")
    with Emulator(project, tmp_path) as second:
        assert buckets(second) == ["kept"]


def test_a_stack_that_was_never_deployed_has_no_outputs(emulator: Emulator) -> None:
    assert deployed(emulator.endpoint_url, "digest") is None


def test_nothing_runs_after_a_stop_and_a_second_stop_does_nothing(project: Project, tmp_path: Path) -> None:
    emulator = Emulator(project, tmp_path)
    emulator.start()
    group = pid_of(emulator)
    assert members(group)
    emulator.stop()
    assert members(group) == []
    emulator.stop()


def test_its_death_is_told_with_the_log_to_look_at(emulator: Emulator) -> None:
    emulator.check()
    os.kill(pid_of(emulator), signal.SIGKILL)
    assert emulator._process is not None
    emulator._process.wait(5)
    with pytest.raises(LocalStackError, match=r"ended by itself.*ministack\.log.*stepweave up"):
        emulator.check()


def test_it_ends_when_whoever_started_it_is_killed(project: Project, tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path\n"
        "from stepweave_local.emulator import Emulator; from stepweave_local.project import Project\n"
        "e = Emulator(Project(Path(sys.argv[1])), Path(sys.argv[2])); e.start()\n"
        "print(e._process.pid, flush=True); time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(project.root), str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as starter:
        assert starter.stdout is not None
        group = int(starter.stdout.readline())
        assert members(group)
        starter.kill()
    assert eventually(lambda: members(group) == [])
    with Emulator(project, tmp_path):  # the data directory is free again
        pass


def test_two_of_them_do_not_share_a_data_directory(emulator: Emulator, project: Project) -> None:
    with pytest.raises(LocalStackError, match=r"in use by another stepweave.*--data-dir"):
        Emulator(project, emulator.log.parent).start()
    emulator.check()


def test_a_port_in_use_is_named(project: Project, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(LocalStackError, match=f"Port {port} is in use"):
            Emulator(project, tmp_path, port).start()
    with Emulator(project, tmp_path, port) as freed:
        assert freed.endpoint_url == f"http://{HOST}:{port}"


def test_a_data_directory_that_cannot_be_made_is_named(project: Project, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LocalStackError, match=r"file/data cannot be written \(Not a directory\).*--data-dir"):
        Emulator(project, tmp_path / "file" / "data").start()


def test_missing_tools_are_named_with_the_way_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(LocalStackError, match=r"MiniStack is missing.*make setup"):
        Emulator(Project(tmp_path), tmp_path).start()
    with pytest.raises(LocalStackError, match=r"SAM CLI is missing.*make setup"):
        Project(tmp_path).sam()


def test_functions_get_the_keys_of_providers_and_nothing_of_a_persons_aws_account(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-example")
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "secret")
    monkeypatch.setenv("NO_PROXY", "example.org")
    environment = Emulator(project, tmp_path)._environment()
    assert environment["OPENAI_API_KEY"] == "sk-example"
    assert [name for name in environment if name.startswith("AWS_")] == []
    assert environment["NO_PROXY"] == "example.org,127.0.0.1,localhost"
