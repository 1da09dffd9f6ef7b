"""The Docker engine as a trial sees it: the few calls it makes, each made once.

The SDK's low-level client, because the high-level one inspects a container after every call; and
every failure comes out as `EngineError`, so that an agent's own exceptions are never mistaken for
the engine's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from socket import SHUT_WR
from typing import Any, NamedTuple
from uuid import uuid4

from docker.errors import APIError, DockerException
from docker.types import LogConfig, Ulimit
from docker.utils import decode_json_header
from requests.exceptions import RequestException
from urllib3.exceptions import HTTPError

from arena.sandbox.connection import connect, engine_address
from arena.sandbox.errors import (
    EndedEarly,
    EngineError,
    EngineUnavailable,
    UnreadableLists,
)
from arena.sandbox.owners import OWNER_LABEL, is_alive, this_process
from arena.sandbox.results import Limits
from arena.sandbox.userlists import unreadable

LABEL = "org.posttrain-arena"
_KEY_LABEL = "org.posttrain-arena.sandbox"  # tells two sandboxes of one process apart
# The first words of a container's own script: without network the engine fills no /etc/hosts, and
# programs that talk to themselves look for localhost there.
HOSTS = "[ -s /etc/hosts ] || printf '127.0.0.1 localhost\\n::1 localhost\\n' > /etc/hosts"

_CALL_SECONDS = 120
_STDIN = {"stdin": 1, "stream": 1}
_OPEN_FILES = 4096
_REFUSED = 400
# Where the engine keeps a container's disk is nothing for those who read its messages.
_OF_THE_HOST = re.compile(r"/\S*?/(?:overlay2|volumes)/\w+/(?:merged|diff|_data)(?=/|\b)")
# A container that any engine can start, of an image with no file in it.
_EMPTY, _INIT = bytes(1024), "/sbin/docker-init"
_PROBE = Limits(
    memory_mb=64,
    cpus=1,
    pids=16,
    storage_mb=1,
    artifacts_mb=0,
    agent_sec=0,
    verifier_sec=0,
    build_sec=0,
    network=False,
)
# What root needs to work on files of any owner, and nothing else.
_CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"]


class Changes(NamedTuple):
    """The paths that differ between a container's disk and its image."""

    added: set[str]
    changed: set[str]
    deleted: set[str]


