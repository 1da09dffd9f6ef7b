"""Properties that hold for whatever stands in a package: a report, findings one can act on."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.packages import PackageReport, check_package
from arena.packages.dockerfile import parse_dockerfile
from arena.packages.document import parse_document, prompt_of
from arena.packages.findings import MAX_MESSAGE
from arena.packages.pythontext import PythonFile
from arena.packages.rules import RULES
from arena.packages.shell import ShellScript
from arena.packages.yamltext import MAX_DEPTH, YamlError, load_yaml
from tests.collections import FILES, write_package
from tests.needs import cannot

PATHS = [*FILES, "verifier/test_outputs.py"]
CODES = {"TP000", *(rule.code for rule in RULES)}

few = settings(
    max_examples=25,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
many = settings(few, max_examples=80)


def report_of(files: dict[str, bytes]) -> PackageReport:
    """The report of the sound package with some files changed; each finding can be acted on."""
    with TemporaryDirectory() as folder:
        root = write_package(Path(folder) / "write-apple")
        for path, content in files.items():
            (root / path).write_bytes(content)
        report = check_package(root)
    for finding in report.findings:
        assert finding.code in CODES
        assert 0 < len(finding.message) <= MAX_MESSAGE
        assert finding.hint
        assert finding.file.isprintable()
        content = files.get(finding.file, FILES.get(finding.file, "").encode())
        last = content.count(b"\n") + content.count(b"\r") + 1
        assert finding.line is None or 1 <= finding.line <= last, finding
    return report


def joined(*pieces: str, most: int = 40) -> st.SearchStrategy[str]:
    """Texts of a language's pieces in any order, deep where the pieces open something."""
    return st.lists(st.sampled_from(pieces) | st.text(max_size=4), max_size=most).map("".join)


SHELL = joined(
    "if ", "then\n", "fi\n", "for a in b; do\n", "done\n", "case $x in ", "a) ", ";; ", "esac\n",
    "$(", ")", "`", "${a:-", "}", "((", "))", "[[ ", " ]]", '"', "'", "<<EOF\n", "\nEOF\n", "|", "&&",
    "echo 1 > /logs/verifier/reward.txt\n", "echo $r > reward.txt\n", "r=1\n", "f() {\n", "\\\n",
    "curl https://example.org/x\n", "sh -c '", "eval ", "env a=1 ", "pip install x\n", "# ",
)  # fmt: skip
PYTHON = joined(
    "def test_a():\n    ", "assert ", "x == ", "1e999", "0x" + "f" * 5000, '"""', "f'{", "}'", "(", ")",
    "[", "]", "lambda: ", "\n", "    ", "pass\n", "import os\n", "os.system(", "import subprocess\n",
    "subprocess.run(['pip', 'install', 'x'])\n", "json.dump(", "open('reward.txt').write('1')\n",
    "class A:\n    ", "match x:\n    case ", "\\\n", "# ", "\f", "'long enough to be an answer'",
)  # fmt: skip
DOCKERFILE = joined(
    "FROM ", "busybox:1\n", "COPY ", "seed.txt ", "/root/\n", "RUN ", "<<EOF\n", "EOF\n", "<<-'A' ", "\tA\n",
    '["a", "b"]\n', "\\\n", "# escape=`\n", "`\n", "# c\n", "ARG a=b\n", "${a}", "$a", "--from=x ", "\n",
    "ADD ", "../oracle", "*", "ONBUILD ", "pip install -r seed.txt\n", "AS x\n", "é", '"', "'",
)  # fmt: skip
MARKDOWN = joined(
    "## prompt\n", "## role:a\n", "```\n", "~~~~\n", "    ", "\n", "# x\n", "## PROMPT ##\n", "TODO\n",
    "> ", "- ", "<your task>", "REPLACE-ME\n", "lorem ipsum", "12345", "---\n", "\u2028", "\u202e",
)  # fmt: skip
YAML = joined(
    "a: ", "? ", "- ", "{", "}", "[", "]", "&a ", "*a", "!!int ", "!!python/object:os.system ", '"', "'",
    "|\n", ">\n", "  ", "\n", "---\n", "...\n", "metadata:\n", "  author_hub: a\n", "%YAML 1.1\n",
    "<<: ", "1:1:1", "0x1f", ".nan", "\u2028", "\x85", "\t", "# c", "version: 1\n", "timeout_sec: .inf\n",
)  # fmt: skip

LANGUAGES = {
    "verifier/test.sh": SHELL,
    "oracle/solve.sh": SHELL.map("#!/bin/sh\n".__add__),
    "verifier/test_outputs.py": PYTHON,
    "environment/Dockerfile": DOCKERFILE.map("FROM a\n".__add__),
    "verifier/rubrics/quality.md": MARKDOWN,
    "verifier/verifier.md": YAML.map(lambda text: f"---\n{text}\n---\n"),
    "task.md": st.one_of(
        MARKDOWN.map(FILES["task.md"].__add__),
        YAML.map(lambda text: FILES["task.md"].replace("agent:", f"{text}\nagent:", 1)),
    ),
}


