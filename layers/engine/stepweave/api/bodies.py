"""What clients send, field by field (contract §4). `null` is as good as absent; nothing is coerced."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from stepweave.execution.run import FailStrategy
from stepweave.graph.naming import is_workflow_name
from stepweave.graph.shape import DataModel, refuse
from stepweave.store.keys import Scope
from stepweave.texts import Text

_LONGEST_TTL_HOURS = 87_600
_MOST_UPLOADS = 500
_UPLOADED = "uploadedFiles"
_NO_PATH = object()


def _lists_files(inputs: dict[str, Any]) -> dict[str, Any]:
    listed = inputs.get(_UPLOADED)
    if listed is None or (isinstance(listed, list) and all(_path_of(each) is not _NO_PATH for each in listed)):
        return inputs
    raise refuse(
        Text(
            "中的 uploadedFiles 必须是数组，每一项是路径字符串或 {path}",
            "holds uploadedFiles, which must be an array of paths, or of objects {path}",
        )
    )


def _path_of(listed: Any) -> Any:
    """The path that an element of `uploadedFiles` gives, None where it gives none."""
    path = listed.get("path") if isinstance(listed, dict) else listed
    return path if path is None or isinstance(path, str) else _NO_PATH


def _is_workflow(name: str) -> str:
    if not is_workflow_name(name):
        raise refuse(Text("不是有效的工作流名称", "is not a workflow's name"))
    return name


def _runs_only() -> list[Scope]:
    return ["run"]


class RunBody(DataModel):
    """A new run. What `inputs` holds goes under `variables` of the same name."""

    variables: dict[str, Any] = Field(default_factory=dict, description="The run's inputs; undeclared ones are kept.")
    inputs: Annotated[dict[str, Any], AfterValidator(_lists_files)] = Field(
        default_factory=dict, description="Alias of `variables`, which win where both give a name."
    )
    is_async: bool = Field(
        default=True, alias="async", description="false: starts at once, and the answer is the stream of events."
    )
    fail_strategy: FailStrategy | None = Field(default=None, description="Overrides the nodes' own strategies.")
    ttl_hours: float | None = Field(
        default=None,
        gt=0,
        le=_LONGEST_TTL_HOURS,
        description="How long files stay after the run's end; 720 by default.",
    )
    callback_url: str | None = Field(
        default=None,
        min_length=1,
        max_length=2000,
        description="An https address; the run's end is POSTed to it, signed (docs/callbacks.md).",
        examples=["https://example.com/runs/ended"],
    )

    @property
    def all_variables(self) -> dict[str, Any]:
        inputs = {name: value for name, value in self.inputs.items() if name != _UPLOADED}
        return inputs | self.variables

    @property
    def uploaded_paths(self) -> list[str | None]:
        """Paths for the files that were sent along, in their order."""
        return [_path_of(each) for each in self.inputs.get(_UPLOADED) or ()]


class ChatBody(DataModel):
    """A new chat session."""

    workflow: str = Field(min_length=1, max_length=64, description="The workflow's name, or its number.")
    title: str = Field(default="", max_length=200)


class SayBody(RunBody):
    """A message of a person, answered by a run. The run gets it as `chat.message`, and what was said before as
    `chat.history`: `[{role, content}]`, oldest first."""

    message: str = Field(min_length=1, max_length=50_000, description="What the person says.")


class UploadBody(DataModel):
    """A file that will be uploaded."""

    path: str = Field(description="Where it goes in the run's workspace.", examples=["data/report.md"])
    size: int = Field(ge=0, description="In bytes, exactly.")


class UploadsBody(DataModel):
    """Files that will be uploaded before the run starts."""

    files: list[UploadBody] = Field(min_length=1, max_length=_MOST_UPLOADS)


class ViewTokenBody(DataModel):
    """A view token of one run."""

    ttl_seconds: int = Field(default=3600, ge=1, le=3600, description="How long the token lives.")
    resume: bool = Field(default=False, description="Whether it may answer the run's questions too.")


class KeyBody(DataModel):
    """A new API key."""

    name: str = Field(default="", max_length=200, description="What it is for, to be recognised in lists.")
    scopes: list[Scope] = Field(
        default_factory=_runs_only,
        min_length=1,
        max_length=10,
        description="`run`: calls workflows; `admin`: the platform's own API too.",
    )
    workflows: list[Annotated[str, AfterValidator(_is_workflow)]] | None = Field(
        default=None, max_length=500, description="Names of the only workflows it may call; all by default."
    )
