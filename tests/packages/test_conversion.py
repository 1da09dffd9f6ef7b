"""Tasks of other formats become sound packages, and nothing of them is lost silently."""

from __future__ import annotations

import os
import re
import subprocess
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from arena.packages import check_package
from arena.packages.conversion import (
    ConversionReport,
    DestinationInUse,
    NoTask,
    NotConverted,
    convert,
    recognise_format,
)
from arena.packages.conversion.harbor_fields import HARBOR_FIELDS
from arena.packages.conversion.terminal_bench_fields import (
    CLIENT_FIELDS,
    COMPOSE_FIELDS,
    SOLUTION_FIELDS,
    TASK_FIELDS,
)
from arena.packages.document import parse_document, prompt_of
from arena.packages.schema import Domain
from arena.packages.yamltext import load_yaml
from tests.packages.foreign import HARBOR, SOLUTION_YAML, STEPS, TERMINAL_BENCH, write_task

ROOT = Path(__file__).parents[2]
SPEC = ROOT / "docs" / "spec" / "conversion.md"


def keys(data: Any, above: str = "") -> list[str]:
    """Every key with a value, told on its own terms: not by the code under test."""
    if isinstance(data, dict) and data:
        found = []
        for key, value in data.items():
            name = key if re.fullmatch(r"[\w-]+", key) else f'"{key}"'
            found += keys(value, f"{above}.{name}" if above else name)
        return found
    if isinstance(data, list) and any(isinstance(item, dict) for item in data):
        return [k for i, item in enumerate(data) for k in keys(item, f"{above}[{i}]")]
    return [above]


def reported(report: ConversionReport) -> list[str]:
    return [*report.carried, *(m.origin for m in report.mapped), *(x.what for x in report.left)]


def front_of(folder: Path) -> dict[str, Any]:
    return parse_document((folder / "task.md").read_text(encoding="utf-8")).front_matter


