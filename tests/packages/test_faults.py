"""Planted faults, each found with its code at its file and line."""

from pathlib import Path

import pytest

from arena.packages import ResourceCaps, check_collection, check_package
from tests.collections import FILES, write_collection, write_package
from tests.packages.changes import Changes, dockerfile, outputs, prompt, task, verdict

Place = tuple[str, str, int | None]

REWARD = "echo $r > /logs/verifier/reward.txt"
CHECK = "if grep -q apple /root/answer.txt; then r=1; else r=0; fi"
LATIN = "caf\udce9\n"

FAULTS: list[tuple[str, Changes, Place]] = [
    # files
    ("rubric of blanks", {"verifier/rubrics/quality.md": " \n"}, ("TP001", "verifier/rubrics/quality.md", None)),
    ("pointer as seed data", {"environment/seed.txt": "version https://git-lfs.github.com/spec/v1\noid sha256:0\n"}, ("TP030", "environment/seed.txt", 1)),
    ("CRLF oracle", {"oracle/solve.sh": "#!/bin/sh\necho a\r\necho apple > /root/answer.txt\n"}, ("TP031", "oracle/solve.sh", 2)),
    ("CRLF test without a shebang", {"verifier/test.sh": f"{CHECK}\n{REWARD}\r\n"}, ("TP031", "verifier/test.sh", 2)),
    ("CRLF Python with a shebang", {"verifier/check.py": "#!/usr/bin/env python3\r\nprint(1)\r\n"}, ("TP031", "verifier/check.py", 1)),
    ("a NUL byte", {"verifier/verifier.md": "---\n\0"}, ("TP013", "verifier/verifier.md", 2)),
    ("a Latin-1 rubric", {"verifier/rubrics/quality.md": "x\n" + LATIN}, ("TP013", "verifier/rubrics/quality.md", 2)),
    ("a private key", {"environment/id": None, "environment/id.pem": "\n-----BEGIN RSA PRIVATE KEY-----\n" + "M" * 64 + "\n"}, ("TP029", "environment/id.pem", 2)),
    ("a GitHub token", verdict(CHECK, REWARD, "# ghp_" + "a1B2" * 9), ("TP029", "verifier/test.sh", 4)),
    # document
    ("a reserved heading twice", task("Write the", "A\n\n## prompt\n\nWrite the"), ("TP002", "task.md", 21)),
    ("an alias", task("  author_hub: author", "  author_hub: &a author\n  x: *a"), ("TP002", "task.md", 5)),
    ("no closing line", {"task.md": "---\nversion: '1.0'\n"}, ("TP002", "task.md", 1)),
    ("no agent", task("agent:\n  timeout_sec: 10\n", ""), ("TP003", "task.md", 2)),
    ("no author", task("  author_hub: author\n", ""), ("TP003", "task.md", 3)),
    ("no category", task("  category: software-engineering\n", ""), ("TP003", "task.md", 3)),
    ("major 2", task('"1.0"', '"2.0"'), ("TP003", "task.md", 2)),
    ("difficulty", task("difficulty: easy", "difficulty: trivial"), ("TP003", "task.md", 6)),
    ("tags that are no list", task("  origin: original", "  origin: original\n  tags: a, b"), ("TP003", "task.md", 9)),
    ("adapted from nowhere", task("origin: original", "origin: adapted"), ("TP003", "task.md", 3)),
    ("infinite time", task("agent:\n  timeout_sec: 10", "agent:\n  timeout_sec: .inf"), ("TP003", "task.md", 10)),
    ("two spellings that disagree", task("environment:\n  memory_mb: 64", "environment:\n  memory_mb: 64\nsandbox:\n  memory_mb: 128"), ("TP003", "task.md", 2)),
    ("network twice", task("  memory_mb: 64", "  memory_mb: 64\n  allow_internet: true\n  network_mode: no-network"), ("TP003", "task.md", 13)),
    ("an allowlist of nothing", task("  memory_mb: 64", "  network_mode: allowlist"), ("TP003", "task.md", 13)),
    ("a relative artifact", task("environment:", "artifacts: [out/]\nenvironment:"), ("TP003", "task.md", 13)),
    ("other headings alone", task("## prompt", "## role:critic"), ("TP004", "task.md", 16)),
    ("a misspelt key", task("verifier:\n", "verifyer: {}\nverifier:\n"), ("TP015", "task.md", 11)),
    ("an address in a list", task("  origin: original", "  origin: original\n  tags:\n    - a\n    - me@example.org"), ("TP016", "task.md", 11)),
    ("no such licence", task("Apache-2.0", "Apache2"), ("TP019", "task.md", 7)),
    ("a licence of one's own", task("Apache-2.0", "LicenseRef-mine"), ("TP020", "task.md", 7)),
    ("both, one without derivatives", task("Apache-2.0", "MIT AND CC-BY-NC-ND-4.0"), ("TP020", "task.md", 7)),
    ("the template's author", task("author_hub: author", "author_hub: REPLACE-ME"), ("TP021", "task.md", 4)),
    ("a TODO for a prompt", task("Write the word apple to /root/answer.txt.", "TODO: write the task"), ("TP021", "task.md", 19)),
    ("a rubric to be written", {"verifier/rubrics/quality.md": "# Quality\n\n<your criteria>\n"}, ("TP021", "verifier/rubrics/quality.md", 3)),
    ("a marker in a test", outputs("import os", "x = 'REPLACE-ME'"), ("TP021", "verifier/test_outputs.py", 2)),
    (
        "the number that is expected",
        {**task("Write the word", "The total is 48213.\nWrite the word"), **outputs("def test_total():", "    assert read() == 48213")},
        ("TP035", "task.md", 19),
    ),
    # environment
    ("an ignore file", {"environment/.dockerignore": "\n# logs\n*.log\n!a.log\n"}, ("TP040", "environment/.dockerignore", 3)),
    ("an ignore file of the Dockerfile's own", {"environment/Dockerfile.dockerignore": "answers"}, ("TP040", "environment/Dockerfile.dockerignore", 1)),
    ("COPY of another package", dockerfile("", "COPY ../../other/x /x"), ("TP006", "environment/Dockerfile", 3)),
    ("COPY from the root", dockerfile("COPY /etc/passwd /x"), ("TP006", "environment/Dockerfile", 2)),
    ("COPY in JSON", dockerfile('COPY ["no such file", "/x"]'), ("TP006", "environment/Dockerfile", 2)),
    ("COPY after a here-document", dockerfile("RUN <<E", "COPY nothing /", "E", "ADD missing.tar /"), ("TP006", "environment/Dockerfile", 5)),
    ("the oracle is copied", dockerfile("COPY ../oracle/solve.sh /x"), ("TP022", "environment/Dockerfile", 2)),
    (
        "the expected answer lies about",
        {"environment/out.json": '{"total": 12}', "verifier/expected.json": '{"total": 12}'},
        ("TP022", "environment/out.json", None),
    ),
    ("the solution lies about", {"environment/fix.sh": FILES["oracle/solve.sh"]}, ("TP022", "environment/fix.sh", None)),
    ("latest", {"environment/Dockerfile": "# x\nFROM ubuntu:latest\n"}, ("TP023", "environment/Dockerfile", 2)),
    ("a second stage without a tag", dockerfile("FROM registry.example.org:5000/tools"), ("TP023", "environment/Dockerfile", 2)),
    ("pip without versions", dockerfile("RUN pip install --no-cache-dir numpy==2.1.3 \\", "    pandas"), ("TP024", "environment/Dockerfile", 2)),
    ("npm without a version", dockerfile("RUN npm install -g @scope/tool"), ("TP024", "environment/Dockerfile", 2)),
    ("pip in a here-document", dockerfile("RUN <<E", "pip3 install scipy", "E"), ("TP024", "environment/Dockerfile", 2)),
    (
        "loose requirements",
        {**dockerfile("COPY requirements.txt /", "RUN pip install -r /requirements.txt"), "environment/requirements.txt": "a==1\n# b\nc>=2\n"},
        ("TP024", "environment/requirements.txt", 3),
    ),
    ("no such instruction", dockerfile("", "COPPY a b"), ("TP026", "environment/Dockerfile", 3)),
    ("a here-document without an end", dockerfile("RUN <<EOF", "true"), ("TP026", "environment/Dockerfile", 2)),
    # verifier
    ("a judge that is not run here", {"verifier/verifier.md": "---\nverifier:\n  default_strategy: a\n  strategies:\n    a: {type: llm-judge, rubric: x}\n---\n"}, ("TP011", "verifier/verifier.md", 5)),
    ("a weight that is a word", {"verifier/verifier.md": FILES["verifier/verifier.md"].replace("  name: answer\n", "  name: answer\n  rubric:\n    dimensions:\n      style: {weight: much}\n")}, ("TP011", "verifier/verifier.md", 7)),
    ("1 after the tests, whatever they say", verdict("python3 -m unittest || true", "echo 1.0 > /logs/verifier/reward.txt"), ("TP012", "verifier/test.sh", 3)),
    ("1 through a variable", verdict("REWARD=1", 'mkdir -p "$(dirname "$BENCHFLOW_REWARD_TEXT")"', 'echo "${REWARD}" > "$BENCHFLOW_REWARD_TEXT"'), ("TP012", "verifier/test.sh", 4)),
    ("1 by a here-document", verdict("cat > /logs/verifier/reward.txt <<EOF", "1", "EOF"), ("TP012", "verifier/test.sh", 2)),
    ("1 by tee", verdict("echo 1 | tee /logs/verifier/reward.txt"), ("TP012", "verifier/test.sh", 2)),
    ("1 as JSON", verdict("echo '{\"reward\": 1.0}' > /logs/verifier/reward.json"), ("TP012", "verifier/test.sh", 2)),
    ("1 on both branches", verdict("if true; then echo 1 > /logs/verifier/reward.txt", "else echo 1.0 > /logs/verifier/reward.txt; fi"), ("TP012", "verifier/test.sh", 2)),
    ("0 for everyone", verdict("printf '%s\\n' 0 > /logs/verifier/reward.txt"), ("TP012", "verifier/test.sh", 2)),
    (
        "1 from Python",
        {**verdict("python3 /verifier/test_outputs.py"), **outputs("from pathlib import Path", "Path('/logs/verifier/reward.txt').write_text('1.0')")},
        ("TP012", "verifier/test_outputs.py", 2),
    ),
    ("a test that passes", outputs("class TestT:", "    def test_a(self):", "        pass"), ("TP028", "verifier/test_outputs.py", 2)),
    ("a test of words", outputs('def test_a():', '    """Later."""'), ("TP028", "verifier/test_outputs.py", 1)),
    ("apt at scoring time", verdict("apt-get update && apt-get install -y jq", CHECK, REWARD), ("TP027", "verifier/test.sh", 2)),
    ("uvx at scoring time", verdict("curl -LsSf https://astral.sh/uv/install.sh | sh", "if uvx --with pytest==8.4.1 pytest /verifier; then r=1; else r=0; fi", REWARD), ("TP027", "verifier/test.sh", 2)),
    ("pip as a module, wrapped", verdict("env PIP_QUIET=1 timeout 60 python3 -m pip install pytest", CHECK, REWARD), ("TP027", "verifier/test.sh", 2)),
    ("curl in a string", verdict("bash -c 'curl -s https://example.org/x > /tmp/x'", CHECK, REWARD), ("TP027", "verifier/test.sh", 2)),
    ("git clone", verdict("git clone https://github.com/o/n /tmp/n", CHECK, REWARD), ("TP027", "verifier/test.sh", 2)),
    ("a data set", outputs("from datasets import load_dataset", "def test_a():", "    assert load_dataset('o/n')"), ("TP027", "verifier/test_outputs.py", 3)),
    ("requests", outputs("import requests as r", "URL = 'https://example.org/a'", "def test_a():", "    assert r.get(URL).ok"), ("TP027", "verifier/test_outputs.py", 4)),
    ("a table from afar", outputs("import pandas as pd", "def test_a():", "    assert len(pd.read_csv('https://example.org/a.csv'))"), ("TP027", "verifier/test_outputs.py", 3)),
    ("pip by subprocess", outputs("import subprocess", "subprocess.run(['pip', 'install', 'x'], check=True)", "def test_a():", "    assert f()"), ("TP027", "verifier/test_outputs.py", 2)),
    ("wget by os.system", outputs("import os", "os.system('wget -q https://example.org/x')", "def test_a():", "    assert f()"), ("TP027", "verifier/test_outputs.py", 2)),
    # the agent's code
    ("a program", verdict("timeout -k 5 10 /root/bin/run --x", CHECK, REWARD), ("TP041", "verifier/test.sh", 2)),
    ("a script", verdict(CHECK, "env A=1 timeout 10 bash -xe /root/run.sh", REWARD), ("TP041", "verifier/test.sh", 3)),
    ("a script that is read in", verdict(". /root/env.sh", CHECK, REWARD), ("TP041", "verifier/test.sh", 2)),
    ("a script of a variable's folder", verdict("APP=/root/app", "node $APP/main.js < x", CHECK, REWARD), ("TP041", "verifier/test.sh", 3)),
    ("a relative program", verdict("cd /root/app || exit 1", "./run.sh", CHECK, REWARD), ("TP041", "verifier/test.sh", 3)),
    ("a program where the image starts", {**dockerfile("WORKDIR /srv", "WORKDIR app"), **verdict("python3 -u main.py", CHECK, REWARD)}, ("TP041", "verifier/test.sh", 2)),
    ("a Makefile", verdict("make -C /root/app test", CHECK, REWARD), ("TP041", "verifier/test.sh", 2)),
    ("an artifact", {**task("environment:", "artifacts: [/srv/out]\nenvironment:"), **verdict("/srv/out/run", CHECK, REWARD)}, ("TP041", "verifier/test.sh", 2)),
    ("a program in Python", outputs("import subprocess", "subprocess.check_output(['timeout', '5', 'python3', '/root/a.py'])"), ("TP041", "verifier/test_outputs.py", 2)),
    ("a path in Python", outputs("import sys", "from pathlib import Path", "from subprocess import run", "APP = Path('/root') / 'app' / 'main.py'", "run([sys.executable, str(APP)])"), ("TP041", "verifier/test_outputs.py", 5)),
    ("a line in Python", outputs("import os", "os.system('bash /root/a.sh')"), ("TP041", "verifier/test_outputs.py", 2)),
    ("pytest where the image starts", {**dockerfile("WORKDIR /root"), **verdict("pytest -q", CHECK, REWARD)}, ("TP042", "verifier/test.sh", 2)),
    ("pytest over the agent's tests", verdict("pytest -q /root/tests/test_a.py::test_b", CHECK, REWARD), ("TP042", "verifier/test.sh", 2)),
    ("a module from the agent's folder", verdict("(cd /tmp; ls)", "cd /root", "(cd /srv)", "python3 -um pytest /verifier", CHECK, REWARD), ("TP042", "verifier/test.sh", 5)),
    ("an oracle that downloads", {"oracle/solve.sh": "#!/bin/sh\n\npip install x\n"}, ("TP036", "oracle/solve.sh", 3)),
    ("a quote that never ends", verdict(CHECK, 'echo "$r > /logs/verifier/reward.txt'), ("TP032", "verifier/test.sh", 3)),
    ("an unfinished loop", {"oracle/solve.sh": "#!/bin/bash\nfor i in 1 2; do\n  echo $i\n"}, ("TP032", "oracle/solve.sh", 2)),
    ("indented wrongly", outputs("def f():", "return 1"), ("TP033", "verifier/test_outputs.py", 2)),
    ("Python of the last century", {"oracle/x.py": "import sys\nprint >>sys.stderr, 'x' 'y' if\n"}, ("TP033", "oracle/x.py", 2)),
    ("the tests are missing", verdict("pytest -q /verifier/test_outputs.py::test_a", CHECK, REWARD), ("TP034", "verifier/test.sh", 2)),
    ("by the legacy path", verdict("python3 /tests/check.py", CHECK, REWARD), ("TP034", "verifier/test.sh", 2)),
    # rewards in other disguises
    ("1 over what was there", verdict("mkdir -p /logs/verifier", "echo 1 >| /logs/verifier/reward.txt"), ("TP012", "verifier/test.sh", 3)),
    ("1 by a here-string", verdict("cat <<< 1 > /logs/verifier/reward.txt", shell="#!/bin/bash"), ("TP012", "verifier/test.sh", 2)),
    ("1, its file named first", verdict("> /logs/verifier/reward.txt echo 1"), ("TP012", "verifier/test.sh", 2)),
    ("1 by a group", verdict("{ echo 1; } > /logs/verifier/reward.txt"), ("TP012", "verifier/test.sh", 2)),
    ("1 in the reward's folder", verdict("cd /logs/verifier && echo 1 > reward.txt"), ("TP012", "verifier/test.sh", 2)),
    ("1 to a file in a variable", verdict("OUT=/logs/verifier/reward.txt", 'echo 1 > "$OUT"'), ("TP012", "verifier/test.sh", 3)),
    ("1 in every case", verdict("case $(cat /a) in", "a) echo 1 > /logs/verifier/reward.txt ;;", "*) echo 1 > /logs/verifier/reward.txt ;;", "esac"), ("TP012", "verifier/test.sh", 3)),
    ("1 in a variable on both branches", verdict("if pytest /verifier; then r=1; else r=1; fi", REWARD), ("TP012", "verifier/test.sh", 3)),
    ("0, the tests, then 1", verdict("echo 0 > /logs/verifier/reward.txt", "pytest /verifier", "echo 1 > /logs/verifier/reward.txt"), ("TP012", "verifier/test.sh", 4)),
    ("1 after all", verdict(CHECK, REWARD, "echo 1 > /logs/verifier/reward.txt", "exit 0"), ("TP012", "verifier/test.sh", 4)),
    ("1 with more numbers", verdict("echo '{\"reward\": 1, \"tests\": 3}' > /logs/verifier/reward.json"), ("TP012", "verifier/test.sh", 2)),
    ("1 by a line of Python", verdict("python3 -c \"open('/logs/verifier/reward.txt', 'w').write('1')\""), ("TP012", "verifier/test.sh", 2)),
    ("1 by Python in place", verdict("python3 - <<'E'", "open('/logs/verifier/reward.txt', 'w').write('1')", "E"), ("TP012", "verifier/test.sh", 3)),
    (
        "1 from main",
        {**verdict("python3 /verifier/test_outputs.py"), **outputs("from pathlib import Path", "def main():", "    Path('/logs/verifier/reward.txt').write_text('1')", "if __name__ == '__main__':", "    main()")},
        ("TP012", "verifier/test_outputs.py", 3),
    ),
    (
        "1 by json.dump",
        {**verdict("python3 /verifier/test_outputs.py"), **outputs("import json", "with open('/logs/verifier/reward.json', 'w') as f:", "    json.dump({'reward': 1.0}, f)")},
        ("TP012", "verifier/test_outputs.py", 3),
    ),
    # downloads in other disguises
    ("apt with a variable before", verdict("DEBIAN_FRONTEND=noninteractive sudo -E apt-get -qq install -y jq", CHECK, REWARD), ("TP027", "verifier/test.sh", 2)),
    ("apk in a function", verdict("setup() {", "  apk add jq", "}", "setup", CHECK, REWARD), ("TP027", "verifier/test.sh", 3)),
    ("curl in a substitution", verdict("x=$(curl -fsSLo /tmp/x https://example.org/x)", CHECK, REWARD), ("TP027", "verifier/test.sh", 2)),
    ("an address in a variable", verdict("BASE=https://example.org", 'wget "${BASE}/x"', CHECK, REWARD), ("TP027", "verifier/test.sh", 3)),
    ("an address by a flag", verdict("curl --url=https://example.org/x", CHECK, REWARD), ("TP027", "verifier/test.sh", 2)),
    ("an address without a scheme", verdict("curl -LO example.org/x.csv", CHECK, REWARD), ("TP027", "verifier/test.sh", 2)),
    ("uv run", verdict("uv run --with pytest pytest /verifier", CHECK, REWARD), ("TP027", "verifier/test.sh", 2)),
    ("npx", verdict("npx -y mocha", CHECK, REWARD), ("TP027", "verifier/test.sh", 2)),
    ("cargo", verdict("cargo install ripgrep", CHECK, REWARD), ("TP027", "verifier/test.sh", 2)),
    ("git by ssh", verdict("git clone --depth 1 git@github.com:o/n.git /tmp/n", CHECK, REWARD), ("TP027", "verifier/test.sh", 2)),
    ("a data set by its tool", verdict("huggingface-cli download o/n", CHECK, REWARD), ("TP027", "verifier/test.sh", 2)),
    ("a cloud copy", verdict("gsutil -m cp gs://b/k /tmp", CHECK, REWARD), ("TP027", "verifier/test.sh", 2)),
    ("a helper that downloads", {**verdict("sh /verifier/setup.sh", CHECK, REWARD), "verifier/setup.sh": "#!/bin/sh\n\ncurl -O https://example.org/x\n"}, ("TP027", "verifier/setup.sh", 3)),
    ("pip in a shell in place", verdict("bash <<'E'", "pip install x", "E", CHECK, REWARD), ("TP027", "verifier/test.sh", 3)),
    ("Python in place", verdict("python3 <<'E'", "import urllib.request", "urllib.request.urlopen('https://example.org/x')", "E", CHECK, REWARD), ("TP027", "verifier/test.sh", 4)),
    ("a line of Python", verdict("python3 -c \"import requests; requests.get('https://example.org/x')\"", CHECK, REWARD), ("TP027", "verifier/test.sh", 2)),
    ("an address in parts", outputs("import requests", "BASE = 'https://example.org'", "def test_a():", "    assert requests.get(f'{BASE}/x').ok", "    assert requests.get(BASE + '/y').ok"), ("TP027", "verifier/test_outputs.py", 5)),
    ("an address in a test", outputs("import requests", "def test_a():", "    url = 'https://example.org'", "    assert requests.get(url)"), ("TP027", "verifier/test_outputs.py", 4)),
    ("pip by this Python", outputs("import subprocess, sys", "subprocess.check_call([sys.executable, '-m', 'pip', 'install', 'x'])", "def test_a(): assert f()"), ("TP027", "verifier/test_outputs.py", 2)),
    ("pip in words", outputs("from subprocess import run", "run('pip install x'.split())", "def test_a(): assert f()"), ("TP027", "verifier/test_outputs.py", 2)),
    # tests that can't fail
    ("unittest of True", outputs("import unittest", "class A(unittest.TestCase):", "    def test_a(self):", "        self.assertTrue(True)"), ("TP028", "verifier/test_outputs.py", 3)),
    ("unittest of equals", outputs("import unittest as u", "class A(u.TestCase):", "    def test_a(self): self.assertEqual(1, 1)"), ("TP028", "verifier/test_outputs.py", 3)),
    ("1 == 1", outputs("def test_a():", "    assert 1 == 1"), ("TP028", "verifier/test_outputs.py", 1)),
    ("a pair that is always true", outputs("def test_a():", "    assert (f() == 2, 'must be 2')"), ("TP028", "verifier/test_outputs.py", 1)),
    ("or True", outputs("def test_a():", "    assert f() or True"), ("TP028", "verifier/test_outputs.py", 1)),
    ("a print", outputs("async def test_a():", "    print('fine')"), ("TP028", "verifier/test_outputs.py", 1)),
    ("every fault caught", outputs("def test_a():", "    try:", "        assert f()", "    except:", "        pass"), ("TP028", "verifier/test_outputs.py", 1)),
    ("a class in a class", outputs("class TestA:", "    class TestB:", "        def test_a(self): pass"), ("TP028", "verifier/test_outputs.py", 3)),
    ("parameters of nothing", outputs("import pytest", "@pytest.mark.parametrize('a', [1])", "def test_a(a): pass"), ("TP028", "verifier/test_outputs.py", 3)),
    # images
    ("the second of two sources", dockerfile("copy --chown=1:1 --link seed.txt \\", "  none.txt /x/"), ("TP006", "environment/Dockerfile", 2)),
    ("a pattern of nothing", dockerfile("COPY *.csv /x/"), ("TP006", "environment/Dockerfile", 2)),
    ("another case", dockerfile("COPY Seed.txt /x"), ("TP006", "environment/Dockerfile", 2)),
    ("the package's folder in the path", dockerfile("COPY environment/seed.txt /x"), ("TP006", "environment/Dockerfile", 2)),
    ("COPY to nowhere", dockerfile("COPY seed.txt"), ("TP026", "environment/Dockerfile", 2)),
    ("FROM nothing", {"environment/Dockerfile": "FROM\n"}, ("TP026", "environment/Dockerfile", 1)),
    ("the answer with other line ends", {"environment/a.csv": "a,b\r\n1,20\r\n", "verifier/expected.csv": "a,b\n1,20"}, ("TP022", "environment/a.csv", None)),
    ("the answer in a hidden folder", {"environment/.cache/x": "the answer is 42\n", "verifier/expected.txt": "the answer is 42\n"}, ("TP022", "environment/.cache/x", None)),
    ("latest by an argument", {"environment/Dockerfile": "ARG I=python T=latest\nFROM $I:$T\n"}, ("TP023", "environment/Dockerfile", 2)),
    ("a variant without a version", {"environment/Dockerfile": "FROM --platform=linux/amd64 python:slim\n"}, ("TP023", "environment/Dockerfile", 1)),
    ("COPY from an image without a tag", dockerfile("COPY --from=ghcr.io/astral-sh/uv /uv /uv"), ("TP023", "environment/Dockerfile", 2)),
    ("pip in the JSON form", dockerfile('RUN ["pip", "install", "uvicorn[standard]"]'), ("TP024", "environment/Dockerfile", 2)),
    ("pip in a shell's string", dockerfile("RUN bash -lc 'pip install numpy'"), ("TP024", "environment/Dockerfile", 2)),
    ("pip from a branch", dockerfile("RUN pip install git+https://github.com/o/n"), ("TP024", "environment/Dockerfile", 2)),
    ("a tool of uv", dockerfile("RUN uv tool install ruff"), ("TP024", "environment/Dockerfile", 2)),
    ("npm's latest", dockerfile("RUN npm i left-pad@latest"), ("TP024", "environment/Dockerfile", 2)),
    # placeholders
    ("a heading alone", prompt("# TODO"), ("TP021", "task.md", 19)),
    ("TBD", prompt("**TBD**"), ("TP021", "task.md", 19)),
    ("a TODO among others", prompt("Do it.", "", "TODO: describe the task here"), ("TP021", "task.md", 21)),
    ("a bracket", prompt("[Describe the task here]"), ("TP021", "task.md", 19)),
    ("an angle", prompt("", "<insert prompt>"), ("TP021", "task.md", 20)),
    ("your prompt here", prompt("Write your prompt here."), ("TP021", "task.md", 19)),
    ("your description here", prompt("Your task description here."), ("TP021", "task.md", 19)),
    ("blind text", prompt("Lorem ipsum dolor sit amet, consectetur."), ("TP021", "task.md", 19)),
    ("an author to be named", task("author_hub: author", "author_hub: your-hub-name"), ("TP021", "task.md", 4)),
    ("an author in angles", task("author_hub: author", "author_hub: <hub user>"), ("TP021", "task.md", 4)),
    ("a title to be found", task("  origin: original", "  origin: original\n  title: 'TODO: title'"), ("TP021", "task.md", 9)),
    ("a description to be written", task("  origin: original", "  origin: original\n  description: Describe your task here"), ("TP021", "task.md", 9)),
    ("a point of the rubric", {"verifier/rubrics/quality.md": "# Quality\n\n- TODO\n"}, ("TP021", "verifier/rubrics/quality.md", 3)),
    ("a meaning to be told", {"verifier/verifier.md": FILES["verifier/verifier.md"].replace("The file holds the word.", "TODO: what passing means")}, ("TP021", "verifier/verifier.md", 10)),
    # licences
    ("a licence by its name", task("Apache-2.0", "Apache License 2.0"), ("TP019", "task.md", 7)),
    ("a licence in a file", task("Apache-2.0", "see LICENSE"), ("TP019", "task.md", 7)),
    ("half an expression", task("Apache-2.0", "MIT AND"), ("TP019", "task.md", 7)),
    ("an exception nobody knows", task("Apache-2.0", "MIT WITH mercy"), ("TP019", "task.md", 7)),
    ("a licence for an exception", task("Apache-2.0", "MIT WITH GPL-2.0-only"), ("TP019", "task.md", 7)),
    ("all rights reserved", task("Apache-2.0", "All Rights Reserved"), ("TP020", "task.md", 7)),
    ("together with one's own", task("Apache-2.0", "MIT AND LicenseRef-x"), ("TP020", "task.md", 7)),
    ("a choice of nothing", task("Apache-2.0", "CC-BY-ND-4.0 OR CC-BY-NC-ND-4.0"), ("TP020", "task.md", 7)),
    ("a list of licences", task("Apache-2.0", "[MIT]"), ("TP003", "task.md", 7)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "expected"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS]
)
def test_a_planted_fault_is_found_where_it_is(
    tmp_path: Path, changes: Changes, expected: Place
) -> None:
    report = check_package(write_package(tmp_path / "write-apple", changes))
    assert expected in [(f.code, f.file, f.line) for f in report.findings]
    assert all(f.message and f.hint for f in report.findings)


