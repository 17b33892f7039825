import subprocess
import sys
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from pydantic import ValidationError
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.bedrock import BedrockConverseModel
from pydantic_ai.models.openai import OpenAIChatModel

from stepweave.agents.models import ModelSettings, OpenedModel, is_scripted, model_problem, open_model
from stepweave.agents.request import ModelRefused
from stepweave.agents.script import Play
from stepweave.agents.scripted import ScriptedModel


def opened(name: str, **settings: Any) -> OpenedModel:
    return open_model(name, Play([], "p"), ModelSettings(**settings))


@pytest.fixture(autouse=True)
def strange_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the settings count: what providers' own variables say is for other programs on this machine."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-of-another-program")
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.setenv(name, "http://another-program.invalid")
    for name in ("AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_BEARER_TOKEN_BEDROCK", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    "name",
    [
        "openai:gpt-5",
        "openai:vendor/model-7b",
        "anthropic:claude-sonnet-5",
        "bedrock:eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "scripted:inline",
    ],
)
def test_names_of_the_known_providers_are_good(name: str) -> None:
    assert model_problem(name) is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gpt-5", "provider:model"),
        ("", "provider:model"),
        ("openai:", "provider:model"),
        (":gpt-5", "provider:model"),
        ("openai:gpt 5", "provider:model"),
        ("OpenAI:gpt-5", "provider:model"),
        (None, "provider:model"),
        (7, "provider:model"),
        ("google:gemini", "google"),
        ("scripted:other", "scripted:inline"),
    ],
)
def test_other_names_are_told_what_is_wrong_with_them(name: Any, words: str) -> None:
    problem = model_problem(name)
    assert problem is not None
    assert words in problem.zh
    assert words in problem.en


@pytest.mark.parametrize(("name", "expected"), [("scripted:inline", True), ("openai:x", False), (None, False)])
def test_only_scripted_models_play_a_script(name: Any, expected: bool) -> None:
    assert is_scripted(name) is expected


def test_a_name_that_slipped_through_is_refused_in_words() -> None:
    with pytest.raises(ModelRefused, match="the model name google:gemini has the provider google"):
        opened("google:gemini")


def test_openai_itself_is_reached_with_its_key() -> None:
    result = opened("openai:gpt-5", openai_api_key="sk-1")
    assert isinstance(result.model, OpenAIChatModel)
    assert result.model.model_name == "gpt-5"
    assert str(result.model.client.base_url) == "https://api.openai.com/v1/"
    assert result.model.client.api_key == "sk-1"
    assert result.model.profile.get("supports_json_schema_output") is True
    assert result.secrets == ("sk-1",)


def test_a_compatible_server_is_reached_at_its_address_and_may_need_no_key() -> None:
    result = opened("openai:local", openai_base_url="http://127.0.0.1:8080/v1")
    assert isinstance(result.model, OpenAIChatModel)
    assert str(result.model.client.base_url) == "http://127.0.0.1:8080/v1/"
    assert result.model.client.api_key != "sk-of-another-program"
    assert result.model.profile.get("supports_json_schema_output") is False
    assert result.secrets == ()


def test_anthropic_is_reached_with_its_key_and_address() -> None:
    result = opened("anthropic:claude-sonnet-5", anthropic_api_key="sk-2")
    assert isinstance(result.model, AnthropicModel)
    assert result.model.base_url == "https://api.anthropic.com"
    assert isinstance(result.model.client, AsyncAnthropic)
    assert result.model.client.api_key == "sk-2"
    assert result.secrets == ("sk-2",)
    proxy = opened("anthropic:claude-sonnet-5", anthropic_api_key="sk-2", anthropic_base_url="http://proxy.test")
    assert isinstance(proxy.model, AnthropicModel)
    assert proxy.model.base_url == "http://proxy.test"


def test_bedrock_is_reached_in_its_region_or_at_an_address() -> None:
    result = opened("bedrock:amazon.nova-lite-v1:0", bedrock_region="eu-central-1", read_timeout_seconds=42)
    assert isinstance(result.model, BedrockConverseModel)
    assert result.model.model_name == "amazon.nova-lite-v1:0"
    assert result.model.base_url == "https://bedrock-runtime.eu-central-1.amazonaws.com"
    assert result.model.client.meta.config.read_timeout == 42
    local = opened("bedrock:m", bedrock_region="us-east-1", bedrock_endpoint_url="http://127.0.0.1:4566")
    assert isinstance(local.model, BedrockConverseModel)
    assert local.model.base_url == "http://127.0.0.1:4566"


@pytest.mark.parametrize(
    ("name", "settings"),
    [("openai:gpt-5", {"openai_api_key": "k"}), ("anthropic:claude-sonnet-5", {"anthropic_api_key": "k"})],
)
def test_trying_again_is_left_to_the_node_and_a_silent_stream_is_given_up(name: str, settings: dict[str, str]) -> None:
    defaults = opened(name, read_timeout_seconds=42, **settings).model.settings
    assert defaults is not None
    assert (defaults["max_retries"], defaults["timeout"]) == (0, 42)


@pytest.mark.parametrize(
    ("name", "setting"),
    [("openai:gpt-5", "OPENAI_API_KEY"), ("anthropic:claude-sonnet-5", "ANTHROPIC_API_KEY")],
)
def test_a_missing_key_is_named(name: str, setting: str) -> None:
    with pytest.raises(ModelRefused) as raised:
        opened(name)
    assert setting in raised.value.failure.text.zh
    assert setting in raised.value.failure.text.en


def test_the_scripted_model_needs_no_settings() -> None:
    assert isinstance(opened("scripted:inline").model, ScriptedModel)


def test_settings_show_no_keys_and_take_no_unknown_names() -> None:
    assert "sk-1" not in repr(ModelSettings(openai_api_key="sk-1"))  # type: ignore[arg-type]
    with pytest.raises(ValidationError):
        ModelSettings(openai_token="x")  # type: ignore[call-arg]


@pytest.mark.parametrize("module", ["stepweave.nodes.llm", "stepweave.agents.models", "stepweave.agents.script"])
def test_the_agent_library_is_not_imported_before_a_model_is_opened(module: str) -> None:
    heavy = {"pydantic_ai", "openai", "anthropic", "boto3"}
    program = f"import sys, {module}; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_provider_is_not_imported_before_its_model_is_opened() -> None:
    program = (
        "import sys, stepweave.agents.loop\n"
        "from stepweave.agents.models import *\n"
        "open_model('scripted:inline', Play([], ''), ModelSettings())\n"
        "print(sorted({'openai', 'anthropic', 'boto3'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
