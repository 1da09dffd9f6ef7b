"""Packages of unusual but legal shape: the checks find nothing in them."""

from pathlib import Path

import pytest

from arena.packages import check_collection, check_package, load_package
from tests.collections import FILES, write_collection, write_package
from tests.packages.changes import Changes, dockerfile, prompt, task

FRONT = FILES["task.md"].partition("## prompt")[0]
BODY = "Write the word apple to /root/answer.txt.\n"
RESERVED = "## prompt\n\n"


def body(text: str) -> Changes:
    return {"task.md": FRONT + text}


def metadata(*lines: str) -> Changes:
    return task(
        "  origin: original\n", "".join(f"  {line}\n" for line in ("origin: original", *lines))
    )


def licence(text: str) -> Changes:
    return task("license: Apache-2.0", f"license: {text}")


def category(text: str) -> Changes:
    return task("category: software-engineering", f"category: {text}")


def seeded(text: str, *files: str) -> Changes:
    return {
        "environment/Dockerfile": text,
        **dict.fromkeys((f"environment/{f}" for f in files), "x\n"),
    }


DOCUMENTS: dict[str, Changes] = {
    "comments": task("metadata:\n", "# who, and what\nmetadata:  # public\n"),
    "a folded text": metadata("description: >-", "  Two lines,", "  folded: with a colon"),
    "a literal text": metadata("notes: |+", "  ---", "  # no comment", ""),
    "flow mappings": task("agent:\n  timeout_sec: 10\n", "agent: {timeout_sec: 10, 'x': [1, {y: 2}]}\n"),
    "quoted keys": task('version: "1.0"\nmetadata:', "\"version\": '1.0'\n'metadata':"),
    "a long indentation": task("agent:\n  timeout_sec", "agent:\n        timeout_sec"),
    "CRLF": {"task.md": FILES["task.md"].replace("\n", "\r\n")},
    "a byte order mark": {"task.md": "\ufeff" + FILES["task.md"]},
    "no newline at the end": {"task.md": FILES["task.md"].rstrip("\n")},
    "blanks after the marks": {"task.md": FILES["task.md"].replace("---\n", "--- \t\n")},
    "numbers as texts": task("  memory_mb: 64", '  memory_mb: "64"\n  cpus: "0.5"\n  build_timeout_sec: "60.5"'),
    "a whole number with a point": task("memory_mb: 64", "memory_mb: 64.0"),
    "a number with an exponent": task("agent:\n  timeout_sec: 10", "agent:\n  timeout_sec: 1.0e+2"),
    "a version without quotes": task('"1.0"', "1.0"),
    "a whole version": task('"1.0"', "1"),
    "a later minor version": task('"1.0"', "1.12"),
    "three parts of a version": task('"1.0"', "1.0.0"),
    "schema_version": task('version: "1.0"', 'schema_version: "1.3"'),
    "both versions": task('version: "1.0"', 'version: "1.0"\nschema_version: "1.3"'),
    "the newer spelling": task("environment:", "sandbox:"),
    "both spellings that agree": task("environment:\n", "sandbox:\n  memory_mb: 64\n  cpus: 2\nenvironment:\n"),
    "both spellings that agree in value": task("environment:\n", "sandbox:\n  memory_mb: 64.0\nenvironment:\n"),
    "an empty spelling beside the other": task("environment:\n", "sandbox:\nenvironment:\n"),
    "an empty older spelling": task("environment:\n", "environment:\nsandbox:\n"),
    "sections without a value": task("agent:\n  timeout_sec: 10\nverifier:\n  timeout_sec: 10\n", "agent:\nverifier: {}\n"),
    "an allowlist": task("  memory_mb: 64", "  network_mode: allowlist\n  allowed_hosts:\n    - pypi.org"),
    "no network, said twice": task("  memory_mb: 64", "  network_mode: no-network\n  allow_internet: no"),
    "network, said twice": task("  memory_mb: 64", "  network_mode: public\n  allow_internet: yes"),
    "extensions": task(
        "agent:\n",
        "agents:\n  roles:\n    critic: {model: any}\nscenes: [{name: a, turns: 3}]\nuser: {persona: terse}\n"
        "artifacts: [/root/out, /srv/x y]\nsteps:\n  - {name: one}\nsource: {url: 'https://example.org'}\n"
        "reward: {type: sum}\ntask: {id: 7}\nbenchflow: {x: null}\nagent:\n",
    ),
    "unknown keys below the known": task("  memory_mb: 64", "  memory_mb: 64\n  gpus: 0\n  docker_image: x\n  env: {A: b}"),
    "author_name": task("author_hub: author", "author_name: Ada Lovelace"),
    "both names of the author": task("author_hub: author", "author_hub: ada\n  author_name: Ada Lovelace"),
    "a name like a placeholder's": metadata("title: Your own shell", "tags: [todo, your-text, 3d, '2024']"),
    "an alias of a domain": category("debugging"),
    "a domain in capitals": category("NATURAL-SCIENCE"),
    "a domain in words": category("Industrial Physical Systems"),
    "a domain with low lines": category("mathematics_or_formal_reasoning"),
    "an alias in words": category("Finance and Economics"),
    "an alias with a sign": category("Finance & Economics"),
    "no difficulty": task("  difficulty: easy\n", ""),
    "an adapted task": task("origin: original", "origin: adapted\n  origin_url: https://example.org/7"),
    "tags in lines": metadata("tags:", "  - a", "  - 'b: c'"),
    "empty lists": metadata("tags: []"),
    "a name with an at sign": metadata("homepage: https://mastodon.example/@ada", "npm: '@scope/tool@1.2.3'"),
    "a licence with an exception": licence("GPL-2.0-only WITH Classpath-exception-2.0"),
    "a licence in brackets": licence("(MIT OR Apache-2.0) AND CC-BY-4.0"),
    "a licence in lower case": licence("apache-2.0"),
    "words of a licence in lower case": licence("mit or apache-2.0"),
    "a choice that one may make": licence("MIT OR CC-BY-ND-4.0"),
    "a choice with a licence of one's own": licence("LicenseRef-mine OR MIT"),
    "an older id": licence("GPL-3.0"),
    "or later": licence("'LGPL-2.1+'"),
    "the Hub's word for a licence": licence("odc-by"),
    "a folded licence": licence(">-\n    MIT"),
}  # fmt: skip

