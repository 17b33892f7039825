"""MiniStack, the local AWS, as one child process on the loopback interface, with its state kept in a directory."""

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import IO, Self

from stepweave.texts import Text
from stepweave_local import launch_ministack
from stepweave_local.project import REGION, LocalStackError, Project

HOST = "127.0.0.1"
SERVICES = "apigateway,bedrock-runtime,cloudformation,dynamodb,events,iam,lambda,logs,s3,scheduler,secretsmanager,sqs,ssm,states,sts"
START_SECONDS = 60
STOP_SECONDS = 30
LAYERS_KEPT = 2


class Emulator:
    """Starts with `start` (or `with`), ends with `stop`; when this process is killed, the emulator ends by itself.

    A clean stop writes the state down; what a killed emulator had taken since its start is lost.
    """

    def __init__(self, project: Project, data_dir: Path, port: int | None = None) -> None:
        self._project = project
        self._data = data_dir
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None
        self._lock: IO[str] | None = None

    @property
    def endpoint_url(self) -> str:
        return f"http://{HOST}:{self._port}"

    @property
    def log(self) -> Path:
        return self._data / "ministack.log"

    def start(self) -> None:
        """Returns when the emulator answers. Raises `LocalStackError`."""
        python = self._project.ministack()
        self._take_data_dir()
        try:
            self._port = _free_port(self._port)
            self._clear_leftovers()
            with self.log.open("wb") as log:
                self._process = subprocess.Popen(
                    [str(python), launch_ministack.__file__],
                    env=self._environment(),
                    cwd=self._data,
                    stdin=subprocess.PIPE,  # its end tells the emulator that we are gone
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # Ctrl-C is ours to handle; and one group to end with all workers
                )
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends the emulator and all its workers; its state is on the disk afterwards. Does nothing when not running."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if process.stdin is not None:
                process.stdin.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def check(self) -> None:
        """Raises `LocalStackError` when the emulator has died; whoever waits for something calls this meanwhile."""
        status = self._process.poll() if self._process is not None else None
        if status is None:
            return
        raise LocalStackError(
            Text(
                f"本地模拟器 MiniStack 已意外退出（状态 {status}）：请查看 {self.log} 的末尾，然后重新运行 `stepweave up`。",
                f"The emulator MiniStack has ended by itself (status {status}): see the end of {self.log}, then run `stepweave up` again.",
            )
        )

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _take_data_dir(self) -> None:
        """One emulator a directory: two would overwrite each other's state."""
        try:
            self._data.mkdir(parents=True, exist_ok=True)
            lock = (self._data / "lock").open("w")
        except OSError as error:
            raise LocalStackError(
                Text(
                    f"无法写入数据目录 {self._data}（{error.strerror}）：请修改其权限，或用 --data-dir 指定另一个目录。",
                    f"The data directory {self._data} cannot be written ({error.strerror}): change its permissions or give another one with --data-dir.",
                )
            ) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            raise LocalStackError(
                Text(
                    f"数据目录 {self._data} 正被另一个 stepweave 使用：请先停止它，或用 --data-dir 指定另一个目录。",
                    f"The data directory {self._data} is in use by another stepweave: stop that one, or give another directory with --data-dir.",
                )
            ) from error
        self._lock = lock

    def _clear_leftovers(self) -> None:
        """What workers of a killed emulator left behind, and layers of older builds."""
        shutil.rmtree(self._data / "tmp", ignore_errors=True)
        (self._data / "tmp").mkdir()
        layers = self._data / "layers"
        layers.mkdir(exist_ok=True)
        for old in sorted(layers.iterdir(), key=lambda layer: layer.stat().st_mtime, reverse=True)[LAYERS_KEPT:]:
            shutil.rmtree(old)

    def _environment(self) -> dict[str, str]:
        """Functions inherit it: keys of model providers get through, a person's AWS account does not."""
        foreign = ("AWS_", "PYTHON", "VIRTUAL_ENV", "MINISTACK_", "LOCALSTACK_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        direct = ",".join(filter(None, [kept.get("NO_PROXY", kept.get("no_proxy", "")), HOST, "localhost"]))
        data = self._data.resolve()
        return kept | {
            "BIND_HOST": HOST,
            "GATEWAY_PORT": str(self._port),
            "SERVICES": SERVICES,
            "PERSIST_STATE": "1",
            "STATE_DIR": str(data / "state"),
            "S3_PERSIST": "1",
            "S3_DATA_DIR": str(data / "s3"),
            "LAMBDA_EXECUTOR": "local",
            "IOT_MTLS_ENABLED": "0",
            "MINISTACK_REGION": REGION,
            "LOG_LEVEL": "INFO",
            "TMPDIR": str(data / "tmp"),
            "STEPWEAVE_LAYERS": str(data / "layers"),
            "NO_PROXY": direct,
            "no_proxy": direct,
        }

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        while time.monotonic() < deadline:
            self.check()
            with contextlib.suppress(OSError), opener.open(f"{self.endpoint_url}/_ministack/ready", timeout=2):
                return
            time.sleep(0.05)
        raise LocalStackError(
            Text(
                f"本地模拟器 MiniStack 在 {START_SECONDS} 秒内没有响应：请查看 {self.log} 的末尾，然后重试。",
                f"The emulator MiniStack did not answer within {START_SECONDS} seconds: see the end of {self.log}, then try again.",
            )
        )


def _free_port(wanted: int | None) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, wanted or 0))
        except OSError as error:
            raise LocalStackError(
                Text(
                    f"端口 {wanted} 已被占用：请停止占用它的程序，或指定另一个端口。",
                    f"Port {wanted} is in use: stop the program that uses it, or give another port.",
                )
            ) from error
        port: int = probe.getsockname()[1]
        return port
