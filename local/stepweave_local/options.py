"""How a function becomes a command: with the options that all commands have, a session, and errors as sentences."""

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, Concatenate

import typer

from stepweave.errors import StepweaveError
from stepweave_local.languages import words
from stepweave_local.session import Session, Shared

EndpointOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help=words("服务地址（也可用 STEPWEAVE_URL）", "Address of the server (or STEPWEAVE_URL)"),
    ),
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        metavar="KEY",
        help=words("API 密钥（也可用 STEPWEAVE_API_KEY）", "API key (or STEPWEAVE_API_KEY)"),
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help=words("只输出 JSON，供脚本使用", "Print JSON only, for scripts"))
]

_SHARED: dict[str, tuple[Any, Any]] = {
    "endpoint": (EndpointOption, None),
    "key": (KeyOption, None),
    "as_json": (JsonOption, False),
}


def command[**P](
    app: typer.Typer, name: str, help_text: str
) -> Callable[[Callable[Concatenate[Session, P], int | None]], Callable[Concatenate[Session, P], int | None]]:
    """Registers `function(session, …)`, which gives its exit status, None for 0."""

    def register(
        function: Callable[Concatenate[Session, P], int | None],
    ) -> Callable[Concatenate[Session, P], int | None]:
        @functools.wraps(function)
        def call(context: typer.Context, **values: Any) -> int:
            given = Shared(values.pop("endpoint"), values.pop("key"), values.pop("as_json"))
            with Session(given.over(context.obj)) as session:
                try:
                    return function(session, **values) or 0  # type: ignore[call-arg] # the values are named by the signature
                except StepweaveError as error:
                    return session.tell_error(error)

        _, *own = inspect.signature(function, eval_str=True).parameters.values()
        parameters = [
            inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
            *(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own),
            *(
                inspect.Parameter(shared, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
                for shared, (annotation, default) in _SHARED.items()
            ),
        ]
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # what Typer reads
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        app.command(name, help=help_text)(call)
        return function

    return register
