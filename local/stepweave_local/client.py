"""The HTTP client: calls of the API as plain data, every failure as one sentence that says what to do."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from stepweave.texts import Language, Text
from stepweave_local.addresses import Part
from stepweave_local.command_error import CommandError, Problem, ServerRefused, Unreachable
from stepweave_local.endpoint import Endpoint

_TIMEOUT = httpx.Timeout(60, connect=5)
_UPLOAD_TIMEOUT = httpx.Timeout(300, connect=10)
_SILENCE_SECONDS = 75  # a stream sends a comment every 30 seconds (contract §5)
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_BUSY_TRIES = 4
_BUSY_LONGEST_SECONDS = 20.0
_PAGE = 100


class Client:
    """Speaks for one person to one server. Methods raise `CommandError`, and no error of the HTTP library."""

    def __init__(self, endpoint: Endpoint, language: Language) -> None:
        self.endpoint = endpoint
        # A proxy of the environment is for the world outside, never for the stack on this machine.
        local = urlsplit(endpoint.url).hostname in _LOOPBACK
        headers = {"Accept-Language": language, "User-Agent": "stepweave"}
        self._http = httpx.Client(base_url=endpoint.url, headers=headers, timeout=_TIMEOUT, trust_env=not local)

    def close(self) -> None:
        self._http.close()

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        admin: bool = False,
        query: Mapping[str, str | int] | None = None,
        parts: Sequence[Part] | None = None,
    ) -> Any:
        """The `data` of the answer. A server that is busy (429) is asked again after the time it names."""
        tries = 1
        while True:
            with self._told():
                response = self._http.request(
                    method, path, json=body, params=query, files=parts, headers=self._keys(admin)
                )
            wait = _retry_after(response)
            if wait is None or tries == _BUSY_TRIES:
                return self._data(response)
            time.sleep(wait)
            tries += 1

    def items(self, path: str, *, admin: bool = False, query: Mapping[str, str | int] | None = None) -> Iterator[Any]:
        """Every item of a list that comes in pages."""
        page, seen = 1, 0
        while True:
            data = self.call("GET", path, admin=admin, query={**(query or {}), "page": page, "size": _PAGE})
            items = data["items"]
            yield from items
            seen += len(items)
            if not items or seen >= data["total"]:
                return
            page += 1

    def put_file(self, url: str, headers: Mapping[str, str], file: Path) -> None:
        """Sends a file to an address that the server signed."""
        with self._told(), file.open("rb") as content:
            sized = {"Content-Length": str(file.stat().st_size), **headers}
            response = httpx.put(url, content=content, headers=sized, timeout=_UPLOAD_TIMEOUT)
        if response.is_error:
            raise CommandError(
                Text(
                    f"上传 {file} 失败（HTTP {response.status_code}）：请重试。",
                    f"Uploading {file} failed (HTTP {response.status_code}): try again.",
                )
            )

    @contextmanager
    def stream(self, path: str, after: int) -> Iterator[httpx.Response]:
        """An open event stream; raises the HTTP library's errors, since whoever follows a stream mends them."""
        headers = self._keys(admin=False) | {"Accept": "text/event-stream"}
        if after:
            headers["Last-Event-ID"] = str(after)
        timeout = httpx.Timeout(_SILENCE_SECONDS, connect=5)
        with self._http.stream("GET", path, headers=headers, timeout=timeout) as response:
            yield response

    def unreachable(self, error: httpx.TransportError) -> CommandError:
        url = self.endpoint.url
        if isinstance(error, httpx.TimeoutException) and not isinstance(error, httpx.ConnectTimeout):
            return Unreachable(
                Text(f"{url} 没有及时应答：请稍后重试。", f"{url} does not answer in time: try again later.")
            )
        if self.endpoint.is_dev:
            return Unreachable(
                Text(
                    f"{url} 没有服务在运行：请先运行 `stepweave up`。",
                    f"No server is running at {url}: run `stepweave up` first.",
                )
            )
        source = self.endpoint.source
        reason = str(error) or type(error).__name__
        return Unreachable(
            Text(
                f"无法连接 {url}（{source.zh}；{reason}）：请检查地址与网络；本机服务请运行 `stepweave up`。",
                f"{url} cannot be reached ({source.en}; {reason}): check the address and the network, or run `stepweave up` for a server here.",
            )
        )

    def _keys(self, admin: bool) -> dict[str, str]:
        return {"X-API-Key": self.endpoint.admin_key if admin else self.endpoint.key}

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except httpx.TransportError as error:
            raise self.unreachable(error) from error
        except httpx.InvalidURL as error:
            raise CommandError(
                Text(f"服务地址无效：{error}。", f"The address of the server is not valid: {error}.")
            ) from error

    def _data(self, response: httpx.Response) -> Any:
        answer = _json(response)
        if not isinstance(answer, dict) or "code" not in answer:
            if response.status_code == httpx.codes.REQUEST_ENTITY_TOO_LARGE:
                raise self._too_large()
            raise self.not_stepweave(response.status_code)
        if response.is_error:
            raise refused(response.status_code, answer, self.endpoint)
        return answer.get("data")

    def _too_large(self) -> CommandError:
        """A gateway refuses what its server never sees."""
        url = self.endpoint.url
        return CommandError(
            Text(
                f"{url} 前面的网关拒绝了过大的请求（HTTP 413）：经过 API Gateway 的请求最多约 4 MB，请删去大文件。",
                f"The gateway in front of {url} lets no request of this size through (HTTP 413): through API Gateway "
                "go about 4 MB; leave large files out.",
            )
        )

    def not_stepweave(self, status: int) -> CommandError:
        return Unreachable(
            Text(
                f"{self.endpoint.url} 的应答（HTTP {status}）不是 stepweave 的格式：请检查服务地址。",
                f"What answers at {self.endpoint.url} (HTTP {status}) is not stepweave: check the address.",
            )
        )


