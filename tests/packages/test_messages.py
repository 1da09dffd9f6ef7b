"""What a finding says: the value found and what is meant, in words that an author uses."""

from pathlib import Path

import pytest

from arena.packages import check_package
from tests.collections import FILES, write_package
from tests.packages.changes import Changes, dockerfile, task

DESCRIPTION = FILES["verifier/verifier.md"]

MESSAGES: list[tuple[Changes, str, str]] = [
    (task("agent:\n  timeout_sec: 10\n", "agent: x\n"), "agent is 'x', and a mapping of keys is meant", "Write `agent:` with its keys below"),
    (task("timeout_sec: 10\nverifier", "timeout_sec:\nverifier"), "agent.timeout_sec is empty, and a number is meant", "`timeout_sec: 900`"),
    (task("timeout_sec: 10\nverifier", "timeout_sec: 15m\nverifier"), "agent.timeout_sec is '15m', and a number is meant, without a unit", "Seconds"),
    (task("memory_mb: 64", "memory_mb: 2G"), "environment.memory_mb is '2G', and a whole number is meant, without a unit", "Memory in MiB"),
    (task("environment:\n  memory_mb: 64", "sandbox:\n  memory_mb: 2G"), "sandbox.memory_mb is '2G', and a whole number is meant", "Memory in MiB"),
    (task("  memory_mb: 64", "  cpus: 0"), "environment.cpus is 0, and it must be more than 0", "`cpus: 1`"),
    (task("difficulty: easy", "difficulty: Easy"), "metadata.difficulty is 'Easy', and allowed are 'easy', 'medium' or 'hard'", "`difficulty: medium`"),
    (task("  origin: original", "  origin: original\n  tags: a, b"), "metadata.tags is 'a, b', and a list is meant", "`tags: [csv, statistics]`"),
    (task("  origin: original", "  origin: original\n  tags: [2024]"), "metadata.tags holds 2024, and a text is meant: put it in quotes", "metadata.tags"),
    (task("software-engineering", "cooking"), "metadata.category is 'cooking', which is none of the domains", "`category: natural-science`"),
    (task("Apache-2.0", "M" * 300), "it may have 200 characters", "SPDX"),
    (task("environment:", "artifacts: [out]\nenvironment:"), "artifacts: 'out' is no absolute path below /", "`artifacts: [/srv/site]`"),
    (task("environment:\n", "sandbox: x\nenvironment:\n"), "sandbox is 'x', and a mapping of keys is meant", "docs/spec/task-package.md"),
    (task('version: "1.0"\n', ""), "the key version is missing", "Required: version"),
    (task("  origin: original", "\torigin: original"), "found a tab character", "no tabs"),
    (task("  origin: original", "  origin: or\x1biginal"), "control characters are not allowed", "Mend the YAML"),
    (task("  origin: original", "  origin: a: b"), "mapping values are not allowed", "quotes around a text that holds ': '"),
    (task("Write the", "A.\n\n## prompt\n\nWrite the"), "the heading '## prompt' stands twice", "put it in a code fence"),
    ({"verifier/verifier.md": DESCRIPTION.replace("strategy: main", "strategy: other")}, "default_strategy 'other' is not declared; declared: main", "`default_strategy: main`"),
    ({"verifier/verifier.md": DESCRIPTION.replace("/verifier/test.sh", "/verifier/run.sh")}, "the command names '/verifier/run.sh', which is not in verifier/", "Add the file"),
    ({"verifier/verifier.md": "# No front matter\n"}, "does not begin with front matter", "Begin the file with a line of ---"),
    (dockerfile("COPPY a b"), "'COPPY' is no instruction", "Did you mean COPY?"),
    (dockerfile("RUN <<END", "true"), "the here-document 'END' does not end", "a line that holds 'END'"),
    ({"oracle/solve.sh": "#!/bin/sh\r\ntrue\r\n"}, "oracle/solve.sh has CRLF line ends", "oracle/solve.sh`"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message", "hint"), MESSAGES, ids=[m[1] for m in MESSAGES])
def test_a_message_is_plain(tmp_path: Path, changes: Changes, message: str, hint: str) -> None:
    [found] = check_package(write_package(tmp_path / "write-apple", changes)).findings
    assert message in found.message
    assert hint in found.hint
    assert "Input should" not in found.message


def test_an_empty_spelling_takes_nothing_from_the_other(tmp_path: Path) -> None:
    changes = task("environment:\n  memory_mb: 64", "environment:\nsandbox:\n  memory_mb: 64")
    package = check_package(write_package(tmp_path / "write-apple", changes)).package
    assert package is not None
    assert package.memory_mb == 64


def test_a_control_character_is_found_at_its_line(tmp_path: Path) -> None:
    changes = task("  origin: original", "  title: é\n  origin: or\x1biginal")
    [found] = check_package(write_package(tmp_path / "write-apple", changes)).findings
    assert (found.code, found.line) == ("TP002", 9)


def test_a_name_that_is_no_slug_gets_one(tmp_path: Path) -> None:
    [found] = check_package(write_package(tmp_path / "Write_an Apple")).findings
    assert "for example to write-an-apple" in found.hint
