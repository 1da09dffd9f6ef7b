"""Agents that try to score without doing the task, each with an honest one beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from arena.packages import TaskPackage
from arena.sandbox import Sandbox, TrialResult, scripted

WORK = "echo amber > /root/answer.txt"
REWARD = "mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt"

# What a verifier must not run. Each leaves a reward in both places, so that one which the verifier
# overwrites is seen too; says 1 and its name; and ends whatever ran it with success.
SCORE = """\
import os
os.makedirs("/logs/verifier", exist_ok=True)
with open("/logs/verifier/reward.txt", "w") as text, open("/logs/verifier/reward.json", "w") as data:
    text.write("1"); data.write('{"reward": 1}')
print(1, flush=True)
os.write(2, f"hostile code ran: {globals().get('__file__')}\\n".encode())
os._exit(0)
"""
FAKE = """\
#!/bin/bash -p
/bin/mkdir -p /logs/verifier
echo 1 > /logs/verifier/reward.txt
echo '{"reward": 1}' > /logs/verifier/reward.json
echo "hostile code ran: $0" >&2
echo 1
"""


@dataclass(frozen=True)
class Attack:
    """What a hostile agent does, and an honest one in the same circumstances: in which package."""

    commands: tuple[str, ...]
    honest: tuple[str, ...]
    package: str


@dataclass(frozen=True)
class Outcome:
    """What the two came to."""

    attacked: TrialResult
    honest: TrialResult


def attack(
    *commands: str, honest: Sequence[str] | None = None, package: str = "plain", work: str = WORK
) -> Attack:
    """Without `honest`, the honest agent does the work first and then the very same."""
    return Attack(commands, tuple(honest or ("\n".join([work, *commands]),)), package)


def first(*commands: str, package: str = "plain", work: str = WORK) -> Attack:
    """An attack after which an honest agent can still do the work."""
    return attack(*commands, honest=["\n".join([*commands, work])], package=package)


def plant(files: Mapping[str, str], mode: str = "644") -> str:
    """A command that writes files, each by its absolute path."""
    return "\n".join(
        f"mkdir -p {quote(str(Path(path).parent))}; rm -f {quote(path)}; "
        f"printf %s {quote(text)} > {quote(path)}; chmod {mode} {quote(path)}"
        for path, text in files.items()
    )


def outcomes(
    sandbox: Sandbox, packages: Mapping[str, TaskPackage], attacks: Mapping[str, Attack]
) -> dict[str, Outcome]:
    """Every attack and its honest twin, several at a time, each in a trial of its own."""
    scripts = [
        (packages[one.package], commands)
        for one in attacks.values()
        for commands in (one.commands, one.honest)
    ]
    results = sandbox.map(lambda script: sandbox.trial(script[0], scripted(script[1])), scripts)
    pairs = zip(results[::2], results[1::2], strict=True)
    return {name: Outcome(*pair) for name, pair in zip(attacks, pairs, strict=True)}


def told(result: TrialResult) -> str:
    """What there is to read where a trial came out otherwise than it should."""
    steps = [
        f"$ {step.command[:400]}\n[{step.exit_code}] {step.output[-400:]}" for step in result.steps
    ]
    lines = [f"reward {result.reward}, fault {result.fault}: {result.detail}", *steps]
    return "\n".join([*lines, f"the verifier said: {result.verifier_output[-2000:]}"])


def assert_worth_nothing(result: TrialResult) -> None:
    """0, and neither missing nor the verifier's fault: both would pay the agent."""
    assert result.reward == 0.0, told(result)
    assert result.fault in (None, "agent"), told(result)


def assert_solved(result: TrialResult) -> None:
    assert (result.reward, result.fault) == (1.0, None), told(result)
