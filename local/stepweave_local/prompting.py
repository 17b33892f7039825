"""Asking the person at the terminal what a run asks, and sending the answer."""

from rich.text import Text as Words

from stepweave.texts import Text
from stepweave_local.addresses import path
from stepweave_local.board import Visit
from stepweave_local.command_error import CommandError, ServerRefused
from stepweave_local.questions import Question
from stepweave_local.session import Session

_GONE = {"CLARIFY_ALREADY_ANSWERED", "CLARIFY_NOT_FOUND", "RUN_ALREADY_FINISHED"}


class Prompter:
    """One question at a time. It never blocks: `listen` is called again and again until the answer is there.

    Without a terminal the answers are the lines of the standard input, in the order of the questions.
    """

    def __init__(self, session: Session, run_id: str) -> None:
        self._session = session
        self._run_id = run_id
        self._asking: Question | None = None
        self._settled: set[str] = set()
        self._nobody = False
        self.answered: set[str] = set()
        """The questions that have their answers, from here or from elsewhere."""

    @property
    def _at_terminal(self) -> bool:
        return self._session.answers.is_terminal and self._session.err.is_terminal

    @property
    def asking(self) -> str | None:
        """The id of the question at the prompt."""
        return self._asking.clarify_id if self._asking else None

    def wants(self, visit: Visit) -> bool:
        """Whether the visit has a question that was not dealt with here."""
        return not self._nobody and visit.question is not None and visit.question.clarify_id not in self._settled

    def stands(self, visit: Visit) -> bool:
        """Whether the server still waits for the answer: the events of a run that is looked at late may be old."""
        assert visit.question is not None
        state = self._session.client.call("GET", path("api", "v1", "runs", self._run_id, "state"))
        pauses = state.get("pauses") or [state.get("currentPause")]
        if any(pause and pause.get("clarifyId") == visit.question.clarify_id for pause in pauses):
            return True
        self._settled.add(visit.question.clarify_id)
        return False

    def ask(self, visit: Visit) -> None:
        self._asking = visit.question
        if self._at_terminal and self._asking is not None:
            self._session.err.print()
            self._session.err.print(self._asking.view(visit.title, self._session.say))
            self._prompt()

    def withdraw(self) -> None:
        """The question was answered elsewhere, or its run is over."""
        if self._asking is None:
            return
        self._settle()
        if self._at_terminal:
            self._session.err.print()
            self._session.note(Text("  该问题不再需要回答。", "  This question needs no answer any more."))

    def listen(self) -> bool:
        """Whether the question is dealt with. Raises `CommandError` when the answer cannot be sent."""
        question = self._asking
        if question is None:
            return True
        try:
            line = self._session.answers.next(0)
        except EOFError:
            self._nobody = True
            self._settle()
            self._tell_nobody(question)
            return True
        if line is None:
            return False
        try:
            answer = question.answer(line)
            self._send(question, answer)
        except CommandError as error:
            if isinstance(error, ServerRefused) and error.refusal != "CLARIFY_ANSWER_INVALID":
                raise
            self._session.note(Text(f"  {error.text.zh}", f"  {error.text.en}"), style="yellow")
            self._prompt()
            return False
        self.answered.add(question.clarify_id)
        self._settle()
        if self._at_terminal:
            self._session.err.print()
        return True

    def _send(self, question: Question, answer: str | list[str]) -> None:
        body = {"clarifyId": question.clarify_id, "answer": answer}
        try:
            told = self._session.client.call("POST", path("api", "v1", "runs", self._run_id, "resume"), body)
        except ServerRefused as error:
            if error.refusal not in _GONE:
                raise
            self._session.note(Text("  该问题已在别处得到回答。", "  This question was answered elsewhere."))
            return
        if not told["accepted"]:
            self._session.note(
                Text("  回答已保存，运行稍后继续。", "  The answer is stored; the run goes on in a while.")
            )

    def _settle(self) -> None:
        if self._asking is not None:
            self._settled.add(self._asking.clarify_id)
        self._asking = None

    def _prompt(self) -> None:
        if self._asking is not None and self._at_terminal:
            self._session.err.print(Words(self._asking.prompt(self._session.say), style="cyan"), end="")

    def _tell_nobody(self, question: Question) -> None:
        run = self._run_id
        page = f"{self._session.endpoint.url}/ui/runs/{run}"
        self._session.err.print(
            Words(
                self._session.say(
                    Text(
                        f"运行 {run} 在等待回答，而这里无人可答（{question.words}）：请在 {page} 回答，或在终端中运行 `stepweave runs watch {run}`。",
                        f"Run {run} waits for an answer that nobody gives here ({question.words}): answer it at {page}, or run `stepweave runs watch {run}` in a terminal.",
                    )
                )
            )
        )
