"""Whose fault it is where a registry that the author named has trouble, with registries that run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.sandbox import BuildError, Sandbox, images, untouched
from tests.needs import cannot
from tests.sandbox.packages import write_package
from tests.sandbox.registry import Registry, serving

pytestmark = pytest.mark.docker


@pytest.fixture(autouse=True)
def hasty(docker_engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not docker_engine.startswith("unix://"):
        cannot("only an engine on this machine reaches a registry of the tests")
    monkeypatch.setattr(images, "REGISTRY_PAUSES_SEC", (0.0, 0.0))


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """In Docker Hub's place, where it is asked whether any registry answers."""
    with serving(200) as registry:
        monkeypatch.setattr(images, "WELL_KNOWN", f"{registry.host}/busybox:latest")
        yield registry


@pytest.mark.parametrize("status", [503, 429])
def test_one_in_trouble_while_others_answer_is_the_authors_to_mend(
    sandbox: Sandbox, others: Registry, tmp_path: Path, status: int
) -> None:
    with serving(status) as registry:
        package = write_package(tmp_path / "own", dockerfile=f"FROM {registry.host}/x:1\n")
        with pytest.raises(BuildError, match=f"{registry.host} does not answer"):
            sandbox.build(package)
        asked = registry.asked  # the engine asks again by itself, too, at a 429
        assert asked >= 3
        with pytest.raises(BuildError, match=f"{registry.host} does not answer"):
            sandbox.build(package)
        assert 0 < registry.asked - asked < asked
    assert others.asked


def test_one_in_trouble_as_all_are_is_the_platforms(
    sandbox: Sandbox, others: Registry, tmp_path: Path
) -> None:
    others.status = 503
    with serving(503) as registry:
        package = write_package(tmp_path / "own", dockerfile=f"FROM {registry.host}/x:1\n")
        result = sandbox.trial(package, untouched())
    assert (result.reward, result.fault) == (None, "platform")


def test_one_that_comes_back_costs_nothing(
    sandbox: Sandbox, others: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(503) as registry:

        def mend(_seconds: float) -> None:
            registry.status = 404

        monkeypatch.setattr(images.time, "sleep", mend)
        package = write_package(tmp_path / "own", dockerfile=f"FROM {registry.host}/x:1\n")
        with pytest.raises(BuildError, match="not found"):
            sandbox.build(package)
    assert not others.asked


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_clear_answer_is_the_authors_at_once(
    sandbox: Sandbox, tmp_path: Path, status: int
) -> None:
    with serving(status) as registry:
        package = write_package(tmp_path / "own", dockerfile=f"FROM {registry.host}/x:1\n")
        with pytest.raises(BuildError):
            sandbox.build(package)
        assert registry.asked == 1


def test_a_name_that_nobody_can_have_is_the_authors(sandbox: Sandbox, tmp_path: Path) -> None:
    dockerfile = "FROM registry.invalid/nonesuch:1\n"
    with pytest.raises(BuildError, match=r"registry\.invalid"):
        sandbox.build(write_package(tmp_path / "made-up", dockerfile=dockerfile))