def refused(status: int, answer: Mapping[str, Any], endpoint: Endpoint) -> ServerRefused:
    """The error for an error answer of the contract: the server's sentence, then what to do where that is known."""
    code, said = str(answer.get("code")), str(answer.get("message") or answer.get("error") or answer.get("code"))
    data = answer.get("data")
    problems: Sequence[Problem] = data.get("problems", ()) if isinstance(data, dict) else ()
    text = Text.same(said)
    advice = _ADVICE.get(code)
    if code == "UNAUTHORIZED" and endpoint.is_dev:
        advice = Text(
            f"密钥{endpoint.source.zh}，可能已过期：请重新运行 `stepweave up`",
            f"The key is {endpoint.source.en} and may be outdated: run `stepweave up` again",
        )
    if advice is not None:
        said = said.rstrip("。.")
        text = Text(f"{said}。{advice.zh}。", f"{said}. {advice.en}.")
    return ServerRefused(text, code, status, problems)


_ADVICE = {
    "UNAUTHORIZED": Text(
        "请检查 --key 或 STEPWEAVE_API_KEY（管理命令用 STEPWEAVE_ADMIN_KEY）",
        "Check --key or STEPWEAVE_API_KEY (STEPWEAVE_ADMIN_KEY for commands of administrators)",
    ),
    "RUN_NOT_FOUND": Text(
        "用 `stepweave runs list` 查看现有的运行", "`stepweave runs list` shows the runs that there are"
    ),
    "RATE_LIMITED": Text("请稍后重试", "Try again in a while"),
}


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds until a busy server may be asked again; None when it is not busy, or for too long to wait here."""
    if response.status_code != 429:
        return None
    try:
        seconds = float(response.headers.get("Retry-After", "1"))
    except ValueError:
        return None
    return seconds if 0 <= seconds <= _BUSY_LONGEST_SECONDS else None


def _json(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        return None
