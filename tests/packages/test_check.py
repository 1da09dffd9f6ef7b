"""The checks that protect a run: a sound package passes, each fault is found where it is."""

import os
from pathlib import Path

import pytest

from arena.packages import check_collection, check_package, load_package
from arena.packages.findings import Finding
from tests.collections import FILES, write_collection, write_package


def found(root: Path) -> list[tuple[str, str, int | None]]:
    return [(f.code, f.file, f.line) for f in check_package(root).findings]


def task(old: str, new: str) -> dict[str, str | None]:
    assert old in FILES["task.md"]
    return {"task.md": FILES["task.md"].replace(old, new)}


def test_a_sound_package_has_no_finding(tmp_path: Path) -> None:
    root = write_package(tmp_path / "write-apple")
    assert found(root) == []
    package = load_package(root)
    assert package.prompt == "Write the word apple to /root/answer.txt."
    assert package.domain == "software-engineering"
    assert (package.memory_mb, package.cpus, package.allow_internet) == (64, 1, False)


FAULTS: list[tuple[str, dict[str, str | None], tuple[str, str, int | None]]] = [
    ("no oracle", {"oracle/solve.sh": None}, ("TP001", "oracle/solve.sh", None)),
    ("empty test", {"verifier/test.sh": ""}, ("TP001", "verifier/test.sh", None)),
    ("no rubric", {"verifier/rubrics/quality.md": None}, ("TP001", "verifier/rubrics", None)),
    ("no front matter", {"task.md": "# Task\n"}, ("TP002", "task.md", 1)),
    ("bad YAML", task("metadata:\n", "metadata: [\n"), ("TP002", "task.md", 5)),
    ("a key twice", task("agent:\n", "version: 1\nagent:\n"), ("TP002", "task.md", 9)),
    ("no version", task('version: "1.0"\n', ""), ("TP003", "task.md", 2)),
    ("wrong type", task("memory_mb: 64", "memory_mb: lots"), ("TP003", "task.md", 14)),
    (
        "out of range",
        task("timeout_sec: 10\nverifier", "timeout_sec: -1\nverifier"),
        ("TP003", "task.md", 10),
    ),
    ("unknown domain", task("software-engineering", "cooking"), ("TP003", "task.md", 5)),
    ("no prompt", task("Write the word apple to /root/answer.txt.", ""), ("TP004", "task.md", 16)),
    (
        "RUN first",
        {"environment/Dockerfile": "# x\nRUN true\nFROM a\n"},
        ("TP005", "environment/Dockerfile", 2),
    ),
    ("COPY of nothing", {"environment/seed.txt": None}, ("TP006", "environment/Dockerfile", 2)),
    (
        "COPY that leaves",
        {"environment/Dockerfile": "FROM a\nCOPY \\\n  ../oracle/solve.sh /x\n"},
        ("TP006", "environment/Dockerfile", 2),
    ),
    (
        "too large",
        {"environment/big.bin": "x" * (32 * 1024 * 1024 + 1)},
        ("TP008", "environment/big.bin", None),
    ),
    (
        "constant reward",
        {
            "verifier/test.sh": "#!/bin/sh\nmkdir -p /logs/verifier\necho 1 > /logs/verifier/reward.txt\n"
        },
        ("TP012", "verifier/test.sh", 3),
    ),
    (
        "undeclared strategy",
        {
            "verifier/verifier.md": FILES["verifier/verifier.md"].replace(
                "strategy: main", "strategy: other"
            )
        },
        ("TP011", "verifier/verifier.md", 5),
    ),
    (
        "not UTF-8",
        {"verifier/test.sh": "#!/bin/sh\necho \udcff\n"},
        ("TP013", "verifier/test.sh", 2),
    ),
]


@pytest.mark.parametrize(
    ("changes", "expected"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS]
)
def test_a_fault_is_found_where_it_is(
    tmp_path: Path, changes: dict[str, str | None], expected: tuple[str, str, int | None]
) -> None:
    assert expected in found(write_package(tmp_path / "write-apple", changes))


def test_every_finding_says_how_to_mend_it(tmp_path: Path) -> None:
    for number, (_, changes, _) in enumerate(FAULTS):
        report = check_package(write_package(tmp_path / f"p-{number}", changes))
        assert not report.ok
        assert all(f.message and f.hint for f in report.findings)


