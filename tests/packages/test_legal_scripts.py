"""Verifiers and oracles of unusual but legal shape: the checks find nothing in them."""

from pathlib import Path

import pytest

from arena.packages import check_package
from tests.collections import FILES, write_package
from tests.packages.changes import Changes, dockerfile, outputs, task, verdict

TXT = "/logs/verifier/reward.txt"
CHECK = "if grep -qx apple /root/answer.txt; then r=1; else r=0; fi"
REWARD = f"echo $r > {TXT}"
BASH = "#!/usr/bin/env bash"
IMPORTS = ("import pytest, unittest, abc, typing, subprocess", "from helpers import *", "")


def bash(*lines: str) -> Changes:
    return verdict(*lines, shell=BASH)


def helped(script: Changes, **files: str) -> Changes:
    """The script with files beside it, `check_sh` for verifier/check.sh."""
    return {
        **script,
        **{
            f"verifier/{name.replace('_sh', '.sh').replace('_py', '.py')}": text
            for name, text in files.items()
        },
    }


def strategy(command: str, **files: str) -> Changes:
    text = FILES["verifier/verifier.md"].replace(
        "command: sh /verifier/test.sh", f"command: {command}"
    )
    return helped({"verifier/verifier.md": text}, **files)


REWARDS: dict[str, Changes] = {
    "stops at a fault, then 1": verdict("set -eu", "grep -qx apple /root/answer.txt", f"echo 1 > {TXT}"),
    "stops at a fault, by its long name": bash("set -o errexit -o pipefail", "grep -q a /root/a", f"echo 1 > {TXT}"),
    "stops at a fault, in bash's way": bash("set -euo pipefail", "grep -q a /root/a", f"echo 1 > {TXT}"),
    "stops by the shebang": verdict("grep -q a /root/a", f"echo 1 > {TXT}", shell="#!/bin/sh -e"),
    "stops by hand": verdict("grep -q a /root/a || exit 1", f"echo 1 > {TXT}"),
    "a trap": bash(f"trap 'echo 0 > {TXT}' ERR", "grep -q a /root/a", f"echo 1 > {TXT}"),
    "a trap at the end": bash("r=0", f"trap 'echo $r > {TXT}' EXIT", "grep -q a /root/a && r=1"),
    "functions called later": verdict(f"pass() {{ echo 1 > {TXT}; }}", f"fail() {{ echo 0 > {TXT}; }}", "grep -q a /root/a && pass || fail"),
    "a function that takes it": verdict(f'give() {{ echo "$1" > {TXT}; }}', "if grep -q a /a; then give 1; else give 0; fi"),
    "a function that leaves": verdict('die() { echo "$*"; exit 1; }', "grep -q a /a || die no", f"echo 1 > {TXT}"),
    "a case": verdict("case $(cat /root/a) in", f"  apple) echo 1 > {TXT} ;;", f"  *) echo 0 > {TXT} ;;", "esac"),
    "a case with a variable": verdict("r=0", "case $(cat /root/a) in a|b) r=1 ;; esac", REWARD),
    "arithmetic": bash("n=0; for f in 1 2; do grep -q $f /a && ((n++)); done", f"echo $((n * 50 / 100)) > {TXT}"),
    "a here-string": bash('r=0; if grep -q a <<< "$(cat /a)"; then r=1; fi', f'cat <<< "$r" > {TXT}'),
    "and, or": verdict(f"pytest -q /verifier && echo 1 > {TXT} || echo 0 > {TXT}"),
    "and, or, in a group": verdict(f"{{ pytest -q /verifier && echo 1 || echo 0; }} > {TXT}"),
    "and, or, in brackets": verdict(f"(grep -q a /a && echo 1 || echo 0) > {TXT}"),
    "an if that is written": verdict("if grep -q a /a; then echo 1; else echo 0; fi > " + TXT),
    "0 first, 1 later": verdict(f"echo 0 > {TXT}", "grep -q a /a || exit 0", f"echo 1 > {TXT}"),
    "0 first, 1 if": verdict(f"echo 0 > {TXT}", f"if grep -q a /a; then echo 1 > {TXT}; fi"),
    "0 first, the rest in Python": helped(verdict(f"echo 0 > {TXT}", "python3 /verifier/score.py"), score_py=f"import os\nopen('{TXT}', 'w').write(str(len(os.listdir('/root'))))\n"),
    "0 first, a program's own word": verdict(f"echo 0 > {TXT}", f"/usr/local/bin/judge --out {TXT}"),
    "0 first, a helper that is sourced": helped(verdict(f"echo 0 > {TXT}", ". /verifier/lib.sh", "judge"), lib_sh="judge() { grep -q a /a && echo 1 > /logs/verifier/reward.txt; }\n"),
    "a helper that is run": helped(verdict(f"echo 0 > {TXT}", "sh /verifier/score.sh"), score_sh=f"grep -q a /a && echo 1 > {TXT}\n"),
    "0 first, copied later": verdict(f"echo 0 > {TXT}", "judge > /tmp/r", f"cp /tmp/r {TXT}"),
    "0 first, moved later": verdict(f"echo 0 > {TXT}", "judge > /tmp/r && mv /tmp/r " + TXT),
    "0 first, mended later": verdict(f"echo 0 > {TXT}", f"grep -q a /a && sed -i s/0/1/ {TXT}"),
    "0 first, by a variable later": verdict(f"OUT={TXT}", 'echo 0 > "$OUT"', f"echo 0 > {TXT}", 'grep -q a /a && echo 1 > "$OUT"'),
    "0 first, in its folder later": verdict(f"echo 0 > {TXT}", "cd /logs/verifier", "grep -q a /a && echo 1 > ./reward.txt"),
    "a folder in a variable": verdict("LOGS=${LOGS:-/logs/verifier}", "mkdir -p $LOGS", "if grep -q a /a; then echo 1 > $LOGS/reward.txt; else echo 0 > $LOGS/reward.txt; fi"),
    "the code of the last command": verdict("grep -q a /a", "code=$?", "[ $code -eq 0 ] && r=1 || r=0", REWARD),
    "a default, then another value": verdict("r=0", "grep -q a /a && r=1", f"printf '%s' \"$r\" > {TXT}"),
    "a default by expansion": verdict("[ -f /a ] && r=1", f"echo ${{r:-0}} > {TXT}"),
    "a value that is read": bash(f"echo 0 > {TXT}", "read -r r < /tmp/score", REWARD),
    "a value that printf sets": bash("r=0", "printf -v r '%d' $(wc -l < /a)", REWARD),
    "a value of a loop": verdict("for r in 0 1; do grep -q $r /a && break; done", REWARD),
    "a value that is declared": bash("declare r=0", "grep -q a /a && declare r=1", REWARD),
    "a value that is exported": verdict("export r=0", "grep -q a /a && export r=1", REWARD),
    "a value that is counted": bash("r=0", "grep -q a /a && let r++", "grep -q b /a && ((r+=1))", REWARD),
    "a value that is mapped": bash("r=0", "mapfile -t r < <(judge)", REWARD),
    "a value of getopts": bash("r=0", "grep -q a /a && : $((r = 1))", REWARD),
    "a local value": bash("f() { local r=0; grep -q a /a && r=1; echo $r > " + TXT + "; }", "f"),
    "two numbers": verdict(f"[ -f /a ] || {{ echo 0.25 > {TXT}; exit; }}", f"echo 0.75 > {TXT}"),
    "a fraction": verdict("n=$(grep -c ok /root/a)", f'awk -v n="$n" \'BEGIN {{ printf "%.2f\\n", n / 4 }}\' > {TXT}'),
    "bc": verdict('n=$(wc -l < /a)', f'echo "scale=2; $n / 10" | bc > {TXT}'),
    "jq": verdict(f"jq '.passed / .total' /logs/verifier/ctrf.json | tee {TXT}"),
    "tee of a group": verdict(f"{{ grep -q a /a && echo 1 || echo 0; }} | tee {TXT} >/dev/null"),
    "echo into a program": verdict(f"echo 1 | judge > {TXT}"),
    "Python in place": verdict("python3 - <<'PY'", f"open('{TXT}', 'w').write('1' if open('/a').read() else '0')", "PY"),
    "Python in place, after a 0": verdict(f"echo 0 > {TXT}", "python3 - <<'PY'", f"import os; os.path.exists('/a') and open('{TXT}', 'w').write('1')", "PY"),
    "Python by an option, after a 0": verdict(f"echo 0 > {TXT}", f"python3 -c \"import os; os.path.exists('/a') and open('{TXT}', 'w').write('1')\""),
    "JSON only": verdict(CHECK, 'printf \'{"reward": %s}\\n\' "$r" > /logs/verifier/reward.json'),
    "JSON in a here-document": verdict(CHECK, "cat > /logs/verifier/reward.json <<E", '{"reward": $r, "tests": 1}', "E"),
    "JSON of one reward, text of another": verdict('echo \'{"reward": 0}\' > /logs/verifier/reward.json', f"grep -q a /a && echo 1 > {TXT}"),
    "the variable with the path": verdict(CHECK, 'echo "$r" > "$BENCHFLOW_REWARD_TEXT"'),
    "the variable with a default": verdict(CHECK, f'echo "$r" > "${{BENCHFLOW_REWARD_TEXT:-{TXT}}}"'),
    "one line with brackets": verdict(f"[ -f /a ] && echo 1 > {TXT}"),
    "one line with two brackets": bash(f"[[ -f /a && $x =~ b ]] && echo 1 > {TXT}"),
    "one line of arithmetic": bash(f"(( $(wc -l < /a) > 3 )) && echo 1 > {TXT}"),
    "one line that negates": verdict(f"! grep -q x /a && echo 1 > {TXT}"),
    "one line in a group": verdict(f"{{ [ -f /a ] && echo 1; }} > {TXT}"),
    "one line with a subshell": verdict(f"( cd /root && [ -f a ] ) && echo 1 > {TXT}"),
    "a check before the group": verdict(f"[ -f /a ] && {{ mkdir -p /logs/verifier; echo 1 > {TXT}; }}"),
    "several lists": verdict(f"cd /root && [ -f a ] && mkdir -p /logs/verifier && echo 1 > {TXT}"),
    "0 at the end, for what is missing": verdict("judge", f"[ -s {TXT} ] || echo 0 > {TXT}"),
    "0 at the end, in an if": verdict("judge", f"if [ ! -s {TXT} ]; then echo 0 > {TXT}; fi"),
    "0 before it leaves": verdict(f"if ! grep -q a /a; then echo 0 > {TXT}; exit 0; fi", f"echo 1 > {TXT}"),
    "0 in a case": verdict(f"case $(cat /a) in b) echo 0 > {TXT} ;; esac", f"[ -s {TXT} ] || echo 1 > {TXT}"),
    "a file that is set once": verdict(f"R={TXT}", 'echo 0 > "$R"', 'if grep -q a /a; then echo 1 > "$R"; fi'),
    "Python in place that decides": verdict("python3 <<'E'", "import json", "x = json.load(open('/root/a.json'))['n']", f"open('{TXT}', 'w').write('1')", "E"),
    "Python in place, then a shell": verdict("python3 <<'E'", f"open('{TXT}', 'w').write('0')", "E", f"grep -q a /a && echo 1 > {TXT}"),
    "Python in place under a condition": verdict("if grep -q a /a; then python3 <<'E'", f"open('{TXT}', 'w').write('1')", "E", "fi"),
    "a program of its own for a shell": verdict("sh <<'E'", f"if grep -q a /a; then echo 1 > {TXT}; fi", "E"),
    "a retry": verdict("for i in 1 2 3; do", "  if grep -q a /a; then r=1; break; fi; sleep 0", "done", f"echo ${{r:-0}} > {TXT}"),
    "a loop over tests": bash("ok=1; for t in /verifier/*.sh; do [ $t = $0 ] || sh $t || ok=0; done", f"echo $ok > {TXT}"),
    "pytest's own code": bash("pytest /verifier; case $? in 0) r=1;; 1) r=0;; *) exit 2;; esac", REWARD),
    "a verdict on both branches that differs": verdict("if [ -f /a ]", f"then echo 0.5 > {TXT}", f"elif [ -f /b ]; then echo 0.5 > {TXT}", f"else echo 0 > {TXT}; fi"),
    "no verdict without the file": verdict(f"while [ ! -f /a ]; do exit 1; done; echo 1 > {TXT}"),
    "exec at the end": helped(verdict('exec python3 "$(dirname "$0")/score.py" "$@"'), score_py="print(1)\n"),
    "no shebang": {"verifier/test.sh": f"{CHECK}\n{REWARD}\n"},
    "Python with one number": helped(verdict("set -e", "python3 -m pytest /verifier", "python3 /verifier/done.py"), done_py=f"open('{TXT}', 'w').write('1')\n"),
    "Python that exits": helped(verdict("python3 /verifier/a.py"), a_py=f"import sys, os\nos.path.exists('/a') or sys.exit(1)\nopen('{TXT}', 'w').write('1')\n"),
    "Python that matches": helped(verdict("python3 /verifier/a.py"), a_py=f"match open('/a').read():\n    case 'a': r = 1\n    case _: r = 0\nopen('{TXT}', 'w').write(str(r))\n"),
    "Python that may fail": helped(verdict("python3 /verifier/a.py"), a_py=f"import json\ndata = json.load(open('/root/a.json'))\ndata['apple']\nopen('{TXT}', 'w').write('1')\n"),
    "Python with a default": helped(verdict("python3 /verifier/a.py"), a_py=f"from pathlib import Path\nPath('{TXT}').write_text('0')\nfrom judge import verify\nverify('{TXT}')\n"),
}  # fmt: skip