COLLECTION_FAULTS: list[tuple[str, dict[str, str], Place]] = [
    ("members that are no list", {"submission.yaml": "team_name: x\nmembers: ada\n"}, ("TP039", "submission.yaml", 2)),
    ("a member that is a number", {"submission.yaml": "members: [ada, 7]\n"}, ("TP039", "submission.yaml", 1)),
    ("broken settings", {"submission.yaml": "team_name: x\nmembers: [ada\n"}, ("TP039", "submission.yaml", 2)),
    ("settings that are a list", {"submission.yaml": "- a\n"}, ("TP039", "submission.yaml", 1)),
    ("a licence nobody knows", {"submission.yaml": "license: open\n"}, ("TP019", "submission.yaml", 1)),
    ("a card without derivatives", {"README.md": "---\nlicense: cc-by-nc-nd-4.0\n---\n"}, ("TP020", "README.md", 2)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("files", "expected"), [f[1:] for f in COLLECTION_FAULTS], ids=[f[0] for f in COLLECTION_FAULTS]
)
def test_a_collections_fault_is_found_where_it_is(
    tmp_path: Path, files: dict[str, str], expected: Place
) -> None:
    folder = write_collection(tmp_path / "c")
    for name, text in files.items():
        (folder / name).write_text(text)
    report = check_collection(folder)
    assert not report.ok
    assert expected in [(f.code, f.file, f.line) for f in report.findings]


def test_a_copy_of_a_package_is_found(tmp_path: Path) -> None:
    folder = write_collection(tmp_path / "c", count=1)
    write_package(folder / "a-first")
    write_package(folder / "a-second")
    found = [(f.code, f.file) for f in check_collection(folder).findings]
    assert found == [("TP037", "a-second")]


def test_a_task_of_another_format_is_named(tmp_path: Path) -> None:
    folder = write_collection(tmp_path / "c", count=1)
    (folder / "harbor-task" / "environment").mkdir(parents=True)
    (folder / "harbor-task" / "task.toml").write_text("version = '1.0'\n")
    report = check_collection(folder)
    [finding] = report.findings
    assert (finding.code, finding.file) == ("TP038", "harbor-task")
    assert "arena convert harbor-task" in finding.hint
    assert [p.name for p in report.packages] == ["write-apple-0"]


def test_what_is_above_a_challenges_caps_is_told_at_its_line(tmp_path: Path) -> None:
    root = write_package(tmp_path / "write-apple")
    caps = ResourceCaps(5, 10, 600, 1, 32)
    found = [(f.code, f.severity, f.line) for f in check_package(root, caps).findings]
    assert found == [("TP025", "warning", 10), ("TP025", "warning", 14)]
    assert check_package(root).findings == []
