"""What of an agent's container crosses into the verifier's, packed as an archive and a script.

Either the package's artifacts (without them, the workspace), each path as a whole; or, where the
verifier shares the disk, every path that the agent added, changed or deleted. No program of the
agent's runs on the way: the engine reads the files, the image's own shell puts them in place.
"""

from __future__ import annotations

import posixpath
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from shlex import quote

from arena.packages import TaskPackage
from arena.sandbox.archives import IN_CONTAINER, Bundle, Stream
from arena.sandbox.engine import Changes, Engine
from arena.sandbox.errors import AgentFault, blaming_the_agent
from arena.sandbox.guard import NEVER_CARRIED, STAGE, Guard, Passage, is_inside
from arena.sandbox.results import Limits
from arena.sandbox.session import Session

MAX_MEMBERS = 50_000
MAX_PLACES = 5_000
# Read by sitecustomize.py: what is the agent's, and what is the image's in it.
OWNERS = "/.arena-python/owners"
SCRIPT = f"{STAGE}/place.sh"

# Where a link may lead out of the carried paths: there an image has files, and no verifier writes.
_OF_THE_IMAGE = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/etc")
# A verifier may write there what it compares with; a link would be a way to the answer.
_TEMPORARY = ("/tmp", "/var/tmp", "/run", "/dev/shm")  # noqa: S108

_ENTRY_POINTS = "/entry_points.txt"
_FUNCTIONS = (IN_CONTAINER / "place.sh").read_text(encoding="utf-8")


def collect(
    engine: Engine, session: Session, package: TaskPackage, guard: Guard, limits: Limits
) -> bytes:
    """The agent's files, as a tar archive for a container's root.

    Its `SCRIPT` puts the files in place, run by the image's shell before anything else is.
    Raises AgentFault where they do not pack.
    """
    bundle = Bundle()
    bundle.add_folder(STAGE.strip("/"))
    lines: list[str] = []
    owners: list[str] = []
    if session.container is not None:  # else no command ran: the image is what there is
        with blaming_the_agent():
            if package.shares_disk:
                lines, owners = _changed_paths(engine, session.container, guard, limits, bundle)
            else:
                paths = carried_paths(package.artifacts, (package.workspace, guard.image.workdir))
                lines = _named_paths(engine, session.container, guard, paths, limits, bundle)
                owners = [f"+{path}" for path in paths]
    owners += [f"-{path}" for path in guard.module_folders]
    bundle.add_file(OWNERS.strip("/"), _encoded("\0".join([*owners, ""])), 0o644)
    bundle.add_file(SCRIPT.strip("/"), _encoded("\n".join([*lines, ""])), 0o444)
    return bundle.finish()


def _encoded(text: str) -> bytes:
    """Names in it are the agent's, and may be no UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def _named_paths(
    engine: Engine,
    container: str,
    guard: Guard,
    paths: Sequence[str],
    limits: Limits,
    bundle: Bundle,
) -> list[str]:
    """The artifacts, or the workspace: each replaces the image's path of that name."""
    carrier = Carrier(bundle, guard, (*paths, *_OF_THE_IMAGE), limits.artifacts_mb << 20)
    carrier.fetch(engine, container, paths)
    programs = [p for p in guard.program_folders if not is_inside(p, *paths)]
    return [
        *_preamble(programs, carrier),
        *(
            f"place {quote(f'{STAGE}/{index}/{posixpath.basename(path)}')} {quote(path)}"
            for index, path in enumerate(paths)
        ),
        *(f"answer {quote(path)}" for path in carrier.links),
    ]