SHELL: dict[str, Changes] = {
    "arrays": bash("a=(1 2 [5]=x); a+=(y)", 'for i in "${!a[@]}"; do echo "${a[$i]}" "${#a[@]}" "${a[@]:1:2}"; done', "declare -A m=([k]=v [l m]=w)", CHECK, REWARD),
    "extended patterns": bash("shopt -s extglob", "case x in @(a|b)*(c)) ;; !(d)) ;; esac", "rm -f /tmp/!(keep|me).x", CHECK, REWARD),
    "process substitution": bash("diff <(sort /a) <(sort /b) > >(cat >&2)", "while read -r l; do :; done < <(ls)", CHECK, REWARD),
    "regular expressions": bash('re="^a(b|c)+$"', '[[ $x =~ ^[0-9]+(\\.[0-9]*)?$ && ! $y =~ $re ]] || [[ -n $z && ( -f a || -d b ) ]]', CHECK, REWARD),
    "a coprocess": bash("coproc CAT { cat; }", 'echo x >&"${CAT[1]}"; exec {CAT[1]}>&-', CHECK, REWARD),
    "nested here-documents": bash("cat <<A; cat <<-'B'", "$(cat <<C", "if", "C", ")", "A", "\tdone", "\tB", CHECK, REWARD),
    "expansions": bash('x=${a//\\//_} y=${b^^} z=${c:?no} w="${d%%*([[:space:]])}" v=${e@Q} u=${!f*}', CHECK, REWARD),
    "C loops": bash("for ((i = 0, j = 9; i < j; i++, j--)); do ((i % 2)) && continue; done", CHECK, REWARD),
    "select and until": bash("until true; do :; done; select x in a; do break; done < /dev/null", "time -p { :; }", CHECK, REWARD),
    "descriptors": bash("exec 3>&1 4>/dev/null {fd}</dev/null", "echo a >&3 2>&4 &>/dev/null; exec 3>&-; x |& y", CHECK, REWARD),
    "functions of other names": bash("function do-it { :; }; a.b() ( : ); function c() if :; then :; fi", CHECK, REWARD),
    "dollar quotes": bash("IFS=$'\\n\\t'; x=$'it\\'s' y=$\"z\"", CHECK, REWARD),
    "old substitutions": verdict("x=`echo \\`echo a\\``", CHECK, REWARD),
    "words like keywords": verdict("echo if then fi done { } ! esac", "for in in in; do echo $in; done", CHECK, REWARD),
    "comments and continuations": verdict("# it's \"fine", "echo a \\", "  b # c'", "", CHECK, REWARD),
    "no blank after a fd": bash("cat 2>/dev/null <<<x 1>&2", ">/tmp/x", "<<E cat", "a", "E", CHECK, REWARD),
    "text after the exit": verdict(CHECK, REWARD, "exit 0", ": <<'NEVER'", "if (", "NEVER"),
    "another shell": {**verdict(CHECK, REWARD), "verifier/x.sh": "#!/usr/bin/zsh\nfor f (*.c) print $f\n", "oracle/y.sh": "#!/usr/bin/env fish\nif true\nend\n"},
    "Unicode": bash('echo "é 🍎 «»"', CHECK, REWARD),
    "helpers that are sourced": helped(bash('HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)', 'source "$HERE/lib.sh"', '. /verifier/lib.sh', CHECK, REWARD), lib_sh="x=1\n"),
    "files that it writes": bash("cat > /verifier/gen.py <<'E'", "print(1)", "E", "python3 /verifier/gen.py", "judge -o /tests/out.json; cat /tests/out.json", CHECK, REWARD),
    "files that are looked for": bash("if [ -f /verifier/extra.sh ]; then . /verifier/extra.sh; fi", "[ -e /tests/conf.json ] && judge /tests/conf.json", CHECK, REWARD),
    "files that are taken away": verdict("rm -rf /verifier/out.json; mkdir -p /verifier/x.d", CHECK, REWARD),
    "results beside the tests": verdict("pytest /verifier --junitxml=/verifier/out.xml -o cache_dir=/tests/.cache", "judge --output /verifier/result.json", CHECK, REWARD),
    "tests of another folder's": bash("cd /srv/app && pytest tests/test_app.py --ctrf=/logs/verifier/ctrf.json", "node /srv/tests/run.js; ls tests/x.py; python3 -m unittest tests/test_b.py", CHECK, REWARD),
    "a clone that holds tests": verdict("git clone -q /srv/repo.git /tmp/r", "python3 /tmp/r/tests/check.py", CHECK, REWARD),
    "one test of a file": helped(verdict("pytest /verifier/test_a.py::TestX::test_y[a-b] /tests/test_a.py", "pytest /verifier/test_*.py", CHECK, REWARD), test_a_py="def test_y():\n    assert f()\n"),
    "words that look like paths": verdict('echo "see /verifier/README.md"', "echo /tests/x.log missing >&2", "printf '%s' /verifier/notes.txt", CHECK, REWARD),
    "a variable of the folder": verdict("python3 $BENCHFLOW_VERIFIER_DIR/none.py || true", 'D="${BENCHFLOW_VERIFIER_DIR:-/verifier}"; ls "$D"', CHECK, REWARD),
}  # fmt: skip

