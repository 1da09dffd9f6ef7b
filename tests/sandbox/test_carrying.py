"""What of an agent's files crosses over, without Docker."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator

import pytest

from arena.sandbox.archives import Bundle
from arena.sandbox.carrying import MAX_MEMBERS, Carrier, carried_paths
from arena.sandbox.errors import AgentFault
from arena.sandbox.guard import Guard
from arena.sandbox.images import Image

PATHS = ("/root", "/srv/out")


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, target, 0o6755
    return info


def archive(*members: tarfile.TarInfo) -> Iterator[bytes]:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for one in members:
            tar.addfile(one, io.BytesIO(b"x" * one.size))
    data = buffer.getvalue()
    return (data[start : start + 700] for start in range(0, len(data), 700))


def carry(*members: tarfile.TarInfo, max_bytes: int = 1 << 20) -> dict[str, tarfile.TarInfo]:
    bundle = Bundle()
    Carrier(bundle, Guard(Image("id")), PATHS, max_bytes).carry("/", archive(*members), "/stage")
    with tarfile.open(fileobj=io.BytesIO(bundle.finish())) as tar:
        return {one.name: one for one in tar}


def test_files_folders_and_links_within_are_carried() -> None:
    names = carry(
        member("root", tarfile.DIRTYPE),
        member("root/a"),
        member("root/hard", tarfile.LNKTYPE, "root/a"),
        member("root/soft", tarfile.SYMTYPE, "a"),
        member("root/other", tarfile.SYMTYPE, "../srv/out/a"),
        member("root/full", tarfile.SYMTYPE, "/root/a"),
    )
    assert len(names) == 6
    assert names["stage/root/hard"].linkname == "stage/root/a"


@pytest.mark.parametrize(
    "target",
    ["/verifier/expected.txt", "../verifier", "/", "..", "/srv", "a/../../verifier", "/rootkit"],
)
def test_links_that_leave_are_dropped(target: str) -> None:
    assert carry(member("root/link", tarfile.SYMTYPE, target)) == {}


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_devices_and_pipes_are_dropped_with_their_hard_links(kind: bytes) -> None:
    assert carry(member("root/d", kind), member("root/h", tarfile.LNKTYPE, "root/d")) == {}


def test_set_id_bits_are_dropped() -> None:
    assert carry(member("root/a"))["stage/root/a"].mode == 0o755


def test_too_much_is_the_agents_fault() -> None:
    big = member("root/big")
    big.size = 2 << 20
    with pytest.raises(AgentFault, match="larger than 1 MiB"):
        carry(big)
    many = [member(f"root/{number}") for number in range(MAX_MEMBERS + 1)]
    with pytest.raises(AgentFault, match="more than"):
        carry(*many, max_bytes=1 << 30)


def test_an_archive_cut_short_is_the_agents_fault() -> None:
    carrier = Carrier(Bundle(), Guard(Image("id")), PATHS, 1 << 20)
    with pytest.raises(AgentFault):
        carrier.carry("/", iter([b"nonsense" * 100]), "/stage")


@pytest.mark.parametrize(
    ("declared", "carried"),
    [
        ((), ("/app", "/root")),
        (("/srv/out/", "/srv/out/x", "/srv//out"), ("/srv/out",)),
        (("/srv", "/logs/verifier", "/verifier/x", "/proc"), ("/srv",)),
        (("/logs",), ("/app", "/root")),
        (("/logs-of-mine",), ("/logs-of-mine",)),
    ],
)
def test_carried_paths(declared: tuple[str, ...], carried: tuple[str, ...]) -> None:
    assert carried_paths(declared, ("/root", "/app", "/")) == carried