class Engine:
    """One engine, for several threads."""

    def __init__(self, url: str | None, connections: int) -> None:
        self.url = engine_address(url)
        with self._trouble():
            self._api = connect(self.url, _CALL_SECONDS, connections)
            info = self._api.info()
        self.cpus = float(info["NCPU"])
        self.version = str(info["ServerVersion"])
        self._key = uuid4().hex
        self._abandoned = False
        self._vetted: set[str] = set()
        self._remover = ThreadPoolExecutor(2, thread_name_prefix="remove")
        self._removals: list[Future[None]] = []

    def image(self, tag: str) -> dict[str, Any] | None:
        """What the engine knows of an image; None where it has none of that name."""
        try:
            with self._trouble():
                return dict(self._api.inspect_image(tag))
        except EngineError as error:
            if error.status == 404:
                return None
            raise

    def has_registry(self, image: str) -> bool:
        """Whether the engine reaches an image's registry, and finds it there."""
        try:
            with self._trouble():
                self._api.inspect_distribution(image)
        except EngineError:
            return False
        return True

    def tag(self, image: str, repository: str, tag: str) -> None:
        """Give an image a name; its time of last use becomes now, also where it has the name."""
        with self._trouble():
            self._api.tag(image, repository, tag)

    def own_images(self) -> list[dict[str, Any]]:
        """The images that the arena built, those without a name among them."""
        with self._trouble():
            return list(self._api.images(filters={"label": LABEL}))

    def history(self, image: str) -> list[dict[str, Any]]:
        """The steps that made an image, the newest first."""
        with self._trouble():
            return list(self._api.history(image))

    def remove_image(self, image: str) -> bool:
        """Remove an image; False where the engine keeps it, since something still uses it."""
        try:
            with self._trouble():
                self._api.remove_image(image)
        except EngineError as error:
            if error.status not in (404, 409):
                raise
            return error.status == 404
        return True

    def create(
        self,
        image: str,
        argv: Sequence[str],
        limits: Limits,
        network_of: str | None = None,
        init: bool = True,
        **more: Any,
    ) -> str:
        """A container that has not started, with every limit on it; returns its id.

        `network_of`: a running container, with which it shares the network, and nothing else.
        """
        if self._abandoned:
            raise EngineUnavailable(self.url, "the sandbox is closing")
        memory = f"{limits.memory_mb}m"
        largest_file = limits.storage_mb << 20
        with self._trouble():
            host = self._api.create_host_config(
                network_mode=_network(limits, network_of),
                cap_drop=["ALL"],
                cap_add=_CAPABILITIES,
                security_opt=["no-new-privileges"],
                mem_limit=memory,
                memswap_limit=memory,
                nano_cpus=int(limits.cpus * 1e9),
                pids_limit=limits.pids,
                init=init,
                ulimits=[
                    Ulimit(name="fsize", soft=largest_file, hard=largest_file),
                    Ulimit(name="core", soft=0, hard=0),
                    Ulimit(name="nofile", soft=_OPEN_FILES, hard=_OPEN_FILES),
                ],
                log_config=LogConfig(
                    type=LogConfig.types.JSON, config={"max-size": "1m", "max-file": "1"}
                ),
            )
            created = self._api.create_container(
                image,
                # The whole command is the entrypoint: the image's own must not wrap it.
                entrypoint=list(argv),
                command=[],
                user="0",
                # A namespace of its own with nothing but loopback, as "none" gives, without the
                # engine's own set-up of it: that is half of a container's start. What is lost with
                # it is /etc/hosts: see HOSTS.
                network_disabled=not limits.network and network_of is None,
                labels={LABEL: "trial", OWNER_LABEL: this_process(), _KEY_LABEL: self._key},
                healthcheck={"test": ["NONE"]},
                host_config=host,
                **more,
            )
        container = str(created["Id"])
        if image not in self._vetted:
            try:
                self._require_lists(container)
            except EngineError:
                self._remove(container)
                raise
            self._vetted.add(image)
        return container

    def start(self, container: str) -> None:
        with self._trouble():
            self._api.start(container)

    def is_running(self, container: str) -> bool:
        with self._trouble():
            return bool(self._api.inspect_container(container)["State"]["Running"])

    def release(self, container: str) -> None:
        """Write a line to a container that was created with `stdin_open`, whose shell waits for it.

        A line waits in the pipe where the shell is not there yet, as a signal would not.
        """
        if not self.is_running(container):
            raise EndedEarly("the container ended before the verifier began")
        with self._trouble(), closing(self._api.attach_socket(container, _STDIN)) as opened:
            connection = getattr(opened, "_sock", opened)
            connection.sendall(b"\n")
            connection.shutdown(SHUT_WR)

    def put(self, container: str, archive: bytes | Iterator[bytes]) -> None:
        """Unpack a tar archive at the container's root."""
        with self._trouble():
            self._api.put_archive(container, "/", archive)

    def get(self, container: str, path: str) -> Iterator[bytes] | None:
        """A path of a container that has ended, as a tar archive's chunks; None where none is."""
        self._require_lists(container)
        try:
            with self._trouble():
                chunks, _ = self._api.get_archive(container, path)
        except EngineError as error:
            if error.status == 404:
                return None
            raise
        return self._read(chunks)

    def changes(self, container: str) -> Changes:
        """What became of a container's disk. Its volumes are no part of that."""
        with self._trouble():
            found = self._api.diff(container) or []
        changed, added, deleted = (
            {str(one["Path"]) for one in found if one["Kind"] == kind} for kind in range(3)
        )
        return Changes(added, changed, deleted)

    def exec_create(self, container: str, argv: Sequence[str], user: str) -> str:
        with self._trouble():
            return str(self._api.exec_create(container, list(argv), user=user)["Id"])

    def exec_output(self, execution: str) -> Iterator[bytes]:
        """Start an execution and read what it writes, in the engine's frames.

        Without the SDK's connection upgrade: it reads past the buffer that the answer's header
        came in, and loses what a quick command wrote by then.
        """
        url = f"{self._api.base_url}/v{self._api.api_version}/exec/{execution}/start"
        with self._trouble():
            answer = self._api.post(
                url,
                json={"Detach": False, "Tty": False},
                stream=True,
                timeout=(_CALL_SECONDS, None),
            )
            try:
                if answer.status_code != 200:
                    raise EngineError(answer.text.strip(), answer.status_code)
                while chunk := answer.raw.read1(1 << 16):
                    yield chunk
            finally:
                answer.close()

    def exec_exit_code(self, execution: str) -> int | None:
        """None while it runs. A process that it left behind does not count."""
        with self._trouble():
            state = self._api.exec_inspect(execution)
        return None if state["Running"] or state["ExitCode"] is None else int(state["ExitCode"])

    def wait(self, container: str, seconds: float) -> int:
        """The exit code of a container that ends, or is killed, within `seconds`."""
        with self._trouble():
            return int(self._api.wait(container, timeout=int(seconds) + 1)["StatusCode"])

    def kill(self, container: str) -> None:
        """No process of the container is left afterwards."""
        try:
            with self._trouble():
                self._api.kill(container)
        except EngineError as error:
            if error.status not in (404, 409):  # gone or ended already
                raise

    def written_bytes(self, container: str) -> int:
        """What a container wrote to its own disk so far."""
        with self._trouble():
            url = f"{self._api.base_url}/v{self._api.api_version}/containers/{container}/json"
            return int(self._api.get(url, params={"size": 1}).json().get("SizeRw") or 0)

    def output(self, container: str, lines: int) -> bytes:
        with self._trouble():
            return bytes(self._api.logs(container, stdout=True, stderr=True, tail=lines))

    def starts_others(self, network: bool) -> bool:
        """Whether a container starts whose image is empty, so that nothing in it can be at fault.

        What runs in it is the engine's own init, which it brings into every container.
        """
        image = container = ""
        try:
            with self._trouble():
                made = self._api.import_image_from_data(_EMPTY, changes=[f"LABEL {LABEL}=image"])
            image = json.loads(made.splitlines()[-1])["status"]
            limits = replace(_PROBE, network=network)
            container = self.create(image, [_INIT, "--version"], limits)
            self.start(container)
        except EngineError:
            return False
        finally:
            if container:
                self._remove(container)
            if image:
                with suppress(EngineError):
                    self.remove_image(image)
        return True

    def remove_later(self, container: str) -> None:
        """Remove in the background; `close` waits for it."""
        self._removals = [one for one in self._removals if not one.done()]
        self._removals.append(self._remover.submit(self._remove, container))

    def sweep(self) -> int:
        """Remove the trial containers that no living process owns; returns how many."""
        doomed = [
            one["Id"]
            for one in self._labelled(f"{LABEL}=trial")
            if not is_alive(one["Labels"].get(OWNER_LABEL, ""))
        ]
        for container in doomed:
            self._remove(container)
        return len(doomed)

    def abandon(self) -> None:
        """End what runs, and make no new container: nobody waits for the results any more."""
        self._abandoned = True
        self._remove_own()

    def close(self) -> None:
        """Leave no container of this engine object behind."""
        self._remover.shutdown(wait=True)
        self._remove_own()
        self._api.close()

    def _require_lists(self, container: str) -> None:
        """Raises UnreadableLists where the engine would wait for ever to look a user up."""
        if why := unreadable(lambda path: self._stat(container, path)):
            raise UnreadableLists(why, _REFUSED)

    def _stat(self, container: str, path: str) -> Mapping[str, Any] | None:
        url = f"{self._api.base_url}/v{self._api.api_version}/containers/{container}/archive"
        with self._trouble():
            answer = self._api.head(url, params={"path": path})
        told = answer.headers.get("X-Docker-Container-Path-Stat")
        return decode_json_header(told) if answer.status_code == 200 and told else None

    def _remove_own(self) -> None:
        with suppress(EngineError):
            for one in self._labelled(f"{_KEY_LABEL}={self._key}"):
                self._remove(one["Id"])

    def _labelled(self, label: str) -> list[dict[str, Any]]:
        with self._trouble():
            return list(self._api.containers(all=True, filters={"label": label}))

    def _remove(self, container: str) -> None:
        with suppress(EngineError), self._trouble():
            self._api.remove_container(container, force=True, v=True)

    def _read(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        with self._trouble():
            yield from chunks

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        try:
            yield
        except APIError as error:
            said = _OF_THE_HOST.sub("", str(error.explanation or error))
            raise EngineError(said, error.status_code) from error
        except (DockerException, RequestException, HTTPError, OSError) as error:
            raise EngineUnavailable(self.url, str(error)) from error


def _network(limits: Limits, network_of: str | None) -> str:
    if network_of is not None:
        return f"container:{network_of}"
    return "bridge" if limits.network else "none"