COMMANDS: dict[str, Changes] = {
    "the absolute path": strategy("/bin/sh /verifier/test.sh"),
    "the legacy path": strategy("bash -e /tests/test.sh"),
    "a relative path": strategy("sh ./verifier/test.sh"),
    "the name alone": strategy("./test.sh"),
    "in its folder": strategy('"cd /verifier && sh test.sh"'),
    "by a shell": strategy("\"bash -c 'sh /verifier/test.sh; true'\""),
    "with arguments": strategy("sh /verifier/test.sh --out /logs/verifier/reward.txt -v"),
    "Python": strategy("python3 -m pytest /verifier/test_a.py -q", test_a_py="def test_a():\n    assert f()\n"),
    "one test": strategy('"pytest /verifier/test_a.py::test_a"', test_a_py="def test_a():\n    assert f()\n"),
    "a folder": strategy("pytest /verifier/checks/", **{"checks/test_b_py": "def test_b():\n    assert f()\n"}),
    "the folder itself": strategy("sh /verifier/test.sh /verifier/"),
    "a variable": strategy("sh $BENCHFLOW_VERIFIER_DIR/test.sh"),
    "with variables before": strategy("env A=b TEST_DIR=/verifier sh /verifier/test.sh"),
    "more than one strategy": {
        "verifier/verifier.md": FILES["verifier/verifier.md"].replace(
            "    main:", "    other: {type: llm-judge, rubric: rubrics/quality.md}\n    main:"
        )
    },
    "everything that may stand there": {
        "verifier/verifier.md": FILES["verifier/verifier.md"].replace(
            "verifier:\n",
            "verifier:\n  rubric:\n    dimensions:\n      - {name: a, weight: 0.5}\n      - {name: b, weight: 1}\n"
            "  outputs: {reward_text: /logs/verifier/reward.txt}\n  timeout_sec: 5\n",
        )
    },
    "weights as numbers": {"verifier/verifier.md": FILES["verifier/verifier.md"].replace("verifier:\n", "verifier:\n  rubric: {dimensions: {a: 0.3, b: {weight: 0}}}\n")},
    "CRLF": {"verifier/verifier.md": FILES["verifier/verifier.md"].replace("\n", "\r\n")},
    "the version as a number": {"verifier/verifier.md": FILES["verifier/verifier.md"].replace('"0.3"', "0.3")},
}  # fmt: skip

