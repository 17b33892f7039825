import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from stepweave.execution.cost import Price
from stepweave.execution.outcome import Outcome
from stepweave.execution.skill import Skill
from stepweave.execution.work import RunEnded
from stepweave.graph.model import Node
from stepweave.graph.spec import Field, NodeSpec
from stepweave.nodes.agent import Agent
from stepweave.nodes.smart_action import SmartAction
from stepweave.nodes.table import spec_of
from tests.builders.scopes import WrittenScope
from tests.unit.agents.visits import VisitPlayer, agent_node, tool
from tests.unit.agents.work import MemoryWorkspace, ModelsOf, RecordingWork, WrittenSkills

TODO_LIST = [{"text": "A", "status": "pending"}, {"text": "B", "status": "completed"}]


def run(*turns: list[Mapping[str, Any]], work: RecordingWork | None = None, **data: Any) -> Outcome:
    result = Agent().run(agent_node(*turns, **data), WrittenScope(), work or RecordingWork())
    assert isinstance(result, Outcome)
    return result


def problems(spec: NodeSpec = Agent(), **data: Any) -> list[str]:  # noqa: B008 - it holds nothing
    return [problem.message.en for problem in spec.problems(Node(id="n", type="agent", data=data))]


def logged(outcome: Outcome, *kinds: str) -> list[tuple[str, str]]:
    return [(entry["type"], entry["message"]) for entry in outcome.logs if not kinds or entry["type"] in kinds]


# What is saved


def test_the_types_have_chains_of_their_own_and_skill_is_another_name_for_agent() -> None:
    assert (Agent().light, Agent().chain) == (False, "agent")
    assert (SmartAction().light, SmartAction().chain) == (False, "smartAction")
    assert isinstance(spec_of("skill"), Agent)
    assert isinstance(spec_of("smartAction"), SmartAction)


def test_good_data_has_no_problems() -> None:
    servers = [{"name": "notes", "url": "https://mcp.example.org/mcp", "headers": {"X-Key": "k"}}]
    assert problems(model="openai:gpt-5") == []
    assert (
        problems(
            model="scripted:inline",
            skillName="write-report",
            instructions="i",
            prompt="{{p}}",
            tools=["todo", "list_files", "read_file", "write_file", "http_get", "clarify"],
            mcpServers=servers,
            maxSteps=5,
            maxTokens=100,
            maxTotalTokens=1000,
            temperature=1,
            script=[[{"text": "a"}]],
        )
        == []
    )
    assert problems(SmartAction(), model="openai:gpt-5", instruction="do", tools=["todo"]) == []


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, 'node "n": data.model is missing'),
        ({"model": "gpt-5"}, 'node "n": data.model must have the form provider:model'),
        ({"model": "scripted:inline"}, 'node "n": data.script must be an array of turns'),
        ({"model": "openai:x", "tools": ["todo", "shell"]}, 'node "n": data.tools[1] names no tool: shell'),
        ({"model": "openai:x", "tools": "todo"}, 'node "n": data.tools must be an array'),
        ({"model": "openai:x", "maxSteps": 0}, 'node "n": data.maxSteps must be at least 1'),
        ({"model": "openai:x", "skillName": "Write Report"}, 'node "n": data.skillName is no name of a skill'),
        ({"model": "openai:x", "mcpServers": [{"name": "a"}]}, 'node "n": data.mcpServers[0].url is missing'),
        (
            {"model": "openai:x", "mcpServers": [{"name": "a", "url": "file:///etc/passwd"}]},
            'node "n": data.mcpServers[0].url must be an http or https address',
        ),
        (
            {"model": "openai:x", "mcpServers": [{"name": "a", "url": "https://me:secret@example.org"}]},
            'node "n": data.mcpServers[0].url must be an http or https address without user or password',
        ),
        (
            {"model": "openai:x", "mcpServers": [{"name": "a", "url": "http://[bad"}]},
            'node "n": data.mcpServers[0].url must be an http or https address',
        ),
        (
            {"model": "openai:x", "mcpServers": [{"name": "a", "url": "http://a"}, {"name": "a", "url": "http://b"}]},
            'node "n": data.mcpServers[1].name repeats the name of an earlier one',
        ),
    ],
)
def test_bad_data_is_told_with_its_place(data: dict[str, Any], words: str) -> None:
    [problem] = problems(**data)
    assert problem.startswith(words)


