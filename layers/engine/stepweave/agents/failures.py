"""Which failures of a model are the provider's, what they are called for people, and whether trying again may help."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic_ai import exceptions

from stepweave.agents.request import NodeStopped, ProviderFailed
from stepweave.texts import Text

_LONGEST_WORDS = 500
_SDKS = frozenset({"openai", "anthropic", "botocore", "boto3", "httpx", "httpx2", "httpcore2", "urllib3"})
_TRANSPORTS = frozenset({"httpx", "httpx2", "httpcore2", "urllib3"})


def classify(error: Exception, secrets: Iterable[str]) -> ProviderFailed | None:
    """What `error` means for the node; None when it is no provider's failure but a fault of ours.

    Retryable are HTTP 408, 429 and 5xx, lost connections and timeouts; what the provider rejected is not, nor a quota
    that is used up. None of `secrets` stands in the text, whatever the provider quotes.
    """
    match error:
        case NodeStopped():
            return error.failure
        case exceptions.ModelHTTPError():
            return _told(f"HTTP {error.status_code}", error, secrets, retryable=_worth_trying(error))
        case exceptions.ModelTimeoutError() | exceptions.ModelRequestTimeout():
            return ProviderFailed(
                Text("模型服务没有及时回应", "the model provider did not answer in time"), retryable=True
            )
        case exceptions.ModelConnectionError():
            return _told("连接中断", error, secrets, retryable=True, en="connection lost")
        case exceptions.ModelAPIError():
            rejected = isinstance(error, exceptions.ModelRequestRejectedError | exceptions.ModelQuotaExceededError)
            return _told("", error, secrets, retryable=not rejected)
        case exceptions.AgentRunError() | exceptions.UserError():
            return _told("", error, secrets, retryable=False)
        case _ if _package(error) in _SDKS:
            return _told("", error, secrets, retryable=_package(error) in _TRANSPORTS)
        case _:
            return None


def _worth_trying(error: exceptions.ModelHTTPError) -> bool:
    if isinstance(error, exceptions.ModelQuotaExceededError):
        return False
    return error.status_code in {408, 429} or error.status_code >= 500


def _package(error: Exception) -> str:
    return type(error).__module__.partition(".")[0]


def _told(
    zh: str, error: Exception, secrets: Iterable[str], *, retryable: bool, en: str | None = None
) -> ProviderFailed:
    words = _words(error)
    for secret in secrets:
        words = words.replace(secret, "***")
    words = words if len(words) <= _LONGEST_WORDS else words[:_LONGEST_WORDS] + "…"
    what = Text(f"（{zh}）" if zh else "", f" ({zh if en is None else en})" if zh else "")
    return ProviderFailed(
        Text(f"模型服务出错{what.zh}：{words}", f"the model provider failed{what.en}: {words}"), retryable
    )


def _words(error: Exception) -> str:
    """The provider's own sentence where its answer holds one, else the exception's."""
    return _message(getattr(error, "body", None)) or str(error).strip() or type(error).__name__


def _message(body: Any) -> str | None:
    match body:
        case str() if body.strip():
            return body.strip()
        case Mapping():
            found = (body.get(name) for name in ("message", "Message", "error", "Error"))
            return next((words for words in map(_message, found) if words), None)
        case _:
            return None