def _changed_paths(
    engine: Engine,
    container: str,
    guard: Guard,
    limits: Limits,
    bundle: Bundle,
) -> tuple[list[str], list[str]]:
    """Every change on the container's disk, except where the image's own must stand.

    The script's lines, and what is then the agent's.
    """
    changes = engine.changes(container)
    ours = (*NEVER_CARRIED, STAGE)
    volumes = [path for path in guard.image.volumes if not is_inside(path, *ours)]
    wanted = {p for p in changes.added | changes.changed if not is_inside(p, *ours)}
    wanted -= {p for p in changes.changed if guard.is_the_images(p)}
    carrier = Carrier(
        bundle, guard, ("/",), limits.artifacts_mb << 20, _Wanted(wanted, changes, volumes)
    )
    tops = {"/" + path.split("/")[1] for path in wanted | set(volumes)}
    carrier.fetch(engine, container, sorted(tops))
    gone = [
        path
        for path in sorted(changes.deleted)
        if not is_inside(path, *ours)
        and not guard.is_the_images(path)
        and guard.judge(path) is Passage.FREE
    ]
    if len(gone) + len(carrier.places) > MAX_PLACES:
        raise AgentFault(f"the disk was changed in more than {MAX_PLACES} places")
    lines = [
        *_preamble(guard.program_folders, carrier),
        *(f"rm -rf {quote(path)} {_as_pattern(path)}" for path in gone),
        *(
            f"folder {quote(path)} {member.mode & 0o1777:o} {member.uid}:{member.gid}"
            for path, member in carrier.folders
        ),
        *(f"place {quote(staged)} {quote(path)}" for path, staged in carrier.places),
        *(f"answer {quote(path)}" for path in carrier.links),
    ]
    return lines, [f"+{path}" for path, _ in carrier.places]


def _preamble(programs: Iterable[str], carrier: Carrier) -> list[str]:
    """The functions, and the image's own where the agent's version must not stand."""
    return [
        f"programs={quote(':'.join(programs))}",
        f"packages={quote(':'.join(carrier.guard.package_folders))}",
        f"owners={OWNERS}",
        _FUNCTIONS,
        *(_unless(carrier.guard, *one) for one in carrier.doubtful),
        *(f"back {quote(path)} {quote(staged)}" for path, staged in carrier.kept_back),
    ]


def _unless(guard: Guard, passage: Passage, path: str, staged: str) -> str:
    """The image's own stands where it has one; else a module is noted as the agent's."""
    back = f"back {quote(path)} {quote(staged)}"
    if passage is not Passage.UNLESS_MODULE:
        return f"{passage.value} {quote(path)} {quote(staged)} && {back}"
    folder, rest = guard.module(path)
    added = f"{folder}/{rest.partition('/')[0]}"
    return f"if module {quote(path)} {quote(rest)}; then {back}; else added {quote(added)}; fi"


def _as_pattern(path: str) -> str:
    """A path for the shell to match: the engine tells a byte that is no UTF-8 by a mark."""
    return "?".join(map(quote, path.split("\ufffd"))) if "\ufffd" in path else ""


def carried_paths(declared: Sequence[str], defaults: Iterable[str]) -> tuple[str, ...]:
    """The paths that cross over into the verifier's container: none inside another, none ours."""
    for candidates in (declared, defaults):
        allowed = [
            path
            for path in (posixpath.normpath("/" + one.lstrip("/")) for one in candidates)
            if path != "/" and not is_inside(path, *NEVER_CARRIED)
        ]
        if allowed:
            break
    unique = sorted(set(allowed))
    return tuple(
        path
        for path in unique
        if not any(path != other and is_inside(path, other) for other in unique)
    )


class _Wanted:
    """Which members of an archived folder the agent changed; those of a volume are all taken."""

    def __init__(self, paths: set[str], changes: Changes, volumes: Sequence[str]) -> None:
        self._paths = paths
        self._changes = changes
        self._volumes = volumes

    def takes(self, path: str) -> bool:
        return _as_told(path) in self._paths or is_inside(path, *self._volumes)

    def is_of_the_image(self, path: str) -> bool:
        return path in self._changes.changed

    def begins_a_place(self, path: str) -> bool:
        """Whether it is put in place by itself, not as a part of a folder that is all new."""
        if is_inside(path, *self._volumes):
            return path in self._volumes
        return posixpath.dirname(_as_told(path)) not in self._changes.added