PROMPTS: dict[str, Changes] = {
    "no reserved heading": body(BODY),
    "other headings": body("# Task\n\n## Prompts\n\nA.\n\n## Output\n\n" + BODY),
    "closing marks": body("## prompt ##\n\n" + BODY),
    "capitals": body("## Prompt\n\n" + BODY),
    "a title before": body("# Apples\n\n## prompt\n\n" + BODY),
    "a heading in a fence": body(RESERVED + "```md\n## prompt\n```\n" + BODY),
    "a heading in a long fence": body(RESERVED + "````\n```\n## prompt\n````\n~~~~ md\n~~~\n## role:a\n~~~~\n" + BODY),
    "a heading in an indented fence": body(RESERVED + "- so:\n\n   ```\n## prompt\n   ```\n" + BODY),
    "a heading in a fence of a list": body(RESERVED + "1. so:\n\n      ```\n      ## prompt\n      ```\n" + BODY),
    "a heading as code": body(RESERVED + "    ## prompt\n\n" + BODY),
    "a deeper heading": body(RESERVED + "### prompt\n\n" + BODY),
    "roles and scenes": body("## role:critic\n\nBe hard.\n\n## scene:morning\n\nIt rains.\n\n## user-persona\n\nTerse.\n\n" + RESERVED + BODY),
    "a rule of dashes": body(RESERVED + BODY + "\n---\n\nversion: 2\n"),
    "a TODO to work on": prompt("Replace the TODO in main.py.", "Fix every FIXME, and leave no XXX."),
    "lines that begin with TODO": prompt("Mend these:", "", "- TODO comments in `src/` must be gone", "- todo.txt is the list", "TODO items become issues."),
    "a list of TODO": prompt("Print this:", "", "```", "TODO", "TODO: buy milk", "<your name>", "lorem ipsum", "```"),
    "a name in angles": prompt("Print `Hello, <name>`, where <name> is the user's name.", "The path is /srv/<your-id>/{your_file}."),
    "HTML": prompt("Wrap it in <div class='x'>, then <!-- describe nothing --> and <br/>.", "", "<details>", "<b>x</b>", "</details>"),
    "a choice": prompt("Make a server in [your choice] of language.", "Use <insert_date> as the marker."),
    "an instruction about tasks": prompt("Add the task to the queue", "Write the task description to /root/task.txt", "Describe your prompt to the user"),
    "a title": prompt("# TODO", "", "Build a TODO list that shows TODO and DONE.", "", "- [ ] TODO column", "- [x] DONE column"),
    "a form as code": prompt("Print, one a line:", "", "    <your name>", "    [insert date]"),
    "a table": {"verifier/rubrics/quality.md": "| criterion | weight |\n|---|---|\n| no TODO left | 0.5 |\n| `<your name>` kept | 1 |\n"},
    "words like a form's": prompt("Your task: add your name here.", "Use XXX as the mask: 12-XXX-34.", "XXX-12 stays."),
    "steps in capitals": prompt("Fill in the form.", "", "1. Describe the bug", "2. Write a test.", "", "{your_name} is kept."),
    "blind text": prompt("Fill the page with lorem ipsum text, and print it."),
    "a lower-case marker": prompt("Set every value that is `replace-me` in conf.ini."),
    "an address": prompt("Write to root@example.org, by https://example.org/x."),
    "an input of the tests": {
        **prompt("The file holds 48213 rows; the server listens on port 5432 and waits 1500 ms."),
        "verifier/test_outputs.py": "def test_a():\n    assert total(48213) == 17\n    assert port == 5432\n    assert wait == 1500\n",
    },
    "directions of writing": prompt("اكتب كلمة apple في الملف.", "写入文件。", "🍎"),
    "Markdown with YAML": prompt("Write:", "", "```yaml", "---", "a: 1", "---", "```"),
}  # fmt: skip

