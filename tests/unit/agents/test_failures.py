from typing import Any

import httpx2
import pytest
from botocore.exceptions import NoCredentialsError
from pydantic_ai import exceptions

from stepweave.agents.failures import classify
from stepweave.agents.request import ModelRefused, ProviderFailed
from stepweave.execution.work import RunEnded
from stepweave.texts import Text


def classified(error: Exception, *secrets: str) -> ProviderFailed:
    failure = classify(error, secrets)
    assert failure is not None
    return failure


def http(status: int, body: Any) -> exceptions.ModelHTTPError:
    return exceptions.ModelHTTPError(status, "m", body)


@pytest.mark.parametrize("error", [ValueError("bug"), KeyError("x"), RunEnded(), RuntimeError("loop")])
def test_a_fault_of_ours_is_no_failure_of_the_provider(error: Exception) -> None:
    assert classify(error, ()) is None


def test_words_of_our_own_models_are_kept_as_they_are() -> None:
    text = Text("中", "en")
    assert classified(ModelRefused(text, retryable=True)) == ProviderFailed(text, retryable=True)


@pytest.mark.parametrize(
    "error",
    [
        exceptions.ModelTimeoutError("m", ""),
        exceptions.ModelRequestTimeout("m", 3),
        exceptions.ModelConnectionError("m", "reset"),
        exceptions.ModelRateLimitError("m", "slow down"),
        exceptions.ModelOverloadedError("m", "busy"),
        exceptions.ModelServerError("m", "oops"),
        exceptions.ModelAPIError("m", "not JSON"),
        httpx2.ReadError("reset"),
    ],
)
def test_what_may_pass_by_itself_is_retryable(error: Exception) -> None:
    assert classified(error).retryable


@pytest.mark.parametrize(
    "error",
    [
        exceptions.ModelRequestRejectedError("m", "too long"),
        exceptions.ModelQuotaExceededError("m", "pay"),
        exceptions.ModelHTTPError.for_category(exceptions.ModelQuotaExceededError, status_code=429, model_name="m"),
        exceptions.UsageLimitExceeded("too many requests"),
        exceptions.UnexpectedModelBehavior("tool retried too often"),
        exceptions.UserError("no region"),
        NoCredentialsError(),
    ],
)
def test_what_will_not_pass_by_itself_is_not_retryable(error: Exception) -> None:
    assert not classified(error).retryable


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"message": "too long"}, "too long"),
        ({"error": {"message": "too long", "type": "x"}}, "too long"),
        ({"Error": {"Message": "too long", "Code": "ValidationException"}}, "too long"),
        ({"error": "too long"}, "too long"),
        (" too long ", "too long"),
    ],
)
def test_the_providers_own_sentence_is_told(body: Any, words: str) -> None:
    failure = classified(http(400, body))
    assert failure.text == Text(f"模型服务出错（HTTP 400）：{words}", f"the model provider failed (HTTP 400): {words}")


def test_without_a_sentence_of_the_provider_the_exception_speaks() -> None:
    assert "status_code: 500" in classified(http(500, None)).text.en
    assert classified(httpx2.ReadTimeout("")).text.en == "the model provider failed: ReadTimeout"


def test_long_words_are_cut() -> None:
    assert classified(http(400, "x" * 10_000)).text.en.endswith("x" * 500 + "…")


def test_no_secret_gets_through_even_where_words_are_cut() -> None:
    failure = classified(http(401, "x" * 490 + "sk-very-secret"), "sk-very-secret")
    assert "sk-very" not in failure.text.en
    assert "sk-very" not in failure.text.zh
