"""What trials count as: at the gate, in training, and in the suite (rule 5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.challenges import load_challenges
from arena.posttrain.evaluate import Score, settle
from arena.posttrain.faults import AuthorFault, PlatformFault
from arena.posttrain.gate import gate_result
from arena.posttrain.grpo import training_reward
from arena.runs.worker import sandbox_caps
from arena.sandbox import TrialResult
from arena.sandbox.replay import judge

ROOT = Path(__file__).parents[2]
SCORED = TrialResult(1.0, None, "")
PARTLY = TrialResult(0.5, None, "")
FAILED = TrialResult(0.0, None, "")
AGENT = TrialResult(0.0, "agent", "the agent's files cannot be copied")
LATE = TrialResult(0.0, None, "the agent took longer than 10 s; verified")
VERIFIER = TrialResult(None, "verifier", "reward.txt holds 'x'")
PLATFORM = TrialResult(None, "platform", "no engine")

ZERO, ERRORED, MISSING = Score(0.0, False), Score(0.0, True), Score(None, False)


@pytest.mark.parametrize(
    ("result", "oracle_passed", "score"),
    [
        (SCORED, True, Score(1.0, False)),
        (SCORED, False, Score(1.0, False)),
        (PARTLY, True, Score(0.5, False)),
        (FAILED, True, ZERO),
        (AGENT, True, ERRORED),
        (AGENT, False, ERRORED),
        (VERIFIER, True, ERRORED),
        (VERIFIER, False, MISSING),
        (PLATFORM, True, MISSING),
        (PLATFORM, False, MISSING),
    ],
)
def test_suite_trials(result: TrialResult, oracle_passed: bool, score: Score) -> None:
    assert settle(result, oracle_passed) == score


@pytest.mark.parametrize(
    ("solved", "idle", "reason"),
    [
        (SCORED, FAILED, ""),
        (SCORED, PARTLY, ""),
        (PARTLY, FAILED, "the oracle scores 0.5, not 1.0"),
        (VERIFIER, FAILED, "the verifier gave no valid reward for the oracle"),
        (FAILED, FAILED, "the oracle scores 0, not 1.0"),
        (AGENT, FAILED, "the oracle scores 0, not 1.0 (the agent's files cannot be copied)"),
        (LATE, FAILED, "the oracle scores 0, not 1.0 (the agent took longer than 10 s; verified)"),
        (SCORED, SCORED, "the untouched environment scores 1.0"),
        (SCORED, VERIFIER, "the verifier gave no valid reward for the untouched environment"),
    ],
)
def test_the_gate(solved: TrialResult, idle: TrialResult, reason: str) -> None:
    result = gate_result("write-apple", judge([solved], [idle]))
    assert result.ok == (reason == "")
    assert result.reason.startswith(reason)
    assert (result.oracle, result.untouched) == (solved.reward, idle.reward)


@pytest.mark.parametrize("trials", [(PLATFORM, FAILED), (SCORED, PLATFORM)])
def test_a_gate_trial_that_cannot_run_is_not_the_authors(
    trials: tuple[TrialResult, TrialResult],
) -> None:
    with pytest.raises(PlatformFault, match="write-apple"):
        gate_result("write-apple", judge([trials[0]], [trials[1]]))


def test_a_verifier_that_changes_its_mind_is_flaky() -> None:
    found = judge([SCORED, SCORED], [FAILED, SCORED])
    assert (found.verdict, found.untouched) == ("flaky", (0.0, 1.0))
    assert "scores 0, 1 in 2 repeats" in found.reason


@pytest.mark.parametrize(("result", "reward"), [(SCORED, 1), (PARTLY, 0.5), (AGENT, 0)])
def test_training_rewards(result: TrialResult, reward: float) -> None:
    assert training_reward("write-apple", result) == reward


def test_a_missing_training_reward_is_the_authors_fault() -> None:
    with pytest.raises(AuthorFault, match="write-apple"):
        training_reward("write-apple", VERIFIER)


def test_a_training_trial_that_cannot_run_is_the_platforms_fault() -> None:
    with pytest.raises(PlatformFault):
        training_reward("write-apple", PLATFORM)


def test_the_gate_gives_an_oracle_the_time_that_its_replay_had() -> None:
    """The seconds of the measurement bound the suite's tasks, in both arms, and nothing else."""
    challenge = load_challenges(ROOT / "challenges").challenges["demo"]
    hasty = challenge.evaluation.model_copy(update={"timeout_sec": 1.0})
    training, suite = sandbox_caps(challenge.model_copy(update={"evaluation": hasty}))
    assert training.agent_timeout_sec == challenge.sandbox.training.agent_timeout_sec
    assert suite.agent_timeout_sec == 1.0
    assert not suite.network