DOCKERFILES: dict[str, Changes] = {
    "ARG before FROM": {"environment/Dockerfile": "ARG V=1.35.0\nFROM busybox:${V}\n"},
    "directives": {"environment/Dockerfile": "# syntax=docker/dockerfile:1\n# check=skip=all\n\n# x\n\nARG A\nFROM busybox:1.35.0\n"},
    "a digest": {"environment/Dockerfile": "FROM busybox@sha256:" + "a" * 64 + "\n"},
    "an argument without a default": {"environment/Dockerfile": "ARG BASE\nFROM ${BASE:-busybox:1.35.0}\n"},
    "two arguments in a line": {"environment/Dockerfile": "ARG A=busybox B=1.35.0\nFROM $A:$B\n"},
    "a registry with a port": {"environment/Dockerfile": "FROM localhost:5000/a/b:1.2\n"},
    "scratch": {"environment/Dockerfile": "FROM scratch\nCOPY seed.txt /\n"},
    "stages": seeded(
        "FROM --platform=$BUILDPLATFORM golang:1.22 AS build\nCOPY . /src\nFROM build as more\nFROM busybox:1.35.0\n"
        "COPY --from=build /src/x /x\nCOPY --from=0 /y /y\nCOPY --from=alpine:3.20 /etc/passwd /p\n"
    ),
    "here-documents": dockerfile(
        "RUN <<A cat > /a && <<B cat > /b", "FROM nothing", "A", "COPY nothing /", "B",
        "RUN <<-'E'", "\techo $((1 << 4))", "\tE", 'COPY <<"X" <<Y /dir/', "$x", "X", "Y",
    ),
    "no here-documents": dockerfile("RUN echo $((1<<4)) && cat <<<word && x=$((1 << 2))", 'RUN echo "<<EOF"'),
    "a here-document for an interpreter": dockerfile("RUN python3 - <<'PY'", "import os", "PY", "RUN sh <<E", "pip --version", "E"),
    "comments in a continuation": dockerfile("RUN true \\", "  # why", "", "# more", "  && true \\  ", "  && echo '#'"),
    "another escape": {"environment/Dockerfile": "# escape=`\nFROM busybox:1.35.0\nRUN true `\n  && echo C:\\\nCOPY seed.txt C:\\\n"},
    "JSON forms": seeded('FROM busybox:1.35.0\nCOPY ["a b.txt", "seed.txt", "/x/"]\nRUN ["true"]\nCMD [ "sh", "-c", "x" ]\n', "a b.txt"),
    "quoted paths": seeded("FROM busybox:1.35.0\nCOPY \"a b.txt\" 'c d.txt' /x/\n", "a b.txt", "c d.txt"),
    "addresses": dockerfile("ADD https://example.org/x.tgz /x", "ADD --checksum=sha256:abc http://example.org/y /", "ADD git@github.com:o/n.git#v1 /n", "ADD https://github.com/o/n.git#main /n"),
    "everything": dockerfile("COPY . .", "COPY ./ /app/", "COPY ./seed.txt .", "ADD seed.txt ./"),
    "patterns": seeded("FROM busybox:1.35.0\nCOPY *.txt data/*/x?.[ct]sv requirements*.txt /x/\nCOPY d*/ /y/\n", "data/a/x1.csv", "requirements.txt"),
    "a pattern that excludes": seeded("FROM busybox:1.35.0\nCOPY [^a]*.txt /x/\n", "b.txt"),
    "an escaped pattern": seeded("FROM busybox:1.35.0\nCOPY a[[]0].txt /x/\n", "a[0].txt"),
    "flags": dockerfile("COPY --chown=1000:1000 --chmod=u=rwX,go=rX --link seed.txt /x", "COPY --exclude=*.md --exclude=tmp . /x"),
    "parents": seeded("FROM busybox:1.35.0\nCOPY --parents ./a/./b/c.txt /x/\nCOPY --parents a/**/*.txt /y/\nCOPY --parents **/c.txt /z/\n", "a/b/c.txt"),
    "lower case": {"environment/Dockerfile": "from busybox:1.35.0 as x\ncopy seed.txt /\nrun true\nFrom x\n"},
    "blanks and tabs": {"environment/Dockerfile": "\n  FROM\tbusybox:1.35.0  \n\tCOPY   seed.txt\t/\n"},
    "CRLF": {"environment/Dockerfile": "FROM busybox:1.35.0\r\nRUN true \\\r\n  && true\r\nCOPY seed.txt /\r\nRUN <<E\r\ntrue\r\nE\r\n"},
    "a byte order mark": {"environment/Dockerfile": "\ufeffFROM busybox:1.35.0\n"},
    "no newline at the end": {"environment/Dockerfile": "FROM busybox:1.35.0\nCOPY seed.txt /"},
    "rare instructions": dockerfile(
        "ONBUILD COPY later /x", 'SHELL ["/bin/sh", "-ec"]', "HEALTHCHECK NONE", "HEALTHCHECK --interval=5s CMD true",
        "STOPSIGNAL 9", "VOLUME /v", "EXPOSE 80/tcp", "MAINTAINER x", "ENV A=1 B='2 3'", "ENV C d e", "LABEL a.b=c d=\"e \\", "f\"", "USER 1000",
    ),
    "mounts": dockerfile("RUN --mount=type=cache,target=/root/.cache --network=none --mount=type=bind,source=seed.txt,target=/s true"),
    "a build argument": dockerfile("ARG FILE=seed.txt", "COPY $FILE ${FILE} /x/"),
    "hashed requirements": {
        **dockerfile("COPY requirements.txt /", "RUN pip install --no-cache-dir --require-hashes -r /requirements.txt"),
        "environment/requirements.txt": "# x\n--index-url https://example.org\nnumpy==2.1.3 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n-e .\n./pkg\nx @ https://example.org/x-1.whl\n",
    },
    "constraints": {
        **dockerfile("COPY constraints.txt /", "RUN pip install -c /constraints.txt numpy pandas", "RUN pip install --constraint=/constraints.txt scipy"),
        "environment/constraints.txt": "numpy==2.1.3\n",
    },
    "constrained requirements": {
        **dockerfile("COPY r.txt c.txt /", "RUN pip install -r r.txt -c c.txt"),
        "environment/r.txt": "numpy\n", "environment/c.txt": "numpy==2.1.3\n",
    },
    "local installs": dockerfile(
        "RUN pip install -e . && pip install /srv/x ./y[dev] src/pkg/ .[test]", "RUN pip install --no-index --find-links=/wheels numpy",
        "RUN pip install /wheels/*.whl x-1.0-py3-none-any.whl && python3 -m pip install --editable=lib", "RUN uv pip install --system numpy==2.1.3 && pip install --upgrade pip",
        "RUN npm install && npm ci && npm install ./tool ../x.tgz file:lib && npm run add thing && npm test install",
    ),
    "pins of other kinds": dockerfile(
        "RUN pip install 'numpy===2.1.3' \"pandas==2.2.*\" git+https://example.org/x@v1 https://example.org/y.zip", "RUN npm i -g @a/b@1.2.3 left-pad@1.3.0 && yarn add x@1",
        "RUN pip install -i https://example.org/simple --extra-index-url=https://example.org -t /x a==1", 'RUN pip install "$PACKAGES" numpy==${NUMPY}',
    ),
    "Debian's packages": dockerfile("RUN apt-get update && apt-get install -y --no-install-recommends curl git=1:2.39* && apk add --no-cache jq"),
    "what only mentions installing": dockerfile("RUN echo 'pip install numpy' > /root/README  # npm install x", "LABEL how=\"pip install x\"", "ENV HINT='pip install y'"),
    "broken scripts to mend": {"environment/app/a.py": "def f(:\n", "environment/app/b.sh": "if true\n", "environment/c.json": "{", "environment/d.sh": "#!/bin/sh\r\nx\r\n"},
    "seed data of any kind": {"environment/latin.csv": "caf\udce9\r\n", "environment/a.bin": "\0\udcff", "environment/empty": "", "environment/.hidden": "x\n", "environment/.dockerignore": "# nothing\n\n"},
    "an empty module in both": {"environment/__init__.py": "", "verifier/__init__.py": "", "oracle/__init__.py": ""},
    "an input that the verifier keeps": {
        **prompt("Sum up the column of data/table.csv."),
        "environment/data/table.csv": "a\n1\n2\n3\n4\n", "verifier/table.csv": "a\n1\n2\n3\n4\n",
    },
    "dependencies and a licence in both": {
        **{f"{part}/requirements.txt": "pytest==8.3.4\n" for part in ("environment", "verifier")},
        **{f"{part}/LICENSE": "Do what you like with it.\n" for part in ("environment", "oracle")},
    },
    "stages of many names": {"environment/Dockerfile": "FROM busybox:1.35.0 AS A-b.c\nFROM a-B.c\nCOPY --from=A-B.C /x /x\nCOPY --from=$X /y /y\n"},
    "words in a tag": {"environment/Dockerfile": "FROM debian:bookworm-slim AS a\nFROM node:22-alpine\nFROM ghcr.io/o/n:v1\n"},
    "a folder named like the oracle": seeded("FROM busybox:1.35.0\nCOPY oracle tests/ /x/\nCOPY verifier/a.txt /\n", "oracle/a.sql", "tests/a.py", "verifier/a.txt"),
    "skills": {**dockerfile("COPY skills /root/.skills"), "environment/skills/sum-up/SKILL.md": "---\nname: sum-up\n---\nTODO lists are fine.\n"},
    "Markdown about TODO": {"environment/notes.md": "TODO\n\nlorem ipsum <your name>\n", "environment/conf.ini": "key = REPLACE-ME\n"},
}  # fmt: skip

