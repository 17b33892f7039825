"""The deployment's models. Only names and settings here: a provider is imported when its first model is opened."""

from typing import Any

from stepweave.execution.cost import Price
from stepweave.settings import ProviderSettings


class LazyModels:
    """`Models` (execution) that imports the agents package when a node first wants a model: `flow` never does."""

    def __init__(self, settings: ProviderSettings) -> None:
        self._settings = settings

    def open(self, name: str, play: Any) -> Any:
        from stepweave.agents.models import ModelSettings, open_model

        given = self._settings
        return open_model(
            name,
            play,
            ModelSettings(
                openai_base_url=given.openai_base_url,
                openai_api_key=given.openai_api_key,
                anthropic_base_url=given.anthropic_base_url,
                anthropic_api_key=given.anthropic_api_key,
                bedrock_endpoint_url=given.bedrock_endpoint_url,
                bedrock_region=given.bedrock_region,
                read_timeout_seconds=given.model_read_timeout_seconds,
            ),
        )

    def price(self, name: str) -> Price | None:
        price = self._settings.model_prices.get(name)
        return Price(price.input, price.output) if price is not None else None