PYTHON: dict[str, Changes] = {
    "type aliases": outputs("type A[T] = list[T]", "class B[T: int]:", "    x: T", "def f[*P](*a: *P) -> None: ...", "def test_a():", "    assert B()"),
    "nested f-strings": outputs("def test_a():", "    x = {'a': 1}", "    assert f'{x['a']!r:>{10}}' == f\"{'\\n'.join([f'{1}'])}\""),
    "groups of exceptions": outputs("def test_a():", "    try:", "        f()", "    except* (ValueError, OSError) as e:", "        raise AssertionError from e"),
    "exceptions without brackets": outputs("def test_a():", "    try:", "        f()", "    except ValueError, OSError:", "        raise"),
    "template strings": outputs("def test_a():", "    assert render(t'{1}') == '1'"),
    "Python of the last century": {"verifier/old.py": "#!/usr/bin/env python2\nprint 'x'\nexec 'y'\n"},
    "matching": outputs("def test_a():", "    match f():", "        case {'a': [1, *_]} | None if g(): pass", "        case _: assert 0"),
    "walrus and async": outputs("async def test_a():", "    async with a() as b, c: assert [x async for x in b if (y := x)]", "    await b"),
    "a form feed, tabs": outputs("\fimport os", "def test_a():", "\tassert os.path.exists('/a')"),
    "a coding line, a mark": {"verifier/test_outputs.py": "\ufeff# -*- coding: utf-8 -*-\ndef test_a():\n    assert f('é')\n"},
    "CRLF": {"verifier/test_outputs.py": "def test_a():\r\n    assert f()\r\n"},
    "an empty file": {"verifier/conftest.py": "", "verifier/checks/__init__.py": ""},
    "fixtures": outputs(*IMPORTS, "@pytest.fixture", "def test_data(): return 'x'", "@pytest.fixture(scope='module')", "def test_dir():", "    return '/root'", "def test_a(test_data): assert test_data in f()"),
    "fixtures by another name": outputs("from pytest import fixture as fx", "@fx()", "def test_data():", "    return 5", "def test_a(test_data): assert f(test_data)"),
    "parameters": outputs(*IMPORTS, "@pytest.mark.parametrize(('a', 'b'), [(1, 2), (3, 4)], ids=str)", "def test_a(a, b): assert f(a) == b"),
    "helpers alone": outputs(*IMPORTS, "def test_a(): check('/root/a')", "def test_b():", "    '''Says so.'''", "    helpers.verify()"),
    "asserts in helpers": outputs("def check(x):", "    assert x", "class TestA:", "    def test_a(self): check(f())", "    def test_b(self): return check(g())"),
    "unittest": outputs(*IMPORTS, "class TestA(unittest.TestCase):", "    def setUp(self): pass", "    def test_a(self): self.assertEqual(f(), 1)", "    @unittest.expectedFailure", "    def test_b(self): self.fail()"),
    "an abstract test": outputs(*IMPORTS, "class Base(abc.ABC):", "    @abc.abstractmethod", "    def test_a(self): pass", "    @abc.abstractmethod", "    def test_b(self): ...", "class TestX(Base):", "    def test_a(self): assert f()", "    def test_b(self): assert g()"),
    "a base to be filled in": outputs("class Base:", "    def test_a(self): pass", "class TestX(Base):", "    def test_a(self): assert f()"),
    "a test that is taken out of a base": outputs("from checks import CommonTests", "class TestX(CommonTests):", "    def test_size(self): pass"),
    "a protocol": outputs(*IMPORTS, "class Tester(typing.Protocol):", "    def test(self, x: int) -> bool: ...", "    def test_all(self) -> None:", "        '''Later.'''", "def test_a(): assert f()"),
    "overloads": outputs("from typing import overload", "@overload", "def testable(x: int) -> int: ...", "def testable(x): return f(x)", "def test_a(): assert testable(1)"),
    "raises": outputs(*IMPORTS, "def test_a():", "    with pytest.raises(ValueError):", "        f()", "def test_b():", "    with pytest.raises(OSError, match='x'): f()"),
    "a test inside a test": outputs("def test_a():", "    def test(x): return True", "    assert run(test)"),
    "a predicate": outputs("def test_mode(): return 'fast'", "def test_a(): assert f(test_mode())"),
    "a constant for others": {"verifier/helpers.py": "def test_root(): return '/root'\n\ndef testing():\n    return False\n"},
    "a method of a double": outputs("class FakeClient:", "    def test_connection(self): return True", "def test_a(): assert f(FakeClient())"),
    "an assert that can't hold": outputs("def test_a():", "    if f(): assert False, 'no'", "    assert not g()"),
    "an assert of a name": outputs("OK = f()", "def test_a(): assert OK"),
    "a loop of asserts": outputs("def test_a():", "    for x in f(): assert x", "def test_b():", "    while g(): raise SystemExit"),
    "a check that may be caught": outputs("def test_a():", "    try:", "        f()", "    except ValueError:", "        return", "    raise AssertionError"),
    "a condition that is found out": outputs("import sys", "def test_a():", "    if sys.platform == 'linux': assert f()", "    ok = f()", "    assert ok or g()"),
    "words that are asserted": outputs("def test_a():", "    name = 'apple'", "    assert name in open('/root/answer.txt').read()"),
    "a test of prints": outputs("def test_a(capsys):", "    print(f())", "    assert capsys.readouterr().out == 'x'"),
    "doctests": outputs("def double(x):", "    '''", "    >>> double(2)", "    4", "    '''", "    return x"),
    "plugins and hooks": {"verifier/conftest.py": "import pytest\n\ndef pytest_collection_modifyitems(items): pass\n\n@pytest.fixture(autouse=True)\ndef testing_home(): return None\n"},
}  # fmt: skip

