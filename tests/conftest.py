"""What tests in several folders share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.baseimages import BUSYBOX, DEFAULT_CACHE, PYTHON, BaseImageError, ensure_base_images
from local.browser import ensure_chromium
from local.engine import DEFAULT_DIRECTORY, ensure_engine
from tests.hub import RunningHub, start_hub
from tests.localgithub import LocalGitHub
from tests.needs import cannot

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def docker_engine() -> str:
    """The address of a Docker engine; a private one is started where none runs and it may be."""
    return _engine_with(BUSYBOX)


@pytest.fixture(scope="session")
def python_engine() -> str:
    """The address of a Docker engine that has Python's image, which takes a minute to make once."""
    return _engine_with(PYTHON)


def _engine_with(image: str) -> str:
    engine = ensure_engine(ROOT / DEFAULT_DIRECTORY)
    if engine.url is None:
        cannot(engine.reason or "no Docker engine")
    if engine.private:
        try:
            ensure_base_images(engine.url, [image], ROOT / DEFAULT_CACHE)
        except BaseImageError as error:
            cannot(str(error))
    return engine.url


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium; Debian's is installed where none is and it may be."""
    browser = ensure_chromium(ROOT / ".local" / "logs")
    return browser.path or cannot(browser.reason or "no Chromium")


@pytest.fixture
def github(tmp_path: Path) -> Iterator[LocalGitHub]:
    """A GitHub of the test's own."""
    running = LocalGitHub(tmp_path / "github")
    yield running
    running.close()


@pytest.fixture(scope="session", autouse=True)
def _plain_client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The client's cache is a temporary folder, and Xet is off, as it is on a laptop."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
        patch.setattr(
            "huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path_factory.mktemp("cache"))
        )
        yield


@pytest.fixture(scope="session")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    running = start_hub(tmp_path_factory.mktemp("hub"))
    yield running
    running.stop()


@pytest.fixture(scope="session")
def base_model_dir() -> Path:
    """The demo's base model, made at its first use and kept for the next."""
    from local.demo.base_model import build  # torch takes seconds to load

    return build(ROOT / ".local" / "cache" / "base-model")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves the slow tests to CI=true."""
    if os.environ.get("CI") == "true":
        return
    slow = pytest.mark.skip(reason="takes minutes: CI=true make test runs it")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(slow)