def test_links_and_special_files_are_refused_unread(tmp_path: Path) -> None:
    root = write_package(tmp_path / "write-apple")
    (root / "environment/passwd").symlink_to("/etc/passwd")
    (root / "environment/etc").symlink_to("/etc")
    (root / ".git").mkdir()
    os.mkfifo(root / "oracle/pipe")
    assert {f[1] for f in found(root) if f[0] == "TP007"} == {
        "environment/passwd",
        "environment/etc",
        ".git",
        "oracle/pipe",
    }


@pytest.mark.parametrize("name", ["Write", "-write", "write_it", "a" * 65, "wri te"])
def test_names_are_slugs(tmp_path: Path, name: str) -> None:
    assert ("TP010", ".", None) in found(write_package(tmp_path / name))


def test_what_verifiers_do_in_good_faith_is_no_constant(tmp_path: Path) -> None:
    scripts = [
        '#!/bin/sh\nset -e\nsh "$(dirname "$0")/check.sh"\necho 1 > /logs/verifier/reward.txt\n',
        "#!/bin/sh\ntest -f /a && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n",
        "#!/bin/bash\npython3 /verifier/test_outputs.py > /logs/verifier/reward.txt\n",
        "#!/bin/sh\ncheck() { [ -f /a ]; }\nif check\nthen\n  echo 1.0 > $BENCHFLOW_REWARD_TEXT\nfi\n",
    ]
    for number, script in enumerate(scripts):
        files = {"verifier/test.sh": script, "verifier/test_outputs.py": "import sys\n"}
        root = write_package(tmp_path / f"p-{number}", files)
        assert found(root) == [], script


def codes(findings: list[Finding]) -> list[str]:
    return [f.code for f in findings]


def test_a_collection_is_found_in_every_layout(tmp_path: Path) -> None:
    digests = set()
    for layout in ("", "envs", "tasks"):
        root = tmp_path / f"c{layout}"
        write_collection(root / layout if layout else root)
        (root / "_drafts").mkdir()
        report = check_collection(root)
        assert report.collection is not None
        digests.add(report.collection.digest)
    assert len(digests) == 1, "the digest is of the packages, wherever they stand"


def test_the_digest_changes_with_any_byte_and_bit(tmp_path: Path) -> None:
    def digest(root: Path) -> str:
        report = check_collection(root)
        assert report.collection is not None
        return report.collection.digest

    root = write_collection(tmp_path / "c")
    first = digest(root)
    assert digest(write_collection(tmp_path / "d")) == first
    (root / "write-apple-0/oracle/solve.sh").chmod(0o755)
    second = digest(root)
    (root / "write-apple-0/environment/seed.txt").write_text("Seed\n")
    assert len({first, second, digest(root)}) == 3


def test_empty_and_oversized_collections_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert codes(check_collection(tmp_path / "empty").findings) == ["TP009"]
    for number in range(201):
        (tmp_path / "many" / f"p-{number}").mkdir(parents=True)
        (tmp_path / "many" / f"p-{number}" / "task.md").touch()
    many = check_collection(tmp_path / "many").findings
    assert codes(many) == ["TP009"]
    assert "Take some out" in many[0].hint


def test_everything_accepted_needs_a_licence(tmp_path: Path) -> None:
    root = tmp_path / "c"
    write_package(root / "a-b", task("  license: Apache-2.0\n", ""))
    assert codes(check_collection(root).findings) == ["TP014"]
    (root / "submission.yaml").write_text("license: MIT\n")
    report = check_collection(root)
    assert report.collection is not None
    assert report.collection.licences == {"a-b": "MIT"}
    (root / "submission.yaml").unlink()
    (root / "README.md").write_text("---\nlicense: cc-by-4.0\n---\n")
    assert check_collection(root).ok


def test_a_hint_says_how_to_mend_what_was_found(tmp_path: Path) -> None:
    def hint(name: str, files: dict[str, str | None]) -> str:
        return check_package(write_package(tmp_path / name, files)).findings[0].hint

    assert hint("bare", task('version: "1.0"\n', "")).startswith("Required: version")
    assert "metadata.category" in hint("odd", task("software-engineering", "cooking"))
    assert "verifier/rubrics/*.md" in hint("plain", {"verifier/rubrics/quality.md": None})