def test_all_problems_are_told() -> None:
    assert len(problems(model="gpt", tools=["a", "b"], maxSteps="many", prompt=[])) == 5


def test_its_output_is_result_or_the_first_that_it_declares() -> None:
    assert Agent().outputs(agent_node()) == (Field("result"),)
    declared = [{"name": "title", "type": "number"}, {"name": "rest", "type": "string"}]
    assert Agent().outputs(agent_node(outputs=declared)) == (Field("title", "number"),)
    assert Agent().handles(agent_node()) is None


# What it gives


def test_the_text_of_the_last_turn_is_the_result_and_the_trace_holds_all_of_it() -> None:
    work = RecordingWork()
    outcome = run([{"thinking": "let me see"}, {"todo": TODO_LIST}], [{"text": "done"}], work=work, tools=["todo"])
    assert (outcome.status, outcome.whole) == ("SUCCESS", True)
    assert outcome.envelope["data"] == {"result": "done"}
    assert outcome.envelope["trace"] == {
        "thinking": "let me seedone",
        "tool_calls": [
            {"name": "todo", "args": {"todos": TODO_LIST}, "result": {"todos": 2, "completed": 1}, "success": True}
        ],
    }
    metadata = outcome.envelope["metadata"]
    assert (metadata["model"], metadata["attempts"], metadata["steps"]) == ("scripted:inline", 1, 2)
    assert metadata["durationMs"] > 0
    assert "cost" not in metadata


def test_the_readers_see_every_kind_of_step_in_order() -> None:
    work = RecordingWork()
    run([{"thinking": "hm"}, {"todo": TODO_LIST}], [{"text": "done"}], work=work, tools=["todo"])
    assert work.kinds() == [
        *("step", "thinking", "tool_call", "tool_progress", "todo_update", "tool_progress", "tool_result"),
        *("step", "thinking"),
    ]
    told = dict(zip(work.kinds()[2:7], work.events[2:7], strict=True))
    assert told["todo_update"][2] == TODO_LIST
    assert told["tool_call"][2] == {"todos": TODO_LIST}
    assert [data["event_type"] for kind, _, data in work.events if kind == "tool_progress"] == [
        "tool.started",
        "tool.completed",
    ]
    assert work.tool_names[2:7] == ["todo", "tool.started", "todo", "tool.completed", "todo"]
    assert work.streamed("step") == ['{"iteration": 1}', '{"iteration": 2}']


def test_the_log_tells_the_same_in_the_same_order() -> None:
    outcome = run([{"thinking": "hm"}, {"todo": TODO_LIST}], [{"text": "done"}], tools=["todo"])
    assert logged(outcome) == [
        ("STEP", "第 1 轮模型调用"),
        ("THINKING", "hm"),
        ("TOOL_CALL", "todo"),
        ("TODO_UPDATE", "todo"),
        ("TOOL_RESULT", "todo"),
        ("STEP", "第 2 轮模型调用"),
        ("THINKING", "done"),
    ]
    stamps = [entry["timestamp"] for entry in outcome.logs]
    assert stamps == sorted(stamps)


def test_instructions_and_prompt_are_templates() -> None:
    scope = WrittenScope({"first": {"found": ["a"]}}, {"topic": "tea"})
    node = agent_node([{"text": "$system|$prompt"}], instructions="on {{topic}}", prompt="use {{first.found}}")
    outcome = Agent().run(node, scope, RecordingWork())
    assert isinstance(outcome, Outcome)
    assert outcome.envelope["data"] == {"result": 'on tea|use ["a"]'}
    assert outcome.variables == {"topic": "tea", "first.found": ["a"]}