CASES = [
    pytest.param(changes, id=f"{kind}: {name}")
    for kind, table in (("document", DOCUMENTS), ("prompt", PROMPTS), ("image", DOCKERFILES))
    for name, changes in table.items()
]


@pytest.mark.parametrize("changes", CASES)
def test_nothing_is_found_in_a_legal_package(tmp_path: Path, changes: Changes) -> None:
    root = write_package(tmp_path / "write-apple", changes)
    assert check_package(root).findings == []
    assert load_package(root).prompt


def test_headings_in_fences_stay_in_the_prompt(tmp_path: Path) -> None:
    for number, name in enumerate(n for n in PROMPTS if n.startswith("a heading")):
        package = load_package(write_package(tmp_path / f"p-{number}", PROMPTS[name]))
        assert package.prompt.endswith(BODY.strip()), name
        assert "## " in package.prompt, name


LAYOUTS: dict[str, list[str]] = {
    "at the root": ["a-1", "a-2"],
    "under envs": ["envs/a-1", "envs/a-2"],
    "under tasks": ["tasks/a-1", "tasks/a-2"],
    "in all three places": ["a-1", "envs/a-2", "tasks/a-3"],
    "names of 64 characters": ["a" * 64, "a" * 63 + "b"],
    "names of digits": ["1", "2", "0-0"],
    "one alone": ["a"],
    "names that begin alike": ["a", "a-a", "aa", "a-1", "a1"],
}