def prompt_in(folder: Path) -> str:
    return prompt_of(parse_document((folder / "task.md").read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("files", "more"),
    [
        (HARBOR, {}),
        (STEPS, {}),
        (TERMINAL_BENCH, {}),
        (TERMINAL_BENCH, {"solution.sh": None, "solution.yaml": SOLUTION_YAML}),
    ],
    ids=["harbor", "steps", "terminal-bench", "solution.yaml"],
)
def test_every_field_and_file_is_reported_once(
    tmp_path: Path, files: dict[str, str], more: dict[str, Any]
) -> None:
    source = write_task(tmp_path / "source", files, more)
    report = convert(source, tmp_path / "made")
    expected = [p.relative_to(source).as_posix() for p in source.rglob("*") if p.is_file()]
    if "task.toml" in files:
        expected += [f"task.toml: {key}" for key in keys(tomllib.loads(files["task.toml"]))]
    else:
        for name in {"task.yaml", "docker-compose.yaml", "solution.yaml"} & set(expected):
            data = load_yaml((source / name).read_text(encoding="utf-8")).data
            if name == "docker-compose.yaml":  # a list of NAME=value is told name by name
                client = data["services"]["client"]
                client["environment"] = {e.partition("=")[0]: 1 for e in client["environment"]}
            expected += [f"{name}: {key}" for key in keys(data)]
    if "# a canary line" in next(iter(files.values())):
        expected.append(f"{next(iter(files))}: comments")
    assert sorted(reported(report)) == sorted(expected)


def test_a_harbor_task_becomes_a_sound_package(tmp_path: Path) -> None:
    source = write_task(tmp_path / "source", HARBOR)
    report = convert(source, tmp_path / "rotate-logs")
    made = tmp_path / "rotate-logs"
    assert [f for f in report.findings if f.severity == "error"] == []
    package = check_package(made).package
    assert package is not None
    assert package.domain is Domain.SOFTWARE_ENGINEERING
    assert package.licence == "MIT"
    assert (package.cpus, package.memory_mb, package.storage_mb) == (2, 2048, 1536)
    assert (package.agent_timeout_sec, package.verifier_timeout_sec) == (1200, 120)
    assert package.artifacts == ("/srv/out", "/srv/log", "/srv")
    assert package.allow_internet
    assert package.prompt == HARBOR["instruction.md"].strip()
    metadata = front_of(made)["metadata"]
    assert metadata["author_name"] == "Ann Lee"
    assert (metadata["origin"], metadata["origin_url"]) == (
        "adapted",
        "https://example.org/tasks/rotate",
    )
    assert metadata["harbor"] == {"surprise": 7, "solution": {"env": {"HINT": "x"}}}
    assert "ann@example.org" not in (made / "task.md").read_text(encoding="utf-8")
    assert (made / "verifier/data/expected.bin").read_bytes() == b"\xff\xfe"
    for path, to in (("tests/test.sh", "verifier/test.sh"), ("README.md", "README.md")):
        assert (made / to).read_text(encoding="utf-8") == HARBOR[path]
    assert os.access(made / "verifier/test.sh", os.X_OK)
    assert (made / "environment/Dockerfile").read_text(encoding="utf-8") == (
        HARBOR["environment/Dockerfile"]
        + '\nWORKDIR /srv\nENV PLAIN="a \\"b\\" \\$x \\\\"\nENV MODE="fast"\n'
    )
    description = (made / "verifier/verifier.md").read_text(encoding="utf-8")
    assert "`test_answer` (`verifier/test_outputs.py`)" in description


def test_a_terminal_bench_task_becomes_a_sound_package(tmp_path: Path) -> None:
    source = write_task(tmp_path / "source", TERMINAL_BENCH)
    report = convert(source, tmp_path / "write-apple")
    made = tmp_path / "write-apple"
    assert [f for f in report.findings if f.severity == "error"] == []
    package = check_package(made).package
    assert package is not None
    assert (package.agent_timeout_sec, package.verifier_timeout_sec) == (300, 90)
    assert (package.cpus, package.memory_mb) == (2, 1024)
    assert package.allow_internet
    assert package.prompt == (
        "Write apple to /root/answer.txt.\n\n ## prompt\nThis heading is the task's own."
    )
    assert any("## prompt" in text for text in report.todo)
    assert (made / "environment/Dockerfile").read_text(encoding="utf-8") == (
        TERMINAL_BENCH["Dockerfile"] + 'ENV COLOUR="red"\n'
    )
    assert (made / "environment/seed.txt").exists()
    assert (made / "environment/docker-compose.yaml").exists()
    assert any("services.db" in text and "depends_on" in text for text in report.todo)


@pytest.mark.parametrize(("answer", "reward"), [("apple", "1"), ("pear", "0")])
def test_the_exit_status_of_run_tests_becomes_the_reward(
    tmp_path: Path, answer: str, reward: str
) -> None:
    tests = {"tests/outputs.sh": f'[ "$(cat {tmp_path}/answer)" = apple ]\n'}
    source = write_task(tmp_path / "source", TERMINAL_BENCH, tests)
    convert(source, tmp_path / "made")
    (tmp_path / "answer").write_text(answer)
    written = tmp_path / "logs" / "reward.txt"
    environment = {"PATH": os.environ["PATH"], "BENCHFLOW_REWARD_TEXT": str(written)}
    subprocess.run([tmp_path / "made/verifier/test.sh"], env=environment, check=True)
    assert written.read_text().strip() == reward


def test_a_plain_compose_file_is_left(tmp_path: Path) -> None:
    compose = "services: {client: {build: {dockerfile: Dockerfile}, image: x}}\n"
    source = write_task(tmp_path / "source", TERMINAL_BENCH, {"docker-compose.yaml": compose})
    report = convert(source, tmp_path / "made")
    assert "docker-compose.yaml" in {left.what for left in report.left}
    assert not (tmp_path / "made/environment/docker-compose.yaml").exists()


def test_a_build_context_becomes_the_environment(tmp_path: Path) -> None:
    changes = {
        "Dockerfile": None, "seed.txt": None, "app/Other": "FROM busybox:1.35.0\n",
        "app/seed.txt": "x", "db/schema.sql": "y",
        "docker-compose.yaml": "services: {client: {build: {context: ./app, dockerfile: Other}}}",
    }  # fmt: skip
    report = convert(write_task(tmp_path / "s", TERMINAL_BENCH, changes), tmp_path / "made")
    assert report.ok
    assert (tmp_path / "made/environment/seed.txt").exists()
    assert (tmp_path / "made/db/schema.sql").exists()


def test_commands_of_a_solution_yaml_become_a_script(tmp_path: Path) -> None:
    changes = {"solution.sh": None, "solution.yaml": SOLUTION_YAML}
    report = convert(write_task(tmp_path / "s", TERMINAL_BENCH, changes), tmp_path / "made")
    solve = (tmp_path / "made/oracle/solve.sh").read_text(encoding="utf-8")
    assert solve == "#!/bin/bash\necho apple > /root/answer.txt\nq\n"
    assert any(text.startswith("oracle/solve.sh") for text in report.todo)


def test_steps_are_joined_in_their_order(tmp_path: Path) -> None:
    source = write_task(tmp_path / "source", STEPS)
    report = convert(source, tmp_path / "made", Domain.MATHEMATICS_OR_FORMAL_REASONING)
    assert report.ok, report.findings
    assert prompt_in(tmp_path / "made") == (
        "# Step 1: first\n\nMake /root/a.\n\n# Step 2: second\n\nMake /root/b."
    )
    front = front_of(tmp_path / "made")
    assert [step["name"] for step in front["steps"]] == ["first", "second"]
    assert front["metadata"]["category"] == "mathematics-or-formal-reasoning"
    assert front["environment"]["allow_internet"] is True
    for script in ("verifier/test.sh", "oracle/solve.sh"):
        path = tmp_path / "made" / script
        assert subprocess.run(["sh", "-n", path], check=False).returncode == 0
        assert "first second" in path.read_text(encoding="utf-8")
    assert (tmp_path / "made/verifier/shared/helper.sh").exists()


def test_a_category_without_a_domain_is_kept_and_refused(tmp_path: Path) -> None:
    report = convert(write_task(tmp_path / "source", STEPS), tmp_path / "made")
    assert front_of(tmp_path / "made")["metadata"]["category"] == "games"
    assert not report.ok
    assert any("games" in f.message for f in report.findings if f.severity == "error")
    todo = next(text for text in report.todo if "metadata.category" in text)
    assert all(domain in todo for domain in Domain)


@pytest.mark.parametrize(
    "text",
    [
        "## prompt\nx", "a\n## role:solver\nb\n## role:solver\nc", "---\na: 1\n---\n",
        "```\n## prompt\n", "~~~\n## Scene:x\n~~~\n## USER-PERSONA ##\n", "## other\n\ttab\n", "﻿bom",
    ],
)  # fmt: skip
def test_an_instruction_is_read_as_it_was(tmp_path: Path, text: str) -> None:
    source = write_task(tmp_path / "source", HARBOR, {"instruction.md": text})
    convert(source, tmp_path / "made")
    read = prompt_in(tmp_path / "made")
    assert re.sub(r"(?m)^ ##", "##", read) == text.strip()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"task.toml": "a = [\n"}, "not valid TOML"),
        ({"task.toml": "a = " + "[" * 5000}, "nested too deep"),
        ({"task.toml": "a = " + "9" * 5000}, "not valid TOML"),
        ({"task.toml": "a." * 100_000 + "a = 1\n"}, "dotted key"),
        ({"task.toml": '"a" . ' * 40_000 + "a = 1\n"}, "dotted key"),
        ({"task.toml": "a = [" + "1," * 20_000 + "]"}, "more than is read"),
        ({"task.toml": "#" * 300_000}, "more than 256 KiB"),
        ({"task.toml": "a = '\udcff'"}, "not UTF-8"),
        ({"instruction.md": None}, "instruction.md is missing"),
        ({"instruction.md": "\udcff"}, "not UTF-8"),
        ({"tests/verifier.md": "x"}, "verifier/verifier.md"),
        ({".git/config": "x"}, "not allowed"),
        ({"environment/a\nb": "x"}, "not allowed"),
        ({"/".join("a" * 20): "x"}, "nested deeper"),
    ],
)
def test_a_hostile_task_is_refused_soon_and_leaves_nothing(
    tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    source = write_task(tmp_path / "source", HARBOR, changes)
    started = time.monotonic()
    with pytest.raises(NotConverted, match=re.escape(says)) as caught:
        convert(source, tmp_path / "made" / "package")
    assert time.monotonic() - started < 5
    assert set(caught.value.as_dict()) == {"code", "message", "next"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


@pytest.mark.parametrize(
    "changes",
    [
        {"task.yaml": "a: &x [1]\nb: *x\n"}, {"task.yaml": "- 1\n"}, {"task.yaml": "a: 1\n"},
        {"task.yaml": "{" * 50}, {"solution.sh": None, "solution.yaml": "- 1\n"},
        {"tests/test.sh": "x"}, {"docker-compose.yaml": "a: b: c\n"},
    ],
)  # fmt: skip
def test_a_bad_terminal_bench_task_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(NotConverted):
        convert(write_task(tmp_path / "source", TERMINAL_BENCH, changes), tmp_path / "made")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("settings", ["metadata = 3", "agent = []", "environment = 'x'\nsteps = 1",
    "[metadata]\nharbor = 1\ncategory = 7\n[x]\ny = 1", "artifacts = 'x'\ntask = 'y'\nverifier = 2",
    "steps = [1, 2]", "[environment]\ncpus = true\nmemory = 'lots'\nenv = 5\nworkdir = '../x'",
])  # fmt: skip
def test_settings_of_other_types_are_reported(tmp_path: Path, settings: str) -> None:
    source = write_task(tmp_path / "source", HARBOR, {"task.toml": settings})
    report = convert(source, tmp_path / "made")
    expected = {f"task.toml: {key}" for key in keys(tomllib.loads(settings))}
    assert expected <= set(reported(report))


def test_links_and_special_files_are_refused(tmp_path: Path) -> None:
    for number, make in enumerate(
        (lambda p: p.symlink_to("/etc/passwd"), lambda p: os.mkfifo(p), lambda p: p.symlink_to("."))
    ):
        source = write_task(tmp_path / f"source{number}", HARBOR)
        make(source / "environment" / "strange")
        with pytest.raises(NotConverted, match=r"link|special file"):
            convert(source, tmp_path / "made")
    linked = tmp_path / "linked"
    linked.symlink_to(tmp_path / "source0")
    with pytest.raises(NoTask):
        convert(linked, tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_a_destination_in_use_is_refused(tmp_path: Path) -> None:
    source = write_task(tmp_path / "source", HARBOR)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("x")
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    places = ["full", "file", "link", "circle", "source", "source/in", "file/below"]
    for place in places:
        with pytest.raises(DestinationInUse):
            convert(source, tmp_path / place)
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine"]
    (tmp_path / "empty").mkdir()
    convert(source, tmp_path / "empty")
    assert (tmp_path / "empty" / "task.md").exists()
    assert not list(tmp_path.glob(".arena-convert-*"))


def test_formats_are_recognised_by_names(tmp_path: Path) -> None:
    assert recognise_format(write_task(tmp_path / "h", HARBOR)) == "harbor"
    assert recognise_format(write_task(tmp_path / "t", TERMINAL_BENCH)) == "terminal-bench"
    assert recognise_format(write_task(tmp_path / "p", HARBOR, {"task.md": "x"})) is None
    assert recognise_format(tmp_path) is None
    assert recognise_format(tmp_path / "absent") is None
    with pytest.raises(NoTask, match="already"):
        convert(tmp_path / "p", tmp_path / "made")


def test_the_specification_names_every_field() -> None:
    spec = SPEC.read_text(encoding="utf-8")
    named = set(re.findall(r"`([^`\n]+)`", spec))
    for fields in (HARBOR_FIELDS, TASK_FIELDS, CLIENT_FIELDS, COMPOSE_FIELDS, SOLUTION_FIELDS):
        assert fields.keys() <= named


@pytest.mark.parametrize(
    "settings",
    [
        '[metadata]\nx = "@' + " " * 250_000 + 'y"',
        '[metadata]\nx = "' + "a@" * 125_000 + '"',
        "".join(".".join(["a"] * 22) + f".b{n} = 1\n" for n in range(4_500)),
        '[environment]\nmemory = "' + " " * 250_000 + '"',
        "[[a]]\n" * 9_000,
    ],
    ids=["blanks", "at signs", "long keys", "size", "tables"],
)
def test_large_settings_are_converted_soon(tmp_path: Path, settings: str) -> None:
    source = write_task(tmp_path / "source", HARBOR, {"task.toml": settings})
    started = time.monotonic()
    convert(source, tmp_path / "made")
    assert time.monotonic() - started < 10


def test_a_number_that_python_does_not_write_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "s"
    source.mkdir()
    (source / "task.toml").write_text(f"[environment]\nmemory_mb = 0x{'f' * 5000}\n")
    (source / "instruction.md").write_text("Do it.\n")
    with pytest.raises(NotConverted, match="more than 100 digits"):
        convert(source, tmp_path / "d")