NETWORK: dict[str, Changes] = {
    "this machine": {
        **verdict("curl -fsS http://localhost:8000/health && wget -qO- 127.0.0.1:80/x", "curl http://[::1]:80/ http://0.0.0.0:1 http://10.1.2.3/ https://192.168.0.9/", "curl localhost:3000; curl -X POST http://api:8080/v1 -d @x", CHECK, REWARD),
        "oracle/solve.sh": "#!/bin/sh\ncurl -s http://web/a > /a; wget http://db.internal/x; curl http://app.local\n",
    },
    "this machine in Python": outputs("import requests, urllib.request, httpx", "def test_a():", "    assert requests.get('http://localhost:8000/a').ok", "    assert urllib.request.urlopen('http://127.0.0.1/a')", "    assert httpx.post('http://api/a', json={})", "    assert requests.get(f'http://{HOST}:{PORT}/x').ok"),
    "what the image has": {
        **dockerfile("RUN apt-get update && apt-get install -y curl jq && pip install pytest==8.3.4 Flask_X==1.0", "RUN npm i -g mocha@10.0.0"),
        **verdict("apt-get update; apt-get install -y jq", "pip install pytest 'flask-x>=1'; pip3 install -q pytest==8.3.4", "npm install -g mocha", CHECK, REWARD),
    },
    "what the image has, as requirements": {
        **dockerfile("COPY requirements.txt /", "RUN pip install -r /requirements.txt"),
        "environment/requirements.txt": "pytest==8.3.4\n",
        **verdict("pip install -r /requirements.txt", "pip install pytest", CHECK, REWARD),
    },
    "what the image has, in JSON": {**dockerfile('RUN ["pip", "install", "pytest==8.3.4"]'), **verdict("pip install pytest", CHECK, REWARD)},
    "a virtual environment's pip": {**dockerfile("RUN python3 -m venv /v && /v/bin/pip install pytest==8.3.4"), **verdict("/v/bin/pip install pytest", CHECK, REWARD)},
    "tools' own words": verdict("pip --version; pip list; pip check; python -m pip show x; pip freeze", "curl --version; wget --help; npm test; npm run install; npm -v; apt list; apt-get --version; git --version; uv --version; npx --version; apt-cache policy x; apk info", CHECK, REWARD),
    "git here": verdict("git clone /srv/repo.git /tmp/a; git clone ../b file:///srv/c /tmp/c; git -C /root/repo log --oneline; git status; git diff; git fetch /srv/repo.git main; git pull --ff-only ../other; git -C /x fetch origin", CHECK, REWARD),
    "local installs": verdict("pip install /verifier/wheels/*.whl; pip install --no-index --find-links /wheels x; pip install -e /root/app --no-deps; pip install .; npm install ./x.tgz; dpkg -i /x.deb; apt-get install -y ./x.deb; uv pip install --offline x; npm ci --offline; npm install --offline x", CHECK, REWARD),
    "uv without a network": verdict("uv run --offline pytest; UV_OFFLINE=1 uvx pytest; uvx --offline ruff; npx --no-install mocha; uv run --no-sync pytest", CHECK, REWARD),
    "words about it": verdict("# pip install x; curl https://example.org", 'echo "pip install x" \'curl https://example.org/a\'', "cat <<E", "wget https://example.org/a", "apt-get install x", "E", "grep -q 'git clone https://example.org/x' /root/notes", "test -f /root/pip && which curl wget && command -v npx", CHECK, REWARD),
    "an address that is looked for": verdict("grep -c https://example.org /root/a; jq --arg u https://example.org .x /a", "curl -H 'Origin: https://example.org' http://localhost:80/ -e https://example.com", "curl -x http://proxy:3128 --resolve example.org:443:127.0.0.1 http://localhost", CHECK, REWARD),
    "variables with addresses of this machine": verdict("BASE=http://localhost:8080", 'curl -s "$BASE/x?u=https://example.org"; URL=${URL:-http://web}; wget "$URL"', CHECK, REWARD),
    "a program for Python that only reads": verdict("python3 - <<'E'", "URL = 'https://example.org/x'", "print(open('/root/a').read().count(URL))", "E", "python3 -c 'print(\"pip install x\")'", CHECK, REWARD),
    "addresses that are bound anew": outputs("import requests", "url = 'https://example.org'", "url = make()", "def test_a():", "    assert requests.get(url).ok"),
    "an address in Python": outputs("import re, requests", "URL = 'https://example.org'", "def test_a():", "    '''See https://example.org.'''", "    assert URL in open('/root/a').read()", "    assert parse('https://example.org/x').get('https://example.org/y')"),
    "a client that is mocked": outputs("import responses, requests", "@responses.activate", "def test_a():", "    responses.add(responses.GET, 'http://svc.test/x')", "    assert requests.get('http://svc.test/x').ok"),
    "files that are read": outputs("import pandas as pd, numpy as np", "from datasets import load_dataset", "def test_a():", "    assert len(pd.read_csv('/root/a.csv')) and np.load('/root/a.npy').any()", "    assert load_dataset('csv', data_files='/root/a.csv') and load_dataset('/root/d')"),
    "programs that Python runs": outputs("import subprocess, os", "def test_a():", "    assert subprocess.run(['pip', '--version']).returncode == 0", "    subprocess.check_call(['git', '-C', '/root/r', 'log'])", "    assert os.system('curl -s http://localhost:80') == 0", "    subprocess.run(['echo', 'pip install x'])"),
    "a package with network": {**task("  memory_mb: 64", "  memory_mb: 64\n  allow_internet: true"), **verdict("pip install pytest; curl https://example.org", CHECK, REWARD)},
    "an oracle that only mentions it": {"oracle/solve.sh": "#!/bin/sh\ncat > /root/install.sh <<'E'\n#!/bin/sh\npip install x\ncurl https://example.org\nE\necho 'RUN apt-get install y' >> /root/Dockerfile\nsed -i 's/pip install a/pip install b/' /root/x\n"},
}  # fmt: skip