@pytest.mark.parametrize("names", LAYOUTS.values(), ids=LAYOUTS)
def test_a_collection_may_lie_in_any_layout(tmp_path: Path, names: list[str]) -> None:
    for number, name in enumerate(names):
        write_package(tmp_path / name, {"environment/seed.txt": f"seed {number}\n"})
    drafts = tmp_path / "_drafts/half-done"
    write_package(drafts, {"task.md": "no front matter", "oracle/solve.sh": None})
    for name in (
        ".github/workflows/x.yml",
        "docs/a.md",
        "scripts/make.py",
        "LICENSE",
        ".gitattributes",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x: [")
    (tmp_path / "README.md").write_text("---\nlicense: [odc-by]\npretty_name: x\n---\n# Apples\n")
    report = check_collection(tmp_path)
    assert [f for part in (report, *report.packages) for f in part.findings] == []
    assert report.collection is not None
    assert len(report.collection.packages) == len(names)


@pytest.mark.parametrize(
    "settings",
    [
        "# nothing yet\n",
        "team_name: 'The Two: A & B'\ntrack: open\nlicense: cc0-1.0\nmembers:\n  - ada\n  - grace-h\n",
        "members: []\nextra: {x: 1}\n",
        "\ufeffteam_name: x\r\nmembers: [a]\r\n",
        "--- # x\nlicense: >-\n  MIT OR Apache-2.0\n",
    ],
)
def test_settings_may_be_written_in_any_way(tmp_path: Path, settings: str) -> None:
    write_collection(tmp_path / "c", count=1)
    (tmp_path / "c/submission.yaml").write_bytes(settings.encode())
    report = check_collection(tmp_path / "c")
    assert report.findings == []
    assert report.ok


def test_a_collection_of_200_packages_is_sound(tmp_path: Path) -> None:
    report = check_collection(write_collection(tmp_path / "c", count=200))
    assert report.findings == []
    assert report.collection is not None
    assert len(report.collection.packages) == 200
