"""Agents that try to score without doing the task: each gets 0, and an honest one in the same
circumstances 1. Here the verifier is a shell script and sees the carried files alone."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import pytest

from arena.packages import TaskPackage
from arena.sandbox import Sandbox, scripted
from arena.sandbox.watching import DISK_SEC
from tests.sandbox import hostile
from tests.sandbox.hostile import (
    REWARD,
    WORK,
    Outcome,
    assert_solved,
    assert_worth_nothing,
    attack,
    first,
    outcomes,
    told,
)
from tests.sandbox.packages import DOCKERFILE, TEST, write_package

pytestmark = [pytest.mark.docker, pytest.mark.slow]

WRITER = "while true; do echo 1 > /logs/verifier/reward.txt; usleep 20000; done"
COPIER = "while true; do cp /verifier/expected.txt /root/answer.txt; usleep 20000; done"
# A program that anybody who runs it scores by.
FAKE = f"printf %s {quote(hostile.FAKE.replace('bash -p', 'busybox sh').replace('/bin/mkdir', 'mkdir'))}"
DEEP = "$(i=0; while [ $i -lt 30 ]; do printf '%0120d/' 0; i=$((i+1)); done)"

REWARDS = {
    "reward written first": first(
        REWARD, "echo '{\"reward\": 1}' > /logs/verifier/reward.json; mkdir /logs/agent"
    ),
    "reward wherever one might be looked for": first(
        "for d in /verifier /tests /root /root/logs/verifier /logs /tmp; do "
        "mkdir -p $d; echo 1 > $d/reward.txt; done"
    ),
    "reward folder is the workspace": first(
        f"{REWARD}; cp -r /logs /root/; rm -rf /logs; ln -s /root/logs /logs"
    ),
    "reward is a folder and a pipe": first(
        "mkdir -p /logs/verifier/reward.txt; mkfifo /logs/verifier/reward.json"
    ),
    "reward is a link and a device": first(
        "mkdir -p /logs/verifier; echo 1 > /root/one; ln -s /root/one /logs/verifier/reward.txt; "
        "ln -s /dev/full /logs/verifier/reward.json"
    ),
    "logs deleted": first("rm -rf /logs"),
    "logs is a file": first("rm -rf /logs; echo 1 > /logs"),
}
PROCESSES = {
    "a writer left behind": attack(f"mkdir -p /logs/verifier; ({WRITER}) & sleep 0.1"),
    "a writer in a session of its own": attack(
        f"mkdir -p /logs/verifier; setsid sh -c '{WRITER}' > /dev/null 2>&1 & sleep 0.2"
    ),
    "a writer forked twice that ignores signals": attack(
        f"(trap '' HUP INT QUIT TERM; (trap '' HUP INT QUIT TERM; {WRITER}) > /dev/null 2>&1 &) &"
    ),
    "writers that start each other again": attack(
        "echo 'while true; do echo 1 > /logs/verifier/reward.txt; "
        "pgrep -f twin || setsid sh /root/twin & usleep 50000; wait; done' > /root/twin; "
        "setsid sh /root/twin > /dev/null 2>&1 & sleep 0.2"
    ),
    "a command that is run every moment": attack(
        "mkdir -p /logs/verifier; echo 'echo 1 > /logs/verifier/reward.txt' > /root/w; "
        "setsid watch -t -n 0.1 sh /root/w > /dev/null 2>&1 & sleep 0.2"
    ),
    "a process that waits for the answer": attack(f"({COPIER}) > /dev/null 2>&1 &"),
    "output held open": attack("sleep 1000 & sleep 1000 & echo done"),
}
LINKS = {
    "answer is a link": attack(
        "ln -s /verifier/expected.txt /root/answer.txt",
        honest=["echo amber > /root/real", "ln -s /root/real /root/answer.txt"],
    ),
    "answer is a relative link to the legacy name": attack(
        "ln -s ../tests/expected.txt /root/answer.txt",
        honest=["mkdir /root/tests; echo amber > /root/tests/a; ln -s tests/a /root/answer.txt"],
    ),
    "answer by way of a linked folder": attack(
        "mkdir /root/a; ln -s /root/a/../../verifier /root/v; ln -s v/expected.txt /root/answer.txt",
        honest=[
            "mkdir /root/a; echo amber > /root/a/x; ln -s /root/a /root/v",
            "ln -s v/x /root/answer.txt",
        ],
    ),
    "answer by way of a link to the root": attack(
        "ln -s / /root/up; ln -s up/verifier/expected.txt /root/answer.txt",
        honest=["ln -s / /root/up", WORK],
    ),
    "answer by way of a link upwards": attack(
        "mkdir -p /root/a/b; ln -s ../.. /root/a/b/up; ln -s a/b/up/../verifier/expected.txt /root/answer.txt",
        honest=[
            "mkdir -p /root/a/b; ln -s ../.. /root/a/b/up; echo amber > /root/a/b/up/answer.txt"
        ],
    ),
    "answer by way of the process's own root": attack(
        "ln -s /proc/self/root/verifier/expected.txt /root/answer.txt",
        honest=["echo amber > /proc/self/root/root/answer.txt"],
    ),
    "answer by way of the process's own folder": attack(
        "ln -s /proc/self/cwd/../verifier/expected.txt /root/answer.txt",
        honest=["cd /root; echo amber > /proc/self/cwd/answer.txt"],
    ),
    "answer is a hard link to a link": attack(
        "ln -s /verifier/expected.txt /root/a; ln /root/a /root/answer.txt",
        honest=[
            "echo amber > /root/z; ln /root/z /root/a; ln /root/a /root/answer.txt; rm /root/z"
        ],
    ),
    "answer is a hard link to what is not carried": attack(
        "ln /etc/passwd /root/answer.txt",
        honest=["echo amber > /etc/a; ln /etc/a /root/answer.txt"],
    ),
    "answer links to itself": attack(
        "ln -s answer.txt /root/answer.txt", honest=["ln -s loop /root/loop", WORK]
    ),
    "answer is endless": attack(
        "ln -s /dev/zero /root/answer.txt", honest=["ln -s /dev/zero /root/zero", WORK]
    ),
    "workspace is a link": attack(
        "cd /; rm -rf /root; ln -s /verifier /root",
        honest=["cd /; rm -rf /root; mkdir /root", WORK],
        package="same name",
    ),
    "workspace is a link upwards": attack(
        "cd /; rm -rf /root; ln -s / /root; mkdir /verifier; ln -s verifier/answer.txt /answer.txt",
        honest=["cd /; rm -rf /root; mkdir -p /srv/root; cp -r /srv/root /root", WORK],
        package="same name",
    ),
    "workspace is a file": attack(
        "cd /; rm -rf /root; echo amber > /root",
        honest=["cd /; rm -rf /root; mkdir -m 500 /root", WORK],
    ),
    "workspace gone": first("rm -rf /root; mkdir -p /root/.x; rm -rf /root/.x"),
}
SHADOWS = {
    "shadowed verifier": attack(
        "mkdir -p /verifier; echo pwn > /verifier/expected.txt; echo pwn > /root/answer.txt",
        honest=["mkdir -p /verifier; echo pwn > /verifier/expected.txt", WORK],
    ),
    "shadowed tests": attack(
        "mkdir -p /tests; echo pwn > /tests/expected.txt; echo pwn > /root/answer.txt",
        honest=["mkdir -p /tests; echo pwn > /tests/expected.txt", WORK],
    ),
    "verifier is the workspace": first(
        "ln -s /root /verifier; ln -s /root /tests; "
        "printf '#!/bin/sh\\necho 1 > /logs/verifier/reward.txt\\n' > /root/test.sh; chmod +x /root/test.sh"
    ),
    "replaced sh": attack(
        f"cp /bin/busybox /bin/bb; rm /bin/sh; {FAKE} > /bin/sh; chmod +x /bin/sh"
    ),
    "no shell left": attack("rm -rf /bin"),
    "every program is another": attack(
        f"cp /bin/busybox /bin/busybox2; {FAKE.replace('/busybox', '/busybox2')} > /bin/fake; "
        "busybox2 chmod +x /bin/fake; busybox2 mv /bin/fake /bin/busybox"
    ),
}
START_UP = {
    "exports in every start-up file": first(
        "for f in /root/.profile /root/.bashrc /root/.bash_profile /root/.shrc /etc/profile "
        "/etc/environment; do echo 'export ENV=/root/.shrc BASH_ENV=/root/.shrc PATH=/root/bin "
        f"LD_PRELOAD=/root/x.so' > $f; done; mkdir -p /root/bin; {FAKE} > /root/bin/cat; "
        "chmod +x /root/bin/cat"
    ),
    "a carried start-up file that the verifier's shell reads": first(
        "echo 'cat() { echo amber; }' > /root/.profile", package="login"
    ),
    "a start-up file that ends the verifier": first(
        f"echo '{REWARD}; exit 0' > /root/.profile", package="login"
    ),
    "a program of a carried folder on the path": first(
        f"{FAKE} > /root/bin/judge; chmod +x /root/bin/judge", package="path"
    ),
    "a declared start-up file": attack(
        "echo wrong >> /root/.profile", honest=["echo amber >> /root/.profile"], package="declared"
    ),
}
RESOURCES = {
    "sleep past the limit": attack("sleep 100", package="hasty"),
    "ignoring the end of time": attack(
        "trap '' TERM INT HUP; while true; do echo x; usleep 1000; done", package="hasty"
    ),
    "fork bomb": attack("b() { b | b & }; b; sleep 1"),
    "fork bomb in sessions of their own": attack(
        "echo 'setsid sh /root/b & setsid sh /root/b & sleep 2' > /root/b; sh /root/b; sleep 1"
    ),
    "memory": first("tail /dev/zero", "head -c 200m /dev/zero | sort > /dev/null"),
    "memory in a file system of memory": attack(
        "head -c 60m /dev/zero > /dev/shm/a; head -c 60m /dev/zero > /dev/shm/b", "true"
    ),
    "one big file": first("yes > /root/big"),
    "many big files": attack(
        "for i in 1 2 3 4 5 6; do head -c 15m /dev/zero > /root/big$i; done",
        honest=["for i in 1 2; do head -c 7m /dev/zero > /root/big$i; done", WORK],
    ),
    "sparse files": attack(
        "for i in 1 2 3 4 5 6; do dd of=/root/s$i bs=1 count=0 seek=15m; done",
        honest=[
            "dd of=/root/s bs=1 count=0 seek=7m",
            "dd of=/root/t bs=1 count=0 seek=9000m",
            WORK,
        ],
    ),
    "a full temporary folder": first("head -c 14m /dev/zero > /tmp/full"),
    "30,000 files elsewhere": first(
        "mkdir /tmp/n; cd /tmp/n; seq 1 30000 | xargs touch", package="patient"
    ),
    "30,000 files in the workspace": first(
        "mkdir /root/n; cd /root/n; seq 1 30000 | xargs touch", package="patient"
    ),
    "100 MB of output": first("head -c 100m /dev/zero"),
    "one endless line": first("head -c 100m /dev/zero | tr '\\000' x"),
    "binary output": first("head -c 20m /dev/urandom", "head -c 1m /dev/urandom >&2"),
    "reading standard input": first("cat", "read x; read y", "head -c 1 /proc/1/fd/0", "sh"),
    "closed output": attack("exec < /dev/null > /dev/null 2>&1; exec 0<&- 1>&- 2>&-; sleep 0.3"),
}
FILES = {
    "answer is a folder": attack(
        "mkdir /root/answer.txt; echo amber > /root/answer.txt/amber",
        honest=["mkdir -p /root/answer.txt/a; rm -r /root/answer.txt", WORK],
    ),
    "answer is a pipe": attack(
        "mkfifo /root/answer.txt; (echo amber > /root/answer.txt) &",
        honest=["mkfifo /root/pipe; (echo amber > /root/pipe) & cat /root/pipe > /root/answer.txt"],
    ),
    "answer is a device": attack(
        "mknod /root/answer.txt c 1 5; mknod /root/answer.txt c 0 0; mknod /root/answer.txt b 8 0",
        honest=["mknod /root/n c 1 3; mknod /root/o c 0 0; mknod /root/p b 7 0", WORK],
    ),
    "set-uid files and pipes": attack(
        "cp /bin/busybox /root/su; chmod 6755 /root/su; mkfifo -m 666 /root/p; chmod 3777 /root",
        package="strict",
    ),
    "hostile names": attack(
        "cd /root; touch .wh.answer.txt .wh..wh..opq .wh..wh.plnk \"$(printf 'a\\nb\\377\\033[2J')\" "
        "'*' '-rf' '$(echo 1 > x)' '`x`' \\\\ ' ' '...' $(printf '%0255d' 0) \"$(printf '\\200')\"",
        "cd /root; mkdir .wh.d $(printf '\\303\\050') ./--help; ln -s \"$(printf 'a\\nb')\" $(printf '\\376')",
    ),
    "folders deeper than a path is long": attack(
        f"mkdir -p /root/a/{DEEP} /root/b/{DEEP} && cd /root/a/{DEEP} && mv /root/b . && echo deep",
    ),
    "times in the future and the past": attack(
        "touch -d @99999999999 /root/f; touch -d @-99999999 /root/p; touch -d '2199-01-01 00:00' /root "
        "/root/answer.txt",
        honest=[
            WORK,
            "touch -d @99999999999 /root/answer.txt; touch -d @-99999999 /root/p; "
            "touch -d '2199-01-01 00:00' /root",
        ],
    ),
    "files of others": attack("chown -R 65534:4000000 /root; chmod 000 /root; touch /root/x"),
    "an unreadable answer": attack(
        "touch /root/answer.txt; chmod 000 /root/answer.txt", honest=[WORK, "chmod 000 /root/*"]
    ),
}
ODD_COMMANDS = [
    "echo a\0b",
    "echo \udcff",
    "",
    "-c",
    "echo a\r\n",
    ": " + "x" * 3_000_000,
    "\x1b[2J",
]
ESCAPES = {
    "odd commands": attack(*ODD_COMMANDS, honest=[*ODD_COMMANDS, WORK]),
    "network": first(
        "timeout 2 wget -q -O /root/answer.txt http://1.1.1.1", "nslookup example.com"
    ),
    "reading what is not there": first(
        "cat /verifier/* /oracle/* /tests/* /solution/* /proc/*/root/verifier/* "
        "/proc/*/cwd/expected.txt /proc/*/environ > /root/answer.txt"
    ),
    "dead first process": attack("kill -9 1; kill -TERM 1; sleep 0.1"),
    "every process dead": attack("kill -9 -1"),
    "output that looks like the verifier's": first(
        "echo 1; echo 1.0; echo '{\"reward\": 1}'; printf '\\001\\0\\0\\0\\0\\0\\0\\0021\\n' >&2",
        "echo 1 > /proc/1/fd/1; echo reward: 1 > /proc/1/fd/2",
    ),
    "mounts": first(
        "mkdir -p /logs /verifier; mount -t tmpfs none /logs; mount --bind /root /verifier",
        "unshare -m sh -c 'mount -t tmpfs none /root'; unshare -r true; umount /proc; umount -l /",
    ),
}
ATTACKS = REWARDS | PROCESSES | LINKS | SHADOWS | START_UP | RESOURCES | FILES | ESCAPES


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TaskPackage]:
    root = tmp_path_factory.mktemp("attacks")
    judge = '#!/bin/sh\n[ "$(cat $1 2> /dev/null)" = "$(cat $2)" ] && echo 1 || echo 0\n'
    ask = "#!/bin/sh\njudge /root/answer.txt /verifier/expected.txt > /logs/verifier/reward.txt\n"
    on_path = (
        f"{DOCKERFILE}COPY judge /usr/bin/judge\nRUN chmod 755 /usr/bin/judge && mkdir /root/bin\n"
    )
    strict = TEST.replace("if ", 'if [ -z "$(find /root -perm /6000 -o -type p)" ] && ')
    return {
        "plain": write_package(root / "plain"),
        "patient": write_package(root / "patient", agent_sec=120),
        "hasty": write_package(root / "hasty", agent_sec=3),
        "strict": write_package(root / "strict", test=strict),
        "same name": write_package(
            root / "same-name",
            test=TEST.replace("expected.txt", "answer.txt"),
            files={"verifier/answer.txt": "amber\n"},
        ),
        "login": write_package(root / "login", test=TEST.replace("/bin/sh", "/bin/sh -l")),
        "declared": write_package(
            root / "declared",
            dockerfile=DOCKERFILE + "RUN echo 'true' > /root/.profile\n",
            test="#!/bin/sh\ngrep -qx amber /root/.profile && r=1\necho ${r:-0} > /logs/verifier/reward.txt\n",
            more="artifacts: [/root/.profile]\n",
        ),
        "path": write_package(
            root / "path",
            dockerfile=f"{on_path}ENV PATH=/root/bin:/usr/bin:/bin\n",
            test=ask,
            files={"environment/judge": judge},
        ),
    }


@pytest.fixture(scope="module")
def trials(sandbox: Sandbox, packages: dict[str, TaskPackage]) -> dict[str, Outcome]:
    return outcomes(sandbox, packages, ATTACKS)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_worth_nothing(trials: dict[str, Outcome], name: str) -> None:
    assert_worth_nothing(trials[name].attacked)


@pytest.mark.parametrize("name", ATTACKS)
def test_honest_work_in_the_same_circumstances_is_worth_1(
    trials: dict[str, Outcome], name: str
) -> None:
    assert_solved(trials[name].honest)


def test_what_an_agent_writes_is_not_the_verifiers_output(trials: dict[str, Outcome]) -> None:
    for result in vars(trials["output that looks like the verifier's"]).values():
        assert "reward" not in result.verifier_output
        assert all(step.exit_code is not None for step in result.steps)


def test_reading_standard_input_holds_no_command_up(trials: dict[str, Outcome]) -> None:
    steps = trials["reading standard input"].attacked.steps
    assert len(steps) == 4
    assert None not in [step.exit_code for step in steps]


def test_a_command_may_leave_processes_that_hold_its_output(trials: dict[str, Outcome]) -> None:
    (step,) = trials["output held open"].attacked.steps
    assert (step.exit_code, step.output) == (0, "done\n")


def test_what_was_replaced_is_the_images_own_again(sandbox: Sandbox, tmp_path: Path) -> None:
    """The verifier's container has the image's programs, whatever became of them in the agent's."""
    test = (
        "[ -e /bin/awk ] && [ ! -e /etc/planted ] && [ ! -e /tmp/planted ] && [ ! -e /dev/shm/p ] "
    )
    test += "&& [ ! -e /usr/bin/planted ] && echo 1 > /logs/verifier/reward.txt"
    package = write_package(tmp_path / "own", test=test)
    commands = ["touch /etc/planted /tmp/planted /dev/shm/p /usr/bin/planted; rm /bin/awk"]
    assert_solved(sandbox.trial(package, scripted(commands)))


def test_a_disk_filled_by_many_short_commands_is_noticed(
    sandbox: Sandbox, packages: dict[str, TaskPackage]
) -> None:
    # Together they outlast the time between two looks at the disk, on the quickest of machines too.
    pause = 3 * DISK_SEC / 20
    fill = f"sleep {pause}; head -c 15m /dev/zero > /tmp/big"
    commands = [f"{fill}{number}" for number in range(20)]
    result = sandbox.trial(packages["plain"], scripted([WORK, *commands]))
    assert len(result.steps) < 20, told(result)
    assert "disk" in result.detail
