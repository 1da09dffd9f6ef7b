"""The way to a Docker engine: on this machine, or on another over TLS."""

from __future__ import annotations

import os
from typing import Any

from docker import APIClient
from docker.utils import kwargs_from_env

DEFAULT_URL = "unix:///var/run/docker.sock"


class _Client(APIClient):
    """Trusts the authority that `DOCKER_CERT_PATH` names, and no other.

    The environment's bundle of certificates (`REQUESTS_CA_BUNDLE`) would take its place, and its
    proxies are for the web.
    """

    def merge_environment_settings(self, *settings: Any) -> Any:
        self.trust_env = False
        return super().merge_environment_settings(*settings)


def engine_address(url: str | None) -> str:
    """The engine that is meant: `url`, or the environment's, or the machine's own."""
    return url or os.environ.get("DOCKER_HOST") or DEFAULT_URL


def connect(url: str, seconds: int, connections: int = 10) -> APIClient:
    """A client of the engine at `url`, in its version of the API.

    Raises:
        DockerException, requests.RequestException: none answers there.
    """
    tls = kwargs_from_env().get("tls")
    return _Client(
        base_url=url,
        version="auto",
        timeout=seconds,
        tls=tls if url.startswith("tcp://") and tls else False,
        max_pool_size=connections,
    )
