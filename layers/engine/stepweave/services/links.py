"""Paths of the external API that answers, events and callbacks name; always with the workflow's name (contract §4)."""

from dataclasses import dataclass

from stepweave.execution.run import Run

EXTERNAL = "/api/v1"


@dataclass(frozen=True, slots=True)
class RunLinks:
    workflow: str
    run_id: str

    @staticmethod
    def of(run: Run) -> "RunLinks":
        return RunLinks(run.workflow, run.run_id)

    @property
    def result(self) -> str:
        return f"{EXTERNAL}/workflows/{self.workflow}/runs/{self.run_id}"

    @property
    def start(self) -> str:
        return f"{self.result}/start"

    @property
    def stream(self) -> str:
        return f"{self.result}/stream"

    @property
    def workspace(self) -> str:
        return f"{self.result}/workspace"

    @property
    def output(self) -> str:
        """The run's output, whatever its size."""
        return f"{self.result}/output"

    def page(self, view_token: str) -> str:
        """Where a browser shows the run, framed by another page if that is wanted."""
        return f"/ui/runs/{self.run_id}?embed=1&viewToken={view_token}"

    def logs(self, node_id: str) -> str:
        return f"{self.result}/nodes/{node_id}/logs"

    def node_output(self, node_id: str, visit_uuid: str) -> str:
        """The output of one visit, whatever its size."""
        return f"{self.result}/nodes/{node_id}/output?visitUuid={visit_uuid}"
