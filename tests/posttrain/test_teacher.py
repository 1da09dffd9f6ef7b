"""A teacher behind an OpenAI-compatible endpoint: what it does is verified, in the student's ids."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI, HTTPException, Request

from arena.challenges import TeacherSettings
from arena.packages import TaskPackage, load_packages
from arena.posttrain import teacher
from arena.posttrain.conversation import Conversation, Dialect
from arena.posttrain.demonstrations import by_teacher, demonstrate
from arena.posttrain.events import WordyProgress
from arena.posttrain.faults import PlatformFault
from arena.posttrain.formats import ToolCalls, command_of
from arena.posttrain.model import Policy, make_deterministic
from arena.posttrain.rollouts import Limits
from arena.posttrain.teacher import Endpoint, Teacher, TeacherTurns
from arena.posttrain.trials import Crew
from arena.sandbox import Sandbox
from local.demo.tasks import write_collection
from tests.posttrain.test_turns import of_qwen
from tests.posttrain.tinyqwen import write_tiny_qwen

Answer = Callable[[dict[str, Any]], dict[str, Any]]
SETTINGS = TeacherSettings(model="a-teacher", attempts=2, temperature=0.5, max_new_tokens=99)


@dataclass
class Endpoints:
    """A server whose answers a test gives; `asked` holds what came, with its key."""

    url: str = ""
    answer: Answer = lambda _asked: {}
    asked: list[dict[str, Any]] = field(default_factory=list)

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.post("/v1/chat/completions")
        async def chat(request: Request) -> dict[str, Any]:
            asked = {**await request.json(), "key": request.headers["authorization"]}
            self.asked.append(asked)
            message = {"role": "assistant", "content": None, **self.answer(asked)}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            return {"id": "1", "object": "chat.completion", "created": 1, "model": "m"} | {
                "choices": [choice],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }

        return app


@pytest.fixture
def endpoint() -> Iterator[Endpoints]:
    found = Endpoints()
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        found.url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        server = uvicorn.Server(uvicorn.Config(found.app(), log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.02)
        yield found
        server.should_exit = True
        thread.join(10)


@pytest.fixture(scope="module")
def dialect(tmp_path_factory: pytest.TempPathFactory) -> Dialect:
    make_deterministic(0, 2)
    policy = Policy.load(write_tiny_qwen(tmp_path_factory.mktemp("qwen")), of_qwen()[1])
    return Dialect(policy.tokenizer, ToolCalls(policy.tokenizer))


@pytest.fixture
def packages(tmp_path: Path) -> list[TaskPackage]:
    write_collection(tmp_path / "collection", 2)
    return load_packages(tmp_path / "collection")


def call(name: str, arguments: str) -> dict[str, Any]:
    """A message that calls a tool."""
    function = {"name": name, "arguments": arguments}
    return {"tool_calls": [{"id": "call-1", "type": "function", "function": function}]}


def calling(command: str) -> dict[str, Any]:
    return call("shell", json.dumps({"command": command}))


def turns(endpoint: Endpoints, dialect: Dialect, key: str | None = "a key") -> TeacherTurns:
    return TeacherTurns(Teacher(Endpoint(endpoint.url, key), SETTINGS), dialect, seed=7)


@pytest.mark.docker
def test_what_a_teacher_does_is_used_where_the_verifier_passes_it(
    endpoint: Endpoints, dialect: Dialect, packages: list[TaskPackage], docker_engine: str
) -> None:
    """It fails each task at first, and does it after a look in another attempt."""
    oracles = {package.prompt: command_of(package.oracle()) for package in packages}
    seen: dict[str, int] = {}

    def answer(asked: dict[str, Any]) -> dict[str, Any]:
        messages = asked["messages"]
        prompt = messages[0]["content"]
        if len(messages) == 1:
            seen[prompt] = seen.get(prompt, 0) + 1
            return calling("false" if seen[prompt] == 1 else "pwd")
        if messages[-1]["content"].startswith("exit code 0\n/"):
            return calling(oracles[prompt])
        return {"content": "Done."}

    endpoint.answer = answer
    limits = Limits.of(of_qwen()[1].generation, 3)
    with Sandbox(docker_engine, 1) as sandbox:
        crew = Crew(sandbox, lambda: False)
        asked_of = Teacher(Endpoint(endpoint.url, "a key"), SETTINGS)
        said: list[str] = []
        progress = WordyProgress("sft", lambda _event: None, lambda _stage, line: said.append(line))
        by = by_teacher(asked_of, SETTINGS.attempts, dialect, seed=0)
        made = demonstrate(packages, by, dialect, limits, 4096, crew, progress)
    assert [[s.command for s in rollout.result.steps] for rollout in made] == [
        ["pwd", oracles[package.prompt]] for package in packages
    ]
    assert said == ["2 of 2 tasks have a demonstration"]
    asked = endpoint.asked[0]
    settings = ("model", "temperature", "max_tokens", "key")
    assert [asked[name] for name in settings] == ["a-teacher", 0.5, 99, "Bearer a key"]
    first = [a["seed"] for a in endpoint.asked if len(a["messages"]) == 1]
    assert len(set(first)) == 4, "each attempt has a seed of its own"


def test_a_teachers_turn_is_one_that_the_student_could_have_sampled(
    endpoint: Endpoints, dialect: Dialect
) -> None:
    endpoint.answer = lambda _asked: calling(" ls -l\n")
    made = Conversation(dialect, "List the files.")
    assert made.say(turns(endpoint, dialect)(made)) == "ls -l"


@pytest.mark.parametrize(
    "message",
    [
        {"content": "I would run ls."},
        {"tool_calls": []},
        calling("  "),
        call("shell", "{no json"),
        call("shell", '["ls"]'),
        call("browser", '{"command": "ls"}'),
    ],
)
def test_a_message_without_a_command_ends_the_attempt(
    endpoint: Endpoints, dialect: Dialect, message: dict[str, Any]
) -> None:
    endpoint.answer = lambda _asked: message
    made = Conversation(dialect, "List the files.")
    assert made.say(turns(endpoint, dialect)(made)) is None


def refusing(status: int, times: int) -> Answer:
    """Refuses so many times, then calls the shell."""
    left = iter(range(times))

    def answer(_asked: dict[str, Any]) -> dict[str, Any]:
        if next(left, None) is not None:
            raise HTTPException(status)
        return calling("ls")

    return answer


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teacher, "RETRY_SECONDS", 0.01)


@pytest.mark.usefixtures("quick")
def test_a_busy_endpoint_is_asked_again(endpoint: Endpoints, dialect: Dialect) -> None:
    endpoint.answer = refusing(503, times=2)
    made = Conversation(dialect, "List the files.")
    assert made.say(turns(endpoint, dialect)(made)) == "ls"
    assert len(endpoint.asked) == 3


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "answer",
    [
        refusing(503, times=99),
        refusing(401, times=99),
        lambda _asked: {"content": None, "tool_calls": "ls"},
        lambda _asked: {"content": None, "tool_calls": [{"function": {}}]},
    ],
)
def test_an_endpoint_that_gives_no_answer_is_the_platforms_fault(
    endpoint: Endpoints, dialect: Dialect, answer: Answer
) -> None:
    endpoint.answer = answer
    with pytest.raises(PlatformFault) as fault:
        turns(endpoint, dialect)(Conversation(dialect, "List the files."))
    assert fault.value.code == "teacher_failed"


@pytest.mark.usefixtures("quick")
def test_an_endpoint_that_is_not_there_is_the_platforms_fault(dialect: Dialect) -> None:
    with pytest.raises(PlatformFault, match="teacher gave no answer"):
        turns(Endpoints(url="http://127.0.0.1:9/v1"), dialect)(Conversation(dialect, "Look."))


def test_a_key_is_never_shown() -> None:
    assert "secret" not in repr(Endpoint("https://teacher/v1", "secret"))
