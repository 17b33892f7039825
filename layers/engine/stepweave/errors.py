"""One family of errors: `code` is what the API answers (contract §4), `retryable` what the runtime does about it."""

from typing import Any, ClassVar

from stepweave.texts import Text


class StepweaveError(Exception):
    """Base of every error the engine raises on purpose."""

    code: ClassVar[str] = "INTERNAL_ERROR"
    retryable: ClassVar[bool] = False

    def __init__(self, text: Text | str, *, data: Any = None) -> None:
        self.text = Text.same(text) if isinstance(text, str) else text
        self.data = data
        super().__init__(str(self.text))


class ValidationFailed(StepweaveError):
    code = "VALIDATION_FAILED"


class GraphInvalid(StepweaveError):
    """`problems` holds every `graph.problem.Problem` found, never only the first (contract §2)."""

    code = "GRAPH_INVALID"

    def __init__(self, text: Text | str, problems: list[Any]) -> None:
        super().__init__(text)
        self.problems = problems


class Unauthorized(StepweaveError):
    code = "UNAUTHORIZED"


class WorkflowNotFound(StepweaveError):
    code = "WORKFLOW_NOT_FOUND"


class RunNotFound(StepweaveError):
    code = "RUN_NOT_FOUND"


class NodeNotFound(StepweaveError):
    code = "NODE_NOT_FOUND"


class ClarifyNotFound(StepweaveError):
    code = "CLARIFY_NOT_FOUND"


class ClarifyAlreadyAnswered(StepweaveError):
    code = "CLARIFY_ALREADY_ANSWERED"


class ClarifyAnswerInvalid(StepweaveError):
    code = "CLARIFY_ANSWER_INVALID"


class RunAlreadyStarted(StepweaveError):
    code = "RUN_ALREADY_STARTED"


class RunAlreadyFinished(StepweaveError):
    code = "RUN_ALREADY_FINISHED"


class IdempotencyConflict(StepweaveError):
    code = "IDEMPOTENCY_CONFLICT"


class NameTaken(StepweaveError):
    code = "NAME_TAKEN"


class PayloadTooLarge(StepweaveError):
    code = "PAYLOAD_TOO_LARGE"


class UnsupportedMediaType(StepweaveError):
    code = "UNSUPPORTED_MEDIA_TYPE"


class RateLimited(StepweaveError):
    """A key does more than it may; `retry_after` is in seconds."""

    code = "RATE_LIMITED"

    def __init__(self, text: Text | str, *, retry_after: int) -> None:
        super().__init__(text)
        self.retry_after = retry_after


class NotFound(StepweaveError):
    """What the contract has no code of its own for: an unknown route, an API key that does not exist."""

    code = "NOT_FOUND"


class SettingInvalid(StepweaveError):
    """A bad setting stops the start with one sentence that names it (contract §7)."""


class Superseded(StepweaveError):
    """A second invocation of the same step has overtaken this one (protocol rule F).

    The platform must call the step again: only the newest invocation may say how the chain goes on.
    """

    retryable = True


class Unavailable(StepweaveError):
    """The store could not be reached or refused for load; the platform calls the step again."""

    retryable = True