def test_a_smart_action_works_on_its_instruction() -> None:
    node = Node(
        id="n",
        type="smartAction",
        data={"model": "scripted:inline", "instruction": "do {{x}}", "script": [[{"text": "$prompt"}]]},
    )
    outcome = SmartAction().run(node, WrittenScope(inputs={"x": "it"}), RecordingWork())
    assert isinstance(outcome, Outcome)
    assert outcome.envelope["data"] == {"result": "do it"}


def test_a_single_output_is_converted_and_further_ones_warn() -> None:
    declared = [{"name": "score", "type": "number"}, {"name": "why", "type": "string"}]
    outcome = run([{"text": "3.5"}], outputs=declared)
    assert outcome.envelope["data"] == {"score": 3.5}
    [(_, warning)] = logged(outcome, "WARN")
    assert '"why"' in warning


def test_the_warning_of_a_resumed_agent_is_logged_once() -> None:
    declared = [{"name": "a"}, {"name": "b"}]
    outcome = VisitPlayer(
        Agent(),
        agent_node([{"ask": {"question": "?"}}], [{"text": "x{{ghost}}"}], outputs=declared, prompt="p{{ghost}}"),
    ).play()
    assert len(logged(outcome, "WARN")) == 2


def test_cost_is_told_where_the_price_table_knows_the_model() -> None:
    work = RecordingWork(models=ModelsOf(RecordingWork().models.settings, {"scripted:inline": Price(1.0, 1_000_000.0)}))
    outcome = run([{"text": "12345678"}], work=work)
    usage = outcome.envelope["metadata"]["usage"]
    assert usage["outputTokens"] == 2
    assert outcome.envelope["metadata"]["cost"] == pytest.approx(2 + usage["inputTokens"] / 1_000_000)


@pytest.mark.parametrize("prompt", ["", " \n", "{{missing}}"])
def test_a_blank_prompt_fails_before_the_model_is_called(prompt: str) -> None:
    work = RecordingWork()
    outcome = run([{"text": "never"}], work=work, prompt=prompt)
    assert (outcome.status, outcome.error, work.events) == ("FAILED", "用户提示词为空", [])


def test_a_blank_instruction_fails_a_smart_action() -> None:
    node = Node(id="n", type="smartAction", data={"model": "scripted:inline", "instruction": " ", "script": []})
    outcome = SmartAction().run(node, WrittenScope(), RecordingWork(language="en"))
    assert isinstance(outcome, Outcome)
    assert outcome.error == "the instruction is empty"


def test_a_blank_answer_fails() -> None:
    assert run([{"thinking": "only thoughts"}]).error == "LLM 返回空结果"


def test_a_run_that_has_ended_stops_the_node() -> None:
    with pytest.raises(RunEnded):
        run([{"text": "a"}, {"delayMs": 20000}], work=RecordingWork(ends_at_tick=1))


# Limits


def test_max_steps_ends_the_node_with_its_name_and_its_trace() -> None:
    work = RecordingWork()
    turns = [[{"thinking": f"{n} "}, {"todo": []}] for n in range(5)]
    outcome = run(*turns, work=work, tools=["todo"], maxSteps=3)
    assert outcome.status == "FAILED"
    assert outcome.error is not None
    assert "maxSteps（3）" in outcome.error
    assert not outcome.retryable
    assert outcome.envelope["trace"]["thinking"] == "0 1 2 "
    assert len(outcome.envelope["trace"]["tool_calls"]) == 3
    assert work.streamed("step") == [f'{{"iteration": {n}}}' for n in (1, 2, 3)]
    assert logged(outcome, "ERROR") == [("ERROR", outcome.error)]


def test_max_steps_counts_over_invocations() -> None:
    turns = [[{"ask": {"question": f"{n}?"}}] for n in range(5)]
    player = VisitPlayer(Agent(), agent_node(*turns, maxSteps=3))
    outcome = player.play()
    assert outcome.error is not None
    assert "maxSteps" in outcome.error
    assert len(player.asked) == 3


