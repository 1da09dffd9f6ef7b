"""Text made to stop the checks: each is a finding, soon, and never a traceback."""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.packages import check_collection, check_package
from arena.packages.check import MAX_FINDINGS
from arena.packages.document import parse_document
from arena.packages.findings import MAX_MESSAGE
from arena.packages.reading import MAX_REQUIRED_BYTES
from arena.packages.yamltext import YamlError, load_yaml
from tests.collections import FILES, write_collection, write_package
from tests.packages.changes import Changes, outputs, prompt, verdict

LARGE = MAX_REQUIRED_BYTES - 1024
FRONT = "---\na: 1\n---\n"


@contextmanager
def soon(seconds: float = 10) -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < seconds


@pytest.mark.parametrize("line", ["## a" + " " * LARGE + "x", "## " + "#" * LARGE + "x"])
def test_a_long_heading_is_read_at_once(line: str) -> None:
    with soon(2):
        assert parse_document(FRONT + line).sections == {}


def test_a_heading_may_have_closing_marks() -> None:
    assert parse_document(FRONT + "##\tPrompt ##  \nDo it.").sections == {"prompt": "Do it."}


@pytest.mark.parametrize(
    "dockerfile",
    [
        "FROM a\nRUN x \\\n" + "\\\n" * (LARGE // 2),
        "FROM a\nCOPY " + "-- " * (LARGE // 3),
        "FROM a\nCOPY '" + "a " * (LARGE // 2),
        "FROM a\nCOPY " + "[" * LARGE,
        "FROM a\nCOPY " + "[" * 9000 + "\n",
        "FROM a\nCOPY " + "*a" * 40 + "b x\n",
        "FROM a\n" + "".join(f"COPY x{i} y\n" for i in range(15_000)),
        "FROM a\n" + "".join(f"COPY *{i}* y\n" for i in range(15_000)),
    ],
    ids=["continued", "flags", "quote", "brackets", "nested", "stars", "copies", "globs"],
)
def test_a_hostile_dockerfile_is_judged_soon(tmp_path: Path, dockerfile: str) -> None:
    many = {f"environment/{'a' * 200}{i}": "x" for i in range(1000)}
    root = write_package(tmp_path / "p", {**many, "environment/Dockerfile": dockerfile})
    with soon():
        report = check_package(root)
    assert len(report.findings) <= MAX_FINDINGS + 1


@pytest.mark.parametrize(
    "source", ["*.txt", "seed.???", "folder", "folder/*", "f*/deep", "a[1].txt", "*/deep/x.txt"]
)
def test_what_docker_would_copy_is_found(tmp_path: Path, source: str) -> None:
    files = {"environment/folder/deep/x.txt": "x", "environment/a[1].txt": "x"}
    dockerfile = f"FROM a\nCOPY {source} /x\n"
    root = write_package(tmp_path / "p", {**files, "environment/Dockerfile": dockerfile})
    assert check_package(root).ok


@pytest.mark.parametrize(
    "text",
    [
        "a: !!timestamp foo",
        'a: !!int ""',
        'a: !!float ""',
        "a: !!bool maybe",
        "a: 0x" + "f" * 5000,
        "a: 1" + ":1" * 100_000,
        "a: 1" + ":1" * 5000 + ".5",
        'a: "\\ud800"',
        '"\\ud800": a',
    ],
)
def test_values_that_break_the_parser_are_refused(text: str) -> None:
    with soon(2), pytest.raises(YamlError):
        load_yaml(text)


TEXTS: dict[str, Changes] = {
    "a base of many parts": outputs("class TestA(a" + ".a" * 20_000 + "):", "    def test_a(self): pass"),
    "a decorator of many parts": outputs("@a" + ".a" * 5_000, "def test_a(): pass"),
    "many branches": outputs("def test_a():", "    if True: pass", *["    elif True: pass"] * 20_000),
    "many negations": outputs("def test_a():", "    assert " + "not " * 3_000 + "x"),
    "a sum of many texts": outputs("import requests", "requests.get(" + "'a'+" * 5_000 + "'b')"),
    "a prompt of signs": prompt("*" * 200_000),
    "many brackets": verdict("r=1", "((a ))" * 30_000, "echo $r > /logs/verifier/reward.txt"),
    "many rewards": verdict(*["echo 1>/logs/verifier/reward.txt"] * 7_000),
    "a value used often": verdict("A=" + "x" * 290, "curl " + "$A" * 100_000),
    "many files": verdict(*[f"x /tests/a{number}.py" for number in range(10_000)]),
    "many programs": verdict(*["python3 <<E", "E"] * 12_000),
    "many lines of Python": verdict(*["python3 -c 'import requests'"] * 8_000),
    "many stages": {"environment/Dockerfile": "FROM a:1 AS b\n" * 15_000},
}  # fmt: skip


@pytest.mark.parametrize("changes", TEXTS.values(), ids=TEXTS)
def test_a_hostile_text_is_judged_soon(tmp_path: Path, changes: Changes) -> None:
    with soon():
        check_package(write_package(tmp_path / "write-apple", changes))


@pytest.mark.parametrize("value", [".", "1.2.3", "1"])
def test_a_reward_that_never_changes_is_found_whatever_it_is(tmp_path: Path, value: str) -> None:
    test = f"#!/bin/sh\necho {value} > /logs/verifier/reward.txt\n"
    report = check_package(write_package(tmp_path / "p", {"verifier/test.sh": test}))
    assert [f.code for f in report.findings] == ["TP012"]


@pytest.mark.parametrize("path", ["task.md", "verifier/test.sh", "environment/Dockerfile"])
def test_a_file_too_large_to_be_checked_is_no_way_past_the_check(tmp_path: Path, path: str) -> None:
    folder = write_collection(tmp_path / "c", count=2)
    file = next(folder.iterdir()) / path
    file.write_text(FILES[path] + "\n# " + "x" * 1024 * 1024)
    report = check_collection(folder)
    assert not report.ok
    assert {f.code for p in report.packages for f in p.findings} == {"TP008"}


def test_findings_stay_few_and_short(tmp_path: Path) -> None:
    files: dict[str, str | None] = {f"verifier/{i}.md": "\udcff" for i in range(1500)}
    task = FILES["task.md"].replace("software-engineering", "x" * 100_000)
    report = check_package(write_package(tmp_path / "p", {**files, "task.md": task}))
    assert len(report.findings) == MAX_FINDINGS + 1
    assert report.findings[-1].code == "TP000"
    assert max(len(f.message) for f in report.findings) <= MAX_MESSAGE


@pytest.mark.parametrize("name", ["a\u202eb", "a\x7fb", "a\x9bb"])
def test_names_that_read_as_something_else_are_refused(tmp_path: Path, name: str) -> None:
    report = check_package(write_package(tmp_path / "p", {f"environment/{name}": "x"}))
    assert [f.code for f in report.findings] == ["TP007"]
    assert all(f.file.isprintable() and f.message.isprintable() for f in report.findings)


def test_a_name_that_ends_in_a_new_line_is_no_slug(tmp_path: Path) -> None:
    assert "TP010" in {f.code for f in check_package(write_package(tmp_path / "p\n")).findings}


def test_a_licence_is_a_name(tmp_path: Path) -> None:
    folder = write_collection(tmp_path / "c", count=1)
    task = next(folder.iterdir()) / "task.md"
    task.write_text(FILES["task.md"].replace("license: Apache-2.0", f"license: {'x' * 5000}"))
    assert "TP003" in {f.code for f in check_package(task.parent).findings}
    task.write_text(FILES["task.md"].replace("  license: Apache-2.0\n", ""))
    (folder / "submission.yaml").write_text(f"license: {'x' * 5000}\n")
    assert "TP014" in {f.code for f in check_collection(folder).findings}


def test_files_that_are_none_are_found_and_not_read(tmp_path: Path) -> None:
    root = write_package(tmp_path / "p")
    with (root / "environment/sparse.txt").open("wb") as file:
        file.truncate(1024**3)
    os.mkfifo(root / "environment/fifo")
    (root / "environment/link").symlink_to("/etc")
    (root / "environment/up").symlink_to("../../..")
    if os.geteuid() == 0:
        os.mknod(root / "environment/zero", 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    with soon(5):
        assert {f.code for f in check_package(root).findings} == {"TP007", "TP008"}


def test_folders_count_as_files_do(tmp_path: Path) -> None:
    root = write_package(tmp_path / "p")
    for number in range(6000):
        (root / f"environment/{number}").mkdir()
    report = check_package(root)
    assert "more than 2,000 files" in {f.message for f in report.findings if f.code == "TP008"}


def test_deep_folders_are_left(tmp_path: Path) -> None:
    root = write_package(tmp_path / "p")
    (root / "environment").joinpath(*["a"] * 200).mkdir(parents=True)
    assert [f.code for f in check_package(root).findings] == ["TP008"]


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o100])
def test_a_folder_that_may_not_be_read_is_a_finding(tmp_path: Path, mode: int) -> None:
    root = write_package(tmp_path / "p", {"environment/shut/x.txt": "x"})
    (root / "environment/shut").chmod(mode)
    tmp_path.chmod(0o755)
    found = codes_for_nobody(root) if os.geteuid() == 0 else codes_of(root)
    (root / "environment/shut").chmod(0o755)
    assert found == {"TP007"}


def codes_of(root: Path) -> set[str]:
    return {finding.code for finding in check_package(root).findings}


def codes_for_nobody(root: Path) -> set[str]:
    """The codes that a user without rights gets, in a child, since root may read everything."""
    for above in root.parents:
        if not above.stat().st_mode & 0o001:
            above.chmod(above.stat().st_mode | 0o001)
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        try:
            os.write(writer, " ".join(codes_of(root)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader) as said:
        return set(said.read().split())


def test_a_hint_is_safe_to_paste(tmp_path: Path) -> None:
    task = tmp_path / "c" / "a; rm -rf ~"
    task.mkdir(parents=True)
    (task / "task.toml").write_text("")
    hints = [f.hint for f in check_collection(tmp_path / "c").findings if f.code == "TP038"]
    assert hints == ["Make a task package of it: arena convert 'a; rm -rf ~' packages/a-rm-rf"]


def test_the_line_of_a_fault_is_the_editors(tmp_path: Path) -> None:
    task = FILES["task.md"].replace("  author_hub", "  a: 'x\u2028\u2028\x85'\n  author_hub")
    task = task.replace("difficulty: easy", "difficulty: none")
    report = check_package(write_package(tmp_path / "p", {"task.md": task}))
    line = task.split("\n").index("  difficulty: none") + 1
    assert [(f.code, f.line) for f in report.findings] == [("TP003", line)]
