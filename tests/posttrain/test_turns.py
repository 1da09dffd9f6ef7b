"""Several turns with tool calls in real containers, from what is sampled to what is trained on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from trl import GRPOTrainer

from arena.challenges import Challenge, Generation, LoraSettings, Recipe
from arena.packages import TaskPackage, load_packages
from arena.posttrain.conversation import Dialect
from arena.posttrain.demonstrations import by_oracle, demonstrate
from arena.posttrain.events import WordyProgress
from arena.posttrain.formats import ToolCalls, command_of
from arena.posttrain.grpo import reinforce
from arena.posttrain.model import Policy, make_deterministic
from arena.posttrain.rollouts import Limits, Rollout, Voice, told
from arena.posttrain.sft import labelled
from arena.posttrain.trainers import counting
from arena.posttrain.trials import Crew
from arena.sandbox import Sandbox, Step
from local.demo.tasks import write_collection
from tests.posttrain.runs import run, tiny

TURNS = 3


def of_qwen() -> tuple[Challenge, Recipe]:
    """The tiny demo run with tool calls, several turns, and an adapter."""
    challenge, recipe = tiny()
    evaluation = challenge.evaluation.model_copy(update={"max_turns": TURNS})
    changed = {
        "generation": Generation(format="tool-calls", max_new_tokens=16, max_tokens=4096),
        "lora": LoraSettings(rank=2, alpha=4, target_modules=("q_proj", "down_proj")),
        "sft": recipe.sft.model_copy(update={"max_length": 4096}),
    }
    return challenge.model_copy(update={"evaluation": evaluation}), recipe.model_copy(
        update=changed
    )


@pytest.fixture
def policy(qwen: Path) -> Policy:
    make_deterministic(0, 2)
    return Policy.load(qwen, of_qwen()[1])


@pytest.fixture
def packages(tmp_path: Path) -> list[TaskPackage]:
    write_collection(tmp_path / "collection", 2)
    return load_packages(tmp_path / "collection")


class Scripted:
    """Answers as told: every other attempt does the task in two turns, the others waste three."""

    def __init__(self, dialect: Dialect, packages: Sequence[TaskPackage]) -> None:
        self._dialect = dialect
        self._oracles = {tuple(dialect.opening(p.prompt)): p.oracle() for p in packages}
        self._asked = 0

    def refresh(self) -> None:
        pass

    def sample(
        self, context: Sequence[int], seeds: Sequence[int], *_limits: Any
    ) -> list[list[int]]:
        turn = self._dialect.turn
        if tuple(context) not in self._oracles:
            text = self._dialect.tokenizer.decode(context)
            return [turn(None if "exit code 0" in text else "false")]
        right = turn(command_of(self._oracles[tuple(context)]))
        return [right if place % 2 else turn("false") for place, _ in enumerate(seeds)]


@pytest.mark.docker
def test_what_the_loss_sees_is_what_was_exchanged(
    policy: Policy,
    packages: list[TaskPackage],
    docker_engine: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dialect = Dialect(policy.tokenizer, ToolCalls(policy.tokenizer))
    recipe = of_qwen()[1]
    limits = Limits.of(recipe.generation, TURNS)
    voice = Voice(Scripted(dialect, packages), dialect, limits, 1.0)
    rolled, seen = _spied(monkeypatch)
    with Sandbox(docker_engine, 4) as sandbox:
        crew = Crew(sandbox, lambda: False)
        progress = WordyProgress("grpo", lambda _event: None)
        updates = reinforce(policy, packages, voice, recipe, 0, tmp_path / "out", crew, progress)
    assert [step.reward for step in updates.steps] == [0.5, 0.5]
    assert [step.groups_with_spread for step in updates.steps] == [2, 2]
    assert counting(updates.steps) == 2
    for rollout in rolled:
        solved = rollout.result.reward == 1.0
        assert [s.command == "false" for s in rollout.result.steps] == [not solved] * (
            1 if solved else TURNS
        )
    assert sorted(_exchanged(rolled)) == sorted(seen)


def _spied(monkeypatch: pytest.MonkeyPatch) -> tuple[list[Rollout], list[Any]]:
    """The rollouts that are made, and the rows that TRL's loss is given."""
    rolled: list[Rollout] = []
    seen: list[Any] = []
    from arena.posttrain import grpo

    make, loss = grpo.roll_out, GRPOTrainer.compute_loss

    def making(*args: Any, **options: Any) -> list[Rollout]:
        made = make(*args, **options)
        rolled.extend(made)
        return made

    def losing(self: Any, model: Any, inputs: Any, *args: Any, **options: Any) -> Any:
        parts = ("prompt_ids", "prompt_mask", "completion_ids", "completion_mask", "tool_mask")
        for row in zip(*(inputs[part].tolist() for part in parts), strict=True):
            seen.append(_unpadded(*row))
        return loss(self, model, inputs, *args, **options)

    monkeypatch.setattr(grpo, "roll_out", making)
    monkeypatch.setattr(GRPOTrainer, "compute_loss", losing)
    return rolled, seen