IN_ROOT = dockerfile("WORKDIR /root")
TO_JUDGE = (CHECK, REWARD)
AGENTS_CODE: dict[str, Changes] = {
    "another user": verdict("su -s /bin/sh nobody -c 'python3 /root/a.py'; setpriv --reuid=65534 /root/run", "timeout 9 runuser -u nobody -- /root/run; gosu nobody /root/run", *TO_JUDGE),
    "files that are read": verdict("cat /root/a.py; diff /root/a /verifier/verifier.md; cp /root/run /tmp/", "test -x /root/run && timeout 5 grep -q a /root/run", *TO_JUDGE),
    "its own program for the agent's file": verdict("python3 /verifier/verifier.md /root/a.py; sh -c 'exit 0' /root/x; python3 -c 'print(1)' /root/a.py", *TO_JUDGE),
    "its own tests, where it starts": IN_ROOT | verdict("pytest -q /verifier --rootdir /root --junitxml /root/x.xml; python3 -I -m pytest /verifier; python3 -Im json.tool /root/a.json", *TO_JUDGE),
    "another folder": IN_ROOT | verdict("cd /verifier && python3 -m pytest .", "(cd /tests; pytest; python3 -m unittest)", "cd /; python3 -m pytest verifier", *TO_JUDGE),
    "brackets": verdict("(cd /root; ls); $(cd /root) python3 -m json.tool /root/a.json", *TO_JUDGE),
    "a folder that is not plain": verdict('cd "$1" && python3 -m pytest && ./run', "cd - ; make test", *TO_JUDGE),
    "where an image starts": verdict("python3 -m pytest; ./run; make; npm test", *TO_JUDGE),
    "artifacts elsewhere": task("environment:", "artifacts: [/srv/out]\nenvironment:") | verdict("python3 /root/setup.py", *TO_JUDGE),
    "versions of tools": IN_ROOT | verdict("npm --version; go; cargo --version", *TO_JUDGE),
    "Python with a user": outputs("import subprocess, sys", "subprocess.run([sys.executable, '/root/a.py'], user=65534)", "subprocess.run(['/root/a'], preexec_fn=down)", "subprocess.run(['su', 'nobody', '-c', '/root/a'])", "subprocess.run('/root/a', **options)"),
    "Python that lets go of root": outputs("import os, subprocess", "os.setuid(65534)", "subprocess.run(['/root/a'])"),
    "Python that starts its own": outputs("import os, subprocess", "subprocess.run(['python3', '/verifier/a.py', '/root/a'])", "os.system('cat /root/a')", "subprocess.run(x)", "subprocess.run([])", "subprocess.run()", "os.system('\\'')"),
}  # fmt: skip

CASES = [
    pytest.param(changes, id=f"{kind}: {name}")
    for kind, table in (
        ("reward", REWARDS),
        ("shell", SHELL),
        ("command", COMMANDS),
        ("python", PYTHON),
        ("network", NETWORK),
        ("agent's code", AGENTS_CODE),
    )
    for name, changes in table.items()
]


@pytest.mark.parametrize("changes", CASES)
def test_nothing_is_found_in_legal_scripts(tmp_path: Path, changes: Changes) -> None:
    assert check_package(write_package(tmp_path / "write-apple", changes)).findings == []
