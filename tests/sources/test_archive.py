"""Hostile archives: nothing followed, nothing outside, nothing without limit."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections.abc import Callable, Iterator

import pytest

from arena.packages.files import MAX_FILE_BYTES
from arena.sources import RefusedSource
from arena.sources import archive as archives
from arena.sources.archive import ArchivedFile, BrokenArchive, read_archive

Add = Callable[..., None]
MIB = 1024 * 1024


def made(*fill: Callable[[Add], None], form: int = tarfile.PAX_FORMAT) -> bytes:
    """A gzipped tar of members that a test names."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", format=form) as tar:

        def add(name: str, content: bytes = b"", **attributes: object) -> None:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            for key, value in attributes.items():
                setattr(info, key, value)
            tar.addfile(info, io.BytesIO(content))

        for one in fill:
            one(add)
    return packed.getvalue()


def read(packed: bytes, subpath: str = "", piece: int = 1000) -> list[ArchivedFile]:
    pieces = (packed[at : at + piece] for at in range(0, len(packed), piece))
    return list(read_archive(pieces, subpath))


def refused(packed: bytes, subpath: str = "") -> str:
    with pytest.raises(RefusedSource) as caught:
        read(packed, subpath)
    return caught.value.finding.code


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
@pytest.mark.parametrize("piece", [1, 511, 100_000])
def test_files_come_out_as_they_went_in(form: int, piece: int) -> None:
    long = "r/" + "/".join(["folder" * 8] * 4) + "/name"
    packed = made(
        lambda add: add("r", type=tarfile.DIRTYPE),
        lambda add: add("r/a.sh", b"x" * 513, mode=0o755),
        lambda add: add("r/empty"),
        lambda add: add(long, b"deep"),
        form=form,
    )
    found = read(packed, piece=piece)
    assert [(f.path, len(f.content)) for f in found] == [
        ("a.sh", 513),
        ("empty", 0),
        (long.removeprefix("r/"), 4),
    ]


def test_a_name_in_any_script_stays_as_it_is() -> None:
    assert read(made(lambda add: add("r/größe-日本.txt", b"x")))[0].path == "größe-日本.txt"


def test_only_what_is_below_the_subpath_is_looked_at() -> None:
    packed = made(
        lambda add: add("r/link", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        lambda add: add("r/tasks-old/x", b"no"),
        lambda add: add("r/tasks/a/x", b"yes"),
    )
    assert [f.path for f in read(packed, "tasks")] == ["a/x"]
    assert refused(packed) == "TP007"


@pytest.mark.parametrize(
    "member",
    [
        {"name": "r/x", "type": tarfile.SYMTYPE, "linkname": "/etc/passwd"},
        {"name": "r/x", "type": tarfile.SYMTYPE, "linkname": "y"},
        {"name": "r/x", "type": tarfile.LNKTYPE, "linkname": "r/y"},
        {"name": "r/x", "type": tarfile.CHRTYPE},
        {"name": "r/x", "type": tarfile.BLKTYPE},
        {"name": "r/x", "type": tarfile.FIFOTYPE},
        {"name": "r/x", "type": tarfile.GNUTYPE_SPARSE},
        {"name": "r/../x"},
        {"name": "r/a/../../../x"},
        {"name": "/etc/cron.d/x"},
        {"name": "../x"},
        {"name": "elsewhere/x"},
        {"name": "r//etc/x"},
        {"name": "r/.git/config"},
        {"name": "r/a/.git/hooks/x"},
        {"name": "r/a\nb"},
        {"name": "r/a\u202eb"},
        {"name": "r/a\\b"},
        {"name": "r/" + "x" * 250},
        {"name": "r/" + "x/" * 30 + "y"},
        {"name": "r/y"},
        {"name": "r/y/below-a-file"},
        {"name": "r/folder"},
    ],
    ids=lambda member: repr(member["name"][:12] + str(member.get("type", ""))),
)
def test_what_is_no_plain_file_is_refused(member: dict[str, object]) -> None:
    packed = made(
        lambda add: add("r/y", b"first"),
        lambda add: add("r/folder/z", b"first"),
        lambda add: add(**member),
    )
    assert refused(packed) == "TP007"


def test_too_much_is_refused_before_it_is_held() -> None:
    large = made(lambda add: add("r/x", b"\0" * (MAX_FILE_BYTES + 1)))
    assert len(large) < MIB, "it packs well"
    assert refused(large) == "TP008"
    many = [lambda add, n=n: add(f"r/{n}", b"\0" * (MAX_FILE_BYTES - 1)) for n in range(9)]
    assert refused(made(*many)) == "TP008"


def test_limits_of_the_repository_around_the_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = made(
        *[lambda add, n=n: add(f"r/data/{n}", b"\0" * 100_000) for n in range(30)],
        lambda add: add("r/tasks/x", b"x"),
    )
    assert [f.path for f in read(packed, "tasks")] == ["x"]
    for name, limit in (
        ("MAX_UNPACKED_BYTES", 2_000_000),
        ("MAX_ENTRIES", 20),
        ("MAX_PACKED_BYTES", 2_000),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(archives, name, limit)
            assert refused(packed, "tasks") == "TP008", name


def test_a_bomb_ends_at_the_limit_and_is_asked_for_no_further() -> None:
    taken = 0

    def bomb() -> Iterator[bytes]:
        nonlocal taken
        pack = zlib.compressobj(1, wbits=31)
        header = tarfile.TarInfo("r/elsewhere")
        header.size = 10 * 1024**3
        yield pack.compress(header.tobuf(tarfile.GNU_FORMAT))
        while True:
            taken += 1
            yield pack.compress(b"\0" * (64 * MIB))

    with pytest.raises(RefusedSource) as caught:
        list(read_archive(bomb(), "tasks"))
    assert caught.value.finding.code == "TP008"
    assert taken <= archives.MAX_UNPACKED_BYTES // (64 * MIB) + 2


def test_headers_of_any_size_are_not_held() -> None:
    info = tarfile.TarInfo("r/x")
    for kind in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME):
        info.type, info.size = kind, 200 * MIB
        assert refused(gzip.compress(info.tobuf())) == "TP007"


def test_a_sparse_map_is_not_followed() -> None:
    headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}
    assert refused(made(lambda add: add("r/x", b"1\n", pax_headers=headers))) == "TP007"


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"<html>Bad gateway</html>",
        gzip.compress(b"no tar " * 200),
        gzip.compress(b"\1" * 512),
        made(lambda add: add("r/x", b"x" * 5000))[:-40],
        made(lambda add: add("r/x", b"x" * 5000))[:30],
        gzip.compress(gzip.decompress(made(lambda add: add("r/x", b"x" * 5000)))[:2000]),
    ],
)
def test_what_is_no_whole_archive_is_said_so(packed: bytes) -> None:
    with pytest.raises(BrokenArchive):
        read(packed)