def _unpadded(prompt: Any, prompt_mask: Any, ids: Any, mask: Any, own: Any) -> Any:
    rows = zip(ids, mask, own, strict=True)
    kept = [(token, sampled) for token, there, sampled in rows if there]
    return [t for t, there in zip(prompt, prompt_mask, strict=True) if there], kept


def _exchanged(rolled: list[Rollout]) -> list[Any]:
    return [(r.prompt_ids, list(zip(r.completion_ids, r.mask, strict=True))) for r in rolled]


@pytest.mark.docker
def test_a_demonstration_is_the_oracle_as_turns_that_were_carried_out(
    policy: Policy, packages: list[TaskPackage], docker_engine: str
) -> None:
    dialect = Dialect(policy.tokenizer, ToolCalls(policy.tokenizer))
    limits = Limits.of(of_qwen()[1].generation, TURNS)
    with Sandbox(docker_engine, 2) as sandbox:
        crew = Crew(sandbox, lambda: False)
        progress = WordyProgress("sft", lambda _event: None)
        by = by_oracle(dialect)
        made = demonstrate(packages, by, dialect, limits, 4096, crew, progress)
        too_long = demonstrate(packages, by, dialect, limits, 100, crew, progress)
    assert not too_long
    for package, rollout in zip(packages, made, strict=True):
        command = command_of(package.oracle())
        assert [step.command for step in rollout.result.steps] == [command]
        row = labelled(rollout)
        learned = [label for label in row["labels"] if label != -100]
        assert learned == dialect.turn(command) + dialect.turn(None)
        assert len(row["labels"]) == len(row["input_ids"])


@pytest.mark.docker
def test_a_whole_run_of_several_turns_says_what_did_not_teach(
    qwen: Path, docker_engine: str, tmp_path: Path
) -> None:
    report, _ = run(*of_qwen(), qwen, tmp_path, docker_engine, tasks=2)
    training = report.training
    assert (training.demonstrations, training.sft_updates) == (2, training.sft_steps)
    # A random model solves nothing: no group has spread, and no step of GRPO counts.
    assert (training.grpo_steps, training.grpo_updates) == (2, 0)
    assert all(point.groups_with_spread == 0 for point in training.reward_curve)
    assert training.weights_changed
    assert all("lora" in tensor.name for tensor in training.tensors)
    assert any(tensor.change > 0 for tensor in training.tensors)
    assert {trial.reward for trial in report.trials} == {0.0}


@pytest.mark.parametrize(
    ("output", "heard"),
    [
        ("hello\n", "exit code 0\nhello"),
        ("", "exit code 0"),
        ("abcdefghij", "exit code 0\nabc\n[4 characters left out]\nhij"),
    ],
)
def test_the_middle_of_a_long_output_is_left_out(output: str, heard: str) -> None:
    assert told(Step("command", 0, output), most=6) == heard
