"""What a deployment may set, read from the environment once, in the composition root (contract §7).

A field `events_ttl_hours` is the variable `EVENTS_TTL_HOURS`. Empty means not set.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    Json,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from stepweave.errors import SettingInvalid
from stepweave.texts import Text


def _is_url(value: str) -> str:
    if not value.startswith(("http://", "https://")):
        raise ValueError("must begin with http:// or https://")
    return value.rstrip("/")


Url = Annotated[str, AfterValidator(_is_url)]

_ORIGIN = re.compile(r"https?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?/?")


def _are_origins(value: str) -> str:
    """No path, no wildcard: each stands in a header, and is told what runs do."""
    for origin in value.split(","):
        if not _ORIGIN.fullmatch(origin.strip()):
            raise ValueError(f"{origin.strip()!r} is no origin such as https://portal.example.com")
    return value


class TokenPrice(BaseModel):
    """What a million tokens of a model cost, those it reads and those it writes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0)
    output: float = Field(ge=0)


class ProviderSettings(BaseModel):
    """How models are reached, from the engine or from a bridge."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    openai_api_key: SecretStr | None = Field(None, description="Key for `openai:` models.")
    openai_base_url: Url | None = Field(None, description="Base URL of an OpenAI-compatible server.")
    anthropic_api_key: SecretStr | None = Field(None, description="Key for `anthropic:` models.")
    anthropic_base_url: Url | None = Field(None, description="Base URL of an Anthropic-compatible server.")
    bedrock_region: str | None = Field(None, description="Region of Bedrock, when it is another than the stack's.")
    bedrock_endpoint_url: Url | None = Field(None, description="Endpoint of Bedrock, when it is not the region's own.")
    model_read_timeout_seconds: float = Field(300, gt=0, description="How long a model's stream may stand still.")
    model_prices: Json[dict[str, TokenPrice]] = Field(
        {}, description='Prices of a million tokens, as JSON: `{"openai:gpt-5": {"input": 1.25, "output": 10}}`.'
    )
    hermes_bridge_token: SecretStr | None = Field(
        None, description="Token that a Hermes Bridge asks for, and that the engine shows it."
    )


class Settings(ProviderSettings):
    """Every setting of the engine with its default; docs/configuration.md explains them."""

    workflows_table: str = Field(min_length=1, description="Name of the table of workflow versions.")
    runs_table: str = Field(min_length=1, description="Name of the table of runs, joins and questions.")
    visits_table: str = Field(min_length=1, description="Name of the table of visits.")
    events_table: str = Field(min_length=1, description="Name of the table of events.")
    tokens_table: str = Field(min_length=1, description="Name of the table of context tokens and view tokens.")
    api_keys_table: str | None = Field(None, description="Name of the table of API keys; for the API only.")
    chats_table: str | None = Field(None, description="Name of the table of chat sessions; for the API only.")
    data_bucket: str = Field(min_length=1, description="Name of the bucket for large values and files.")
    state_machine_arn: str = Field(min_length=1, description="ARN of the state machine that runs chains.")
    callback_queue_url: str = Field(min_length=1, description="URL of the queue of callbacks.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="The least that is logged.")

    events_max_per_run: int = Field(
        5000, ge=100, le=1_000_000, description="How many of its last events a run replays."
    )
    events_ttl_hours: float = Field(25, gt=0, le=8760, description="How long events stay after the end of a run.")
    runs_ttl_days: float = Field(
        365,
        gt=0,
        le=36_500,
        description="How long the records of a run stay after its end, and chats after their last use.",
    )
    chat_history_turns: int = Field(
        20, ge=0, le=100, description="How many turns of a chat, the latest, the next run gets as `chat.history`."
    )
    chat_history_bytes: int = Field(
        65_536, ge=1024, le=1_000_000, description="Bytes that `chat.history` may take; older turns are left out."
    )
    rate_limit_requests_per_minute: int = Field(
        12_000, ge=0, le=1_000_000, description="Requests that an API key may make in a minute; 0: any number."
    )
    rate_limit_concurrent_runs: int = Field(
        0, ge=0, le=1_000, description="Runs of an API key that may run, or wait, at once; 0: any number."
    )
    stream_seconds: float = Field(
        86_400,
        ge=1,
        le=86_400,
        description="How long a stream is held open; an EventSource then comes again by itself.",
    )
    trace_max_bytes: int = Field(65_536, ge=1024, le=1_000_000, description="Bytes of each field of a stored trace.")
    workflow_workspace_legacy_flat_inject: bool = Field(
        False, description="Spread `{nodeId}__{var}` of every predecessor into a node's variables, as of old."
    )
    cors_allow_origins: str = Field(
        "*", description="Origins that may call /api/* from a browser, separated by commas."
    )
    embed_origins: Annotated[str, AfterValidator(_are_origins)] | None = Field(
        None, description="Origins whose pages may frame the page of a run, separated by commas."
    )

    model_secret_name: str | None = Field(None, description="Secrets Manager secret that holds the providers' keys.")
    tools_private_hosts: bool = Field(
        False,
        description="Let the tools of agents (`http_get`, MCP) call hosts that are not public: your own MCP servers, on a laptop.",
    )

    callback_private_hosts: bool = Field(
        False, description="Let `callbackUrl` be http, and a host that is not public: for laptops and tests."
    )

    hermes_context_query_enabled: bool = Field(
        True, description="Let models ask what came before; off, no token is made and no tool is offered."
    )
    hermes_context_query_token_ttl_seconds: float = Field(
        120, ge=1, le=3600, description="How long a context token lives when its visit does not renew it."
    )
    hermes_context_query_cleanup_interval_seconds: float = Field(
        60, ge=0, le=86_400, description="The least time between two clean-ups of expired context tokens."
    )
    hermes_context_query_max_tokens_per_visit: int = Field(
        4, ge=1, le=100, description="How many context tokens a visit may have at once; one more ends the oldest."
    )
    hermes_context_query_public: bool = Field(
        False, description="Answer `/internal/context` in the API too, for bridges and agents outside."
    )
    hermes_context_query_public_per_minute: int = Field(
        300, ge=0, le=100_000, description="Queries that a visit may make in a minute in the API; 0: any number."
    )

    hermes_enabled: bool = Field(False, description="Run `agent` and `smartAction` nodes across a Hermes Bridge.")
    hermes_bridge_url: Annotated[Url | None, Field(validate_default=True)] = Field(
        None, description="Base URL of the Hermes Bridge."
    )
    hermes_bridge_idle_seconds: float = Field(
        60, ge=1, le=900, description="How long a Hermes Bridge may send nothing, not even a sign of life."
    )

    @field_validator("hermes_bridge_url")
    @classmethod
    def _is_needed(cls, url: str | None, others: ValidationInfo) -> str | None:
        if url is None and others.data.get("hermes_enabled"):
            raise ValueError("is needed with HERMES_ENABLED")
        return url


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The settings that an environment gives. Raises `SettingInvalid` with one sentence that names every bad value."""
    return _read(Settings, environment)


def read_provider_settings(environment: Mapping[str, str]) -> ProviderSettings:
    """Those of a process that calls models and knows no deployment. Raises `SettingInvalid`."""
    return _read(ProviderSettings, environment)


def _read[S: BaseModel](kind: type[S], environment: Mapping[str, str]) -> S:
    given: dict[str, Any] = {}
    for name in kind.model_fields:
        value = environment.get(variable_of(name), "").strip()
        if value:
            given[name] = value
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise SettingInvalid(_sentence(error)) from None  # the cause would show secret values


def variable_of(field: str) -> str:
    return field.upper()


def _sentence(error: ValidationError) -> Text:
    faults = []
    for each in error.errors(include_input=False, include_url=False):
        variable = variable_of(str(each["loc"][0]))
        faults.append((variable, each["type"] == "missing", each["msg"]))
    return Text(
        "；".join(f"环境变量 {name} " + ("未设置" if absent else f"的值无效：{why}") for name, absent, why in faults),
        "; ".join(
            f"environment variable {name} " + ("is not set" if absent else f"is invalid: {why}")
            for name, absent, why in faults
        ),
    )