@pytest.mark.parametrize("path", PATHS)
@settings(few, max_examples=15)
@given(content=st.binary(max_size=400))
def test_any_bytes_get_a_report(path: str, content: bytes) -> None:
    report_of({path: content})


@pytest.mark.parametrize("path", LANGUAGES)
def test_text_in_pieces_of_its_language_gets_a_report(path: str) -> None:
    @few
    @given(text=LANGUAGES[path])
    def check(text: str) -> None:
        report_of({path: text.encode("utf-8", "replace")})

    check()


leaves = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.floats(allow_nan=False), st.text()
)
trees = st.recursive(
    st.dictionaries(st.text(max_size=8), leaves, max_size=4),
    lambda inner: st.dictionaries(st.text(max_size=8), inner | st.lists(inner), max_size=3),
    max_leaves=20,
)


@many
@given(data=trees, prompt=st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"])))
def test_front_matter_is_read_as_it_was_written(data: dict[str, object], prompt: str) -> None:
    written = yaml.safe_dump(data, allow_unicode=False)
    document = parse_document(f"---\n{written}---\n\n## prompt\n\n{prompt}\n")
    assert document.front_matter == data
    assert prompt_of(document) == prompt
    assert all(1 <= line <= written.count("\n") + 1 for line in document.lines.values())


@many
@given(text=YAML)
def test_yaml_is_read_or_refused_at_a_line(text: str) -> None:
    try:
        load_yaml(text)
        return
    except YamlError as error:
        refused = error
    assert refused.message
    assert refused.line is None or 1 <= refused.line <= text.count("\n") + 1


@given(depth=st.integers(1, 200))
@few
def test_yaml_is_as_deep_as_is_allowed(depth: int) -> None:
    text = "[" * depth + "]" * depth
    if depth <= MAX_DEPTH:
        load_yaml(text)
    else:
        with pytest.raises(YamlError, match="deeper"):
            load_yaml(text)


@many
@given(text=SHELL)
def test_what_the_shell_reader_finds_stands_in_the_text(text: str) -> None:
    script, last = ShellScript(text), text.count("\n") + 1
    assert all(1 <= command.line <= last and command.words for command in script.commands)
    assert all(1 <= redirect.line <= last for redirect in script.redirects)


@many
@given(text=PYTHON)
def test_python_is_a_tree_or_a_problem(text: str) -> None:
    file = PythonFile(text)
    assert file.tree is None or file.problem() is None
    assert bool(file.nodes) == (file.tree is not None)


BLOCKS = st.sampled_from(
    [
        "RUN echo a\n", "RUN a \\\n  b \\\n\\\n c\n", "RUN a \\\n# comment\n\n  b\n", "COPY a b /c/\n",
        'CMD ["a", "b"]\n', 'SHELL ["/bin/sh", "-c"]\n', "RUN <<EOF\necho 1\nEOF\n", "  # comment\n",
        "RUN <<-EOF\n\techo 1\n\tEOF\n", "RUN <<'A' <<\"B\"\none\nA\ntwo\nB\n", "COPY <<EOF /x\nEOF\n",
        "env a=b\n", "\n", "\t\n", "LABEL a=\"b c\" \\\n  d=e\n", "ARG x\n", "ADD --chown=a:b x y\n",
        "RUN cat <<EOF | sh\nFROM x\nEOF\n", "ONBUILD RUN a\n", "WORKDIR /a\r\n", "RUN a \\  \n b\n",
        "RUN echo '<<EOF'\n", "RUN echo \"a << b\"\n", "RUN a <<<b\n", "RUN cat 3<<EOF\nx\nEOF\n",
        "USER a\n", "HEALTHCHECK NONE\n", "EXPOSE 80\n", "NOTHING a\n", "RUN <<EOF\nno end\n",
    ]
)  # fmt: skip
HEADS = st.sampled_from(
    ["", "# escape=\\\n", "# syntax=docker/dockerfile:1\n", "ARG a=b\n", "# c\n"]
)


@settings(few, max_examples=300)
@given(head=HEADS, blocks=st.lists(BLOCKS, max_size=12))
def test_a_dockerfile_is_read_as_buildkit_reads_it(head: str, blocks: list[str]) -> None:
    """The same instructions at the same lines with the same bodies, or both refuse the text.

    Known difference: this parser of BuildKit's takes any word for an instruction, which only its
    next step refuses; ours says so at once. Values are not compared: theirs are split.
    """
    if sys.platform != "linux":
        cannot("BuildKit's parser has a wheel for Linux on x86_64 alone")
    dockerfile = pytest.importorskip("dockerfile", reason="BuildKit's parser has no wheel here")
    text = head + "FROM a\n" + "".join(blocks)
    ours = parse_dockerfile(text)
    try:
        theirs = dockerfile.parse_string(text)
    except dockerfile.GoParseError:
        theirs = None
    if theirs is None:
        assert ours.problems
        return
    assert [(i.name, i.line, list(i.heredocs)) for i in ours.instructions] == [
        (c.cmd.upper(), c.start_line, [heredoc.content for heredoc in c.heredocs]) for c in theirs
    ]
    unknown = [line for line, problem in ours.problems if "is no instruction" in problem]
    assert len(unknown) == len(ours.problems) == text.count("NOTHING a\n")
