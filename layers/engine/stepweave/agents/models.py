"""Models by name: `provider:model` (architecture, agents). Providers are imported when their first model is opened."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from stepweave.agents.request import ModelRefused
from stepweave.agents.script import Play
from stepweave.graph.problem import cut
from stepweave.texts import Text

if TYPE_CHECKING:
    from pydantic_ai.models import Model

_NAME = re.compile(r"(?P<provider>[a-z]+):(?P<model>\S+)")
_OPENAI = "https://api.openai.com/v1"
_ANTHROPIC = "https://api.anthropic.com"


class ModelSettings(BaseModel):
    """How the providers are reached. `read_timeout_seconds` is how long a stream may stand still."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    openai_base_url: str | None = None
    openai_api_key: SecretStr | None = None
    anthropic_base_url: str | None = None
    anthropic_api_key: SecretStr | None = None
    bedrock_endpoint_url: str | None = None
    bedrock_region: str | None = None
    read_timeout_seconds: float = Field(default=300, gt=0)


@dataclass(frozen=True, slots=True)
class OpenedModel:
    """A model of the agent library, for one loop in one event loop; `secrets` must stand in no message."""

    model: "Model[Any]"
    secrets: tuple[str, ...] = ()


def model_problem(name: Any) -> Text | None:
    """Why `name` names no model, to be read after the name of its place; None when its form and provider are known."""
    found = _NAME.fullmatch(name) if isinstance(name, str) else None
    if found is None:
        return Text(
            "必须是 provider:model 的形式，例如 openai:gpt-5、bedrock:…、anthropic:… 或 scripted:inline",
            "must have the form provider:model, such as openai:gpt-5, bedrock:…, anthropic:… or scripted:inline",
        )
    provider = found["provider"]
    if provider not in _PROVIDERS:
        return Text(
            f"的供应商 {cut(provider)} 不存在，请改为 {'、'.join(_PROVIDERS)} 之一",
            f"has the provider {cut(provider)}, which does not exist: use one of {', '.join(_PROVIDERS)}",
        )
    if provider == "scripted" and found["model"] != "inline":
        return Text("必须是 scripted:inline：脚本模型只有这一个", "must be scripted:inline, the only scripted model")
    return None


def is_scripted(name: Any) -> bool:
    return isinstance(name, str) and name.startswith("scripted:")


def open_model(name: str, play: Play, settings: ModelSettings) -> OpenedModel:
    """The model `name`, whose form `model_problem` has found good. Raises `ModelRefused` where a setting is missing.

    No request is made. Trying again is the node's `retry` (contract §2) and nobody else's, so the SDKs are told not to.
    """
    if problem := model_problem(name):
        raise ModelRefused(Text(f"模型名 {cut(name)} {problem.zh}", f"the model name {cut(name)} {problem.en}"))
    provider, _, model = name.partition(":")
    return _PROVIDERS[provider](model, play, settings)


def _scripted(_model: str, play: Play, _settings: ModelSettings) -> OpenedModel:
    from stepweave.agents.scripted import ScriptedModel

    return OpenedModel(ScriptedModel(play))


def _openai(model: str, _play: Play, settings: ModelSettings) -> OpenedModel:
    """OpenAI itself, or any server that speaks its chat completions, of which no more is taken for granted than that."""
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    key = _reveal(settings.openai_api_key)
    defaults = OpenAIChatModelSettings(max_retries=0, timeout=settings.read_timeout_seconds)
    if settings.openai_base_url in {None, _OPENAI}:
        if key is None:
            raise _missing("OpenAI", "OPENAI_API_KEY")
        provider: Any = OpenAIProvider(base_url=_OPENAI, api_key=key)
        return OpenedModel(OpenAIChatModel(model, provider=provider, settings=defaults), (key,))
    modest = OpenAIModelProfile(supports_json_schema_output=False, openai_chat_supports_max_completion_tokens=False)
    assert settings.openai_base_url is not None
    provider = OpenAICompatibleProvider(
        "openai-compatible", base_url=settings.openai_base_url, api_key=key, profile=modest
    )
    return OpenedModel(OpenAIChatModel(model, provider=provider, settings=defaults), _known(key))


def _anthropic(model: str, _play: Play, settings: ModelSettings) -> OpenedModel:
    from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
    from pydantic_ai.providers.anthropic import AnthropicProvider

    key = _reveal(settings.anthropic_api_key)
    if key is None:
        raise _missing("Anthropic", "ANTHROPIC_API_KEY")
    provider = AnthropicProvider(api_key=key, base_url=settings.anthropic_base_url or _ANTHROPIC)
    defaults = AnthropicModelSettings(max_retries=0, timeout=settings.read_timeout_seconds)
    return OpenedModel(AnthropicModel(model, provider=provider, settings=defaults), (key,))


def _bedrock(model: str, _play: Play, settings: ModelSettings) -> OpenedModel:
    """With the credentials of the process: in Lambda, those of the function's role."""
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    provider = BedrockProvider(
        region_name=settings.bedrock_region,
        base_url=settings.bedrock_endpoint_url,
        aws_read_timeout=settings.read_timeout_seconds,
    )
    provider.client.meta.events.unregister(
        "needs-retry.bedrock-runtime", unique_id="retry-config-bedrock-runtime"
    )  # the provider takes no number of tries; without its judge the SDK makes one
    return OpenedModel(BedrockConverseModel(model, provider=provider))


_PROVIDERS: dict[str, Callable[[str, Play, ModelSettings], OpenedModel]] = {
    "bedrock": _bedrock,
    "openai": _openai,
    "anthropic": _anthropic,
    "scripted": _scripted,
}


def _reveal(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() or None if secret else None


def _known(key: str | None) -> tuple[str, ...]:
    return (key,) if key else ()


def _missing(provider: str, setting: str) -> ModelRefused:
    return ModelRefused(Text(f"没有配置 {provider} 的密钥：请设置 {setting}", f"no key for {provider}: set {setting}"))
