"""The run viewer at `/ui`: the files that `web/` is built to, under a policy that lets a model's output do nothing."""

import html
import json
import mimetypes
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from stepweave.api.errors import language_of
from stepweave.texts import Text

BUILT = Path(__file__).with_name("ui")
"""Where `make` builds `web/` to; no part of the sources."""

_HEAD = "</head>"
_RUN_PAGES = "runs/"
_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".woff2": "font/woff2"}
_NOT_BUILT = Text(
    "运行查看页尚未构建：请安装 Node.js 20（含 npm），再执行 `make build` 或 `make up`。API 不受影响。",
    "The run viewer has not been built: install Node.js 20 with npm, then `make build` or `make up`. "
    "The API works without it.",
)


class Viewer:
    """One page for every address below `/ui`, which the page itself tells apart; and its assets, whose names change
    with their content."""

    def __init__(
        self,
        embed_origins: Sequence[str],
        signed_address: Callable[[], str] | None = None,
        directory: Path = BUILT,
    ) -> None:
        """`signed_address` gives any address that object storage answers, where files have to be sent there because a
        gateway takes no large requests."""
        self._embed_origins = tuple(embed_origins)
        self._signed_address = signed_address
        self._directory = directory

    def routes(self) -> list[Route]:
        return [
            Route("/", lambda _: RedirectResponse("/ui"), include_in_schema=False),
            Route("/ui", self.answer, include_in_schema=False),
            Route("/ui/{path:path}", self.answer, include_in_schema=False),
        ]

    def answer(self, request: Request) -> Response:
        path = request.path_params.get("path", "")
        if path.startswith("assets/"):
            return self._asset(path, "gzip" in request.headers.get("accept-encoding", ""))
        return self._page(path, language_of(request))

    def _asset(self, path: str, gzip: bool) -> Response:
        """Raises `HTTPException` (404); no path leads out of the folder."""
        file = (self._directory / path).resolve()
        if not file.is_relative_to(self._directory.resolve() / "assets") or not file.is_file():
            raise HTTPException(404)
        headers = {
            "Cache-Control": "public, max-age=31536000, immutable",
            "Vary": "Accept-Encoding",
            "X-Content-Type-Options": "nosniff",
        }
        compressed = file.with_name(f"{file.name}.gz")
        if gzip and compressed.is_file():
            headers["Content-Encoding"] = "gzip"
            return Response(compressed.read_bytes(), headers=headers, media_type=_type(file))
        return Response(file.read_bytes(), headers=headers, media_type=_type(file))

    def _page(self, path: str, language: str) -> Response:
        headers = {"Cache-Control": "no-cache", **self._policy(path)}
        file = self._directory / "index.html"
        if not file.is_file():
            return Response(_NOT_BUILT.to(language), 404, headers, "text/plain; charset=utf-8")
        page = file.read_text("utf-8").replace(_HEAD, self._told + _HEAD, 1)
        return Response(page, 200, headers, "text/html; charset=utf-8")

    def _policy(self, path: str) -> dict[str, str]:
        """Nothing is loaded from elsewhere, nothing inline runs, markup becomes a page only through the sanitiser; only
        the page of a run may be framed (contract §4)."""
        framed = self._embed_origins if path.startswith(_RUN_PAGES) else ()
        policy = {
            "default-src": "'none'",
            "script-src": "'self'",
            "style-src": "'self'",
            "img-src": "'self' data:",
            "font-src": "'self'",
            "connect-src": " ".join(("'self'", *self._storage)),
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": " ".join(framed) or "'none'",
            "require-trusted-types-for": "'script'",
            "trusted-types": "dompurify vue",
        }
        return {
            "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
            "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
            "Referrer-Policy": "no-referrer",  # a view token may stand in the address
            "X-Content-Type-Options": "nosniff",
            "X-DNS-Prefetch-Control": "off",
        }

    @cached_property
    def _storage(self) -> tuple[str, ...]:
        if self._signed_address is None:
            return ()
        address = urlsplit(self._signed_address())
        return (f"{address.scheme}://{address.netloc}",)

    @cached_property
    def _told(self) -> str:
        """What the page must know of this server."""
        told = {"embedOrigins": self._embed_origins, "signedUploads": self._signed_address is not None}
        return f'<meta name="stepweave" content="{html.escape(json.dumps(told))}">'


def _type(file: Path) -> str:
    return _TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
