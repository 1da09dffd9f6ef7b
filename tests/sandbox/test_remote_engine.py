"""Trials on a Docker host of somewhere else, over TLS: what a Job uses, since none runs in one."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import trustme
from docker import APIClient

from arena.sandbox import EngineError, Sandbox, oracle, replay
from local import daemon, engine
from local.baseimages import ensure_base_images
from tests.needs import cannot
from tests.sandbox.packages import write_package

pytestmark = [pytest.mark.docker, pytest.mark.slow]


class Remote(NamedTuple):
    """A second engine on this machine: as the worker reaches it, and from its own side."""

    url: str
    certificates: Path
    own_side: str


@pytest.fixture(scope="module")
def remote(docker_engine: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    """It takes whoever shows a certificate of its authority, and nobody else."""
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        cannot("starting a second engine needs root and dockerd")
    folder = tmp_path_factory.mktemp("remote")
    certificates = folder / "client"
    port, flags = _listening(folder, certificates)
    paths = daemon.Paths.under(folder / "docker")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(daemon, "_FLAGS", [*daemon._FLAGS, *flags])
        with daemon.locked(paths):
            daemon.start(paths)
    try:
        ensure_base_images(paths.url)
        yield Remote(f"tcp://127.0.0.1:{port}", certificates, paths.url)
    finally:
        engine.stop_engine(paths.directory)


def _listening(folder: Path, certificates: Path) -> tuple[int, list[str]]:
    """A free port, and dockerd's flags to listen there; writes both sides' certificates."""
    authority = trustme.CA()
    for place, name in ((folder / "server", "127.0.0.1"), (certificates, "worker")):
        issued = authority.issue_cert(name)
        place.mkdir()
        authority.cert_pem.write_to_path(place / "ca.pem")
        issued.private_key_pem.write_to_path(place / "key.pem")
        issued.cert_chain_pems[0].write_to_path(place / "cert.pem")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    own = folder / "server"
    flags = ["-H", f"tcp://127.0.0.1:{port}", "--tlsverify", f"--tlscacert={own / 'ca.pem'}"]
    return port, [*flags, f"--tlscert={own / 'cert.pem'}", f"--tlskey={own / 'key.pem'}"]


@pytest.fixture
def reached(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> Remote:
    """The environment names it, as a worker's would."""
    monkeypatch.setenv("DOCKER_HOST", remote.url)
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(remote.certificates))
    return remote


def _containers(url: str) -> list[str]:
    client = APIClient(base_url=url, version="auto")
    try:
        return [str(found["Id"]) for found in client.containers(all=True)]
    finally:
        client.close()


def test_a_package_is_built_and_proven_there_and_nothing_stays(
    reached: Remote, tmp_path: Path
) -> None:
    package = write_package(tmp_path / "task")
    with Sandbox() as sandbox:
        found = replay(sandbox, package)
        assert (found.verdict, found.oracle, found.untouched) == ("proven", (1.0,), (0.0,))
    assert _containers(reached.own_side) == []


def test_without_a_certificate_nobody_is_let_in(
    reached: Remote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    _listening(tmp_path, other / "client")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(other / "client"))
    with pytest.raises(EngineError):
        Sandbox()
    monkeypatch.setenv("DOCKER_CERT_PATH", str(reached.certificates))
    with Sandbox() as sandbox:
        assert sandbox.trial(write_package(tmp_path / "task"), oracle()).reward == 1.0