def _as_told(path: str) -> str:
    """A path of an archive as the engine tells it among the changes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@dataclass
class Carrier:
    """Copies an agent's files into a bundle, within a budget, leaving out what could reach further.

    Devices and FIFOs are dropped, and symlinks that leave the paths `within`; so are set-id bits
    and extended attributes. What needs a look in the verifier's container is listed: `doubtful`
    crosses unless the image has its like, the image's `kept_back` stand, `links` may not lead to
    an answer, and `folders` are the image's with other modes and owners.
    """

    bundle: Bundle
    guard: Guard
    within: Sequence[str]
    max_bytes: int
    wanted: _Wanted | None = None
    places: list[tuple[str, str]] = field(default_factory=list)
    doubtful: list[tuple[Passage, str, str]] = field(default_factory=list)
    kept_back: list[tuple[str, str]] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    folders: list[tuple[str, tarfile.TarInfo]] = field(default_factory=list)
    _bytes: int = 0
    _members: int = 0
    _plugins: set[str] = field(default_factory=set)  # files that name some, were they entry points

    def fetch(self, engine: Engine, container: str, paths: Sequence[str]) -> None:
        """Those of the paths that there are, each into a numbered folder of the stage."""
        for index, path in enumerate(paths):
            chunks = engine.get(container, path)
            if chunks is not None:
                self.bundle.add_folder(f"{STAGE}/{index}".strip("/"))
                self.carry(posixpath.dirname(path), chunks, f"{STAGE}/{index}")

    def carry(self, parent: str, chunks: Iterator[bytes], prefix: str) -> None:
        """One path as the engine archives it from `parent`; its members go below `prefix`."""
        kept: set[str] = set()
        try:
            with tarfile.open(fileobj=Stream(chunks), mode="r|") as tar:
                for member in tar:
                    path = posixpath.join(parent, member.name.rstrip("/"))
                    if self.wanted and not self.wanted.takes(path):
                        continue
                    if self.wanted and member.isdir() and self.wanted.is_of_the_image(path):
                        self.folders.append((path, member))
                        continue
                    self._count(member)
                    name = member.name
                    staged = f"{prefix}/{name}"
                    welcome = self._is_welcome(member, path, kept, staged)
                    if welcome and self._add(tar, member, path, prefix):
                        kept.add(name)
        except (tarfile.TarError, UnicodeError, ValueError) as error:
            raise AgentFault(f"the files at {parent} do not archive: {error}") from error

    def _count(self, member: tarfile.TarInfo) -> None:
        self._members += 1
        self._bytes += member.size
        if self._members > MAX_MEMBERS:
            raise AgentFault(f"the agent left more than {MAX_MEMBERS:,} files to be copied")
        if self._bytes > self.max_bytes:
            raise AgentFault(f"the agent's files are larger than {self.max_bytes >> 20} MiB")

    def _is_welcome(self, member: tarfile.TarInfo, path: str, kept: set[str], staged: str) -> bool:
        passage = self.guard.judge(path, member.isdir())
        if passage is Passage.NEVER:
            # Where nothing is put in place, the image's own stands as it is.
            if self.wanted is None or not self.wanted.begins_a_place(path):
                self.kept_back.append((path, staged))
            return False
        if member.issym():
            welcome = self._stays_inside(posixpath.dirname(path), member.linkname)
            welcome = welcome and not path.endswith(_ENTRY_POINTS)
        elif member.islnk():
            welcome = member.linkname in kept and not (
                path.endswith(_ENTRY_POINTS) and member.linkname in self._plugins
            )
        else:
            welcome = member.isreg() or member.isdir()
        if welcome and member.issym():
            self.links.append(path)
        if welcome and passage is not Passage.FREE:
            self.doubtful.append((passage, path, staged))
        return welcome

    def _stays_inside(self, place: str, target: str) -> bool:
        """Whether a symlink in the folder `place` leads to where a link may lead.

        `..` counts only at the front: behind a name it would go up from wherever that name, which
        may be a symlink too, leads to.
        """
        parts = [part for part in target.split("/") if part not in ("", ".")]
        names = [index for index, part in enumerate(parts) if part != ".."]
        if names and ".." in parts[names[0] :]:
            return False
        end = posixpath.normpath(posixpath.join(place, target))
        if end == "/" or is_inside(end, *NEVER_CARRIED):
            return False
        if is_inside(end, *_TEMPORARY):
            return any(is_inside(end, path) for path in self.within if path != "/")
        return is_inside(end, *self.within)

    def _add(self, tar: tarfile.TarFile, member: tarfile.TarInfo, path: str, prefix: str) -> bool:
        """Whether it was; pytest would load by itself what such a file calls a plugin."""
        file = tar.extractfile(member) if member.isreg() else None
        data = None if file is None else file.read()
        if data and b"pytest11" in data:
            if path.endswith(_ENTRY_POINTS):
                return False
            self._plugins.add(member.name)
        member.name = f"{prefix}/{member.name}".strip("/")
        if member.islnk():
            member.linkname = f"{prefix}/{member.linkname}".strip("/")
        member.mode &= 0o1777
        member.uname = member.gname = ""
        member.pax_headers = {}
        self.bundle.add_member(member, data)
        if self.wanted and self.wanted.begins_a_place(path):
            self.places.append((path, "/" + member.name))
        return True
