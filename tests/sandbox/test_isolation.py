"""What is not there for an agent: the verifier, the host, the network, other agents, privileges."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from threading import Barrier

import pytest

from arena.sandbox import Agent, Sandbox, Session, scripted
from tests.sandbox.packages import DOCKERFILE, write_package

pytestmark = pytest.mark.docker

# What would let an agent do more than work on its own files: dac_read_search, linux_immutable,
# net_admin, net_raw, sys_module to sys_ptrace, sys_admin, sys_boot, sys_time, mknod, syslog, bpf.
MIGHTY = sum(1 << bit for bit in (2, 9, 12, 13, 16, 17, 18, 19, 21, 22, 25, 27, 34, 39))
# Each command ends with success where it got what it should not.
PROBES = {
    "verifier, oracle, logs": "ls -d /verifier /tests /oracle /solution /logs | grep .",
    "network devices": "[ $(grep -c : /proc/net/dev) -gt 1 ]",
    "routes": "[ $(wc -l < /proc/net/route) -gt 1 ]",
    "name servers": "nslookup -timeout=1 example.com",
    "an address": "timeout 1 wget -O- http://1.1.1.1",
    "raw packets": "ping -c 1 -W 1 127.0.0.1",
    "the engine's socket": "ls /var/run/docker.sock /run/docker.sock /run/containerd | grep .",
    "the host's files": f"ls {quote(__file__)} /proc/*/root{quote(__file__)} | grep .",
    "the host's variables": "cat /proc/*/environ | tr '\\000' '\\n' | grep ARENA_CANARY",
    "the host's processes": "cat /proc/*/cmdline | grep -E '[d]ockerd|[p]ytest|[s]ystemd'",
    "a mount of memory": "mkdir -p /mnt; mount -t tmpfs none /mnt",
    "a mount of proc": "mkdir -p /mnt; mount -t proc none /mnt",
    "a bound mount": "mkdir -p /mnt; mount --bind /root /mnt",
    "a mount made writable": "mount -o remount,rw /sys",
    "an unmounted proc": "umount -l /proc/sys",
    "a namespace of mounts": "unshare -m true",
    "a namespace of users": "unshare -U true",
    "the first process's namespaces": "nsenter -t 1 -m true",
    "another root": "mkdir -p /r/bin && cp /bin/busybox /r/bin/sh && chroot /r /bin/sh -c :",
    "a block device": "mknod /root/b b 8 0",
    "a character device": "mknod /root/c c 1 1",
    "a whiteout": "mknod /root/w c 0 0",
    "devices of the host": "ls /dev/mem /dev/kmsg /dev/sda /dev/vda /dev/nvme0n1 /dev/fuse | grep .",
    "memory of the kernel": "head -c 1 /proc/kcore | grep -q .",
    "messages of the kernel": "dmesg | grep .",
    "an immutable file": "touch /root/i && chattr +i /root/i",
    "more privileges": "! grep -q 'NoNewPrivs:.1' /proc/self/status",
    "system calls unfiltered": "! grep -q 'Seccomp:.2' /proc/self/status",
    "mighty capabilities": "[ $((0x$(awk '/CapBnd/ { print $2 }' /proc/self/status) & "
    f"{MIGHTY})) -ne 0 ]",
    "settings of the kernel": "exec 3>> /proc/sys/kernel/core_pattern",
    "the trigger of system requests": "exec 3>> /proc/sysrq-trigger",
    "limits of its own": "find /sys/fs/cgroup -name '*.max' -o -name '*limit_in_bytes' -o "
    "-name release_agent | while read f; do (exec 3>> $f) && echo $f; done | grep .",
    "a group of its own": "mkdir /sys/fs/cgroup/x /sys/fs/cgroup/memory/x /sys/fs/cgroup/pids/x; "
    "ls /sys/fs/cgroup/x/cgroup.procs /sys/fs/cgroup/*/x/cgroup.procs | grep .",
    "the clock": "! date -s @$(date +%s) 2>&1 | grep 'not permitted'",
    "another host name": "hostname evil",
    "a higher priority": "nice -n -5 true && renice -n -5 $$",
    "larger files": "ulimit -f unlimited && ulimit -Hf | grep unlimited",
    "a kernel module": "insmod /root/x.ko",
    "another address": "ip link add d0 type dummy",
    "a reboot": "reboot -f",
}


@pytest.fixture(params=["busybox", "python"])
def dockerfile(request: pytest.FixtureRequest) -> str:
    """Two images, since each has tools that the other lacks."""
    if request.param == "busybox":
        return DOCKERFILE
    request.getfixturevalue("python_engine")
    return "FROM python:3.11-slim-bookworm\nWORKDIR /root\n"


def test_what_is_not_there_for_an_agent(
    sandbox: Sandbox, dockerfile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_CANARY", "a secret of the host's")
    package = write_package(tmp_path / "probes", dockerfile=dockerfile)
    # The first line shows that a probe which succeeds is seen.
    probes = {"itself": "true"} | PROBES
    lines = [f"({probe}) > /dev/null 2>&1 && echo {quote(name)}" for name, probe in probes.items()]
    (step,) = sandbox.trial(package, scripted(["\n".join(["exec 2> /dev/null", *lines])])).steps
    assert step.output.splitlines() == ["itself"]


def test_two_agents_at_once_do_not_meet(sandbox: Sandbox, tmp_path: Path) -> None:
    """Neither by loopback, nor by memory, files or processes that they share."""
    package = write_package(tmp_path / "neighbours")
    here, there = Barrier(2, timeout=60), Barrier(2, timeout=60)
    leave = "mkdir -p /www; echo amber > /www/x; echo amber > /dev/shm/x; echo amber > /tmp/x; "
    leave += "httpd -p 8080 -h /www; sleep 1000 & wget -q -O- http://127.0.0.1:8080/x"
    look = "timeout 1 wget -q -O- http://127.0.0.1:8080/x; cat /dev/shm/x /tmp/x; pidof httpd"

    def serves(session: Session) -> None:
        assert session.run(leave).output == "amber\n"
        here.wait()
        there.wait()

    def looks(session: Session) -> None:
        session.run("true")
        here.wait()
        session.run(f"({look}) 2> /dev/null")
        there.wait()

    agents: list[Agent] = [serves, looks]
    _, looked = sandbox.map(lambda agent: sandbox.trial(package, agent), agents)
    assert looked.steps[-1].output == ""