def test_a_limit_of_tokens_ends_the_node_before_the_next_request() -> None:
    outcome = run([{"text": "x" * 400}, {"todo": []}], [{"text": "never"}], tools=["todo"], maxTotalTokens=100)
    assert outcome.error is not None
    assert "maxTotalTokens（100）" in outcome.error
    assert outcome.envelope["trace"]["tool_calls"] != []


def test_a_long_trace_is_cut_field_by_field() -> None:
    work = RecordingWork(trace_limit=20)
    outcome = run(
        [{"text": "x" * 100}, tool("todo", todos=TODO_LIST)], [{"text": "y" * 100}], work=work, tools=["todo"]
    )
    trace = outcome.envelope["trace"]
    assert trace["truncated"] is True
    assert trace["thinking"] == "x" * 20
    assert trace["tool_calls"][0]["args"] == '{"todos": [{"text": "A", "status"'[:20]
    assert outcome.envelope["data"] == {"result": "y" * 100}


# Skills


def skilled(**files: str) -> RecordingWork:
    contents = {path.replace("__", "/").replace("_", "."): text.encode() for path, text in files.items()}
    sizes = {path: len(content) for path, content in contents.items()}
    skill = Skill("write-report", 3, "how to", "Use {{braces}}.", sizes)
    return RecordingWork(skills=WrittenSkills({"write-report": skill}, contents))


def test_the_skills_instructions_come_first_and_are_no_template() -> None:
    outcome = run([{"text": "$system"}], work=skilled(), skillName="write-report", instructions="Be brief.")
    assert outcome.envelope["data"] == {"result": "Use {{braces}}.\n\nBe brief."}
    assert logged(outcome, "INFO") == [("INFO", "使用技能 write-report，版本 3")]


def test_an_agent_is_told_of_the_files_of_its_skill_and_reads_them_and_nothing_else() -> None:
    work = skilled(notes__style_md="plain words")
    work.workspace = MemoryWorkspace({"secret.txt": b"s"})
    outcome = run(
        [tool("read_file", path="skills/write-report/notes/style.md"), tool("read_file", path="secret.txt")],
        [{"text": "$system"}],
        work=work,
        skillName="write-report",
    )
    assert "- skills/write-report/notes/style.md" in outcome.envelope["data"]["result"]
    first, second = outcome.envelope["trace"]["tool_calls"]
    assert first["result"]["text"] == "plain words"
    assert (second["success"], "secret.txt" in second["result"]) == (False, True)


def test_files_of_a_skill_are_listed_with_those_of_the_run_and_cannot_be_written() -> None:
    work = skilled(a_md="x")
    work.workspace = MemoryWorkspace({"b.txt": b"b"})
    outcome = run(
        [tool("list_files"), tool("write_file", path="skills/write-report/a.md", content="mine")],
        [{"text": "ok"}],
        work=work,
        skillName="write-report",
        tools=["list_files", "write_file"],
    )
    listed, written = outcome.envelope["trace"]["tool_calls"]
    assert [file["path"] for file in listed["result"]["files"]] == ["b.txt", "skills/write-report/a.md"]
    assert not written["success"]
    assert set(work.workspace.files) == {"b.txt"}


def test_a_skill_that_does_not_exist_fails_the_node_by_name() -> None:
    outcome = run([{"text": "never"}], skillName="no-such-skill", work=RecordingWork(language="en"))
    assert outcome.error is not None
    assert '"no-such-skill"' in outcome.error


def test_no_large_library_is_imported_to_validate_an_agent() -> None:
    large = "{'pydantic_ai', 'mcp', 'httpx2', 'yaml', 'jsonschema', 'boto3'}"
    script = (
        "import sys; from stepweave.nodes import table; from stepweave.graph.model import Node; "
        "table.spec_of('agent').problems(Node(id='n', type='agent', data={'model': 'openai:x', 'skillName': 'a'})); "
        f"print(sorted({large} & set(sys.modules)))"
    )
    told = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert told.stdout.strip() == "[]"
