"""The limit on what the arena's images keep of an engine's disk."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from docker import APIClient

from arena.sandbox import Sandbox, oracle
from arena.sandbox.builder import Builder
from arena.sandbox.context import build_context
from arena.sandbox.engine import LABEL, Engine
from arena.sandbox.imagecache import layer_sizes, trim
from arena.settings import SettingsError, image_cache_bytes
from tests.sandbox.packages import DOCKERFILE, write_package
from tests.sandbox.waiting import eventually

MB = 1_000_000
OWN = 3 * MB  # of each image of a shelf


class Shelf:
    """Images of one engine under a repository that no other test's images are in."""

    def __init__(self, url: str, folder: Path) -> None:
        self.repository = f"arena-test/{uuid.uuid4().hex[:12]}"
        self.engine = Engine(url, connections=2)
        self.client = APIClient(base_url=url, version="auto")
        self.containers: list[str] = []
        self._url, self._folder = url, folder

    def build(self, name: str, *, label: str = LABEL, repository: str | None = None) -> str:
        """An image of a shared base, a shared layer of 3 MB, and a layer of 3 MB of its own."""
        dockerfile = (
            "FROM busybox:1.35.0\nENV A=1\nWORKDIR /\n"
            f"RUN head -c {OWN} /dev/urandom > /shared # {self.repository}\nENV B=1\n"
            f"RUN head -c {OWN} /dev/urandom > /own # {name}\n"
        )
        (self._folder / "Dockerfile").write_text(dockerfile)
        tag = f"{repository or self.repository}:{name}"
        options = ["--tag", tag, "--network", "none", "--label", f"{label}=test"]
        built = Builder(self._url).build(build_context(self._folder), options, 120)
        assert built.exit_code == 0, built.log
        self.engine.tag(tag, *tag.split(":"))
        return tag

    def use(self, image: str) -> None:
        self.containers.append(self.client.create_container(image, "true")["Id"])

    def there(self, *tags: str) -> list[bool]:
        return [self.engine.image(tag) is not None for tag in tags]

    def trim(self, limit: int) -> int:
        return trim(self.engine, [self.repository], limit)

    def clear(self) -> None:
        for container in self.containers:
            self.client.remove_container(container, force=True)
        self.trim(0)
        self.client.close()
        self.engine.close()


@pytest.fixture
def shelf(docker_engine: str, tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(docker_engine, tmp_path)
    yield shelf
    shelf.clear()


@pytest.mark.docker
def test_shared_layers_count_once_and_the_longest_unused_goes_first(shelf: Shelf) -> None:
    a, b, c = (shelf.build(name) for name in "abc")
    base = shelf.client.inspect_image("busybox:1.35.0")["Size"]
    all_three = base + 4 * OWN
    one_by_one = sum(shelf.client.inspect_image(tag)["Size"] for tag in (a, b, c))
    assert one_by_one == 3 * base + 6 * OWN
    shelf.trim(all_three + 1000)
    assert shelf.there(a, b, c) == [True, True, True]
    shelf.engine.tag(a, *a.split(":"))  # what every use does
    shelf.trim(all_three - 1000)
    assert shelf.there(a, b, c) == [True, False, True]
    shelf.trim(all_three - OWN - 1000)
    assert shelf.there(a, b, c) == [True, False, False]


@pytest.mark.docker
def test_what_is_used_or_not_ours_stays(shelf: Shelf) -> None:
    a, b = shelf.build("a"), shelf.build("b")
    foreign = shelf.build("foreign", label="somebody-elses", repository="arena-test/foreign")
    derived = shelf.build("derived", repository="arena-test/foreign")
    shelf.client.tag(b, "arena-test/foreign", "b")
    shelf.use(a)
    assert shelf.trim(0) == 0
    assert shelf.there(a, b, foreign, derived) == [True] * 4
    for tag in (foreign, derived, "arena-test/foreign:b"):
        shelf.client.remove_image(tag)
    shelf.client.remove_container(shelf.containers.pop())
    shelf.client.tag(b, shelf.repository, "two-names")
    assert shelf.trim(0) == 2
    assert shelf.there(a, b, f"{shelf.repository}:two-names") == [False] * 3


@pytest.mark.docker
def test_an_image_that_lost_its_name_goes_whatever_the_limit(shelf: Shelf) -> None:
    a = shelf.build("a")
    unnamed = shelf.client.inspect_image(a)["Id"]
    shelf.client.tag(shelf.build("b"), *a.split(":"))  # takes the name away
    assert shelf.there(unnamed) == [True]
    shelf.use(unnamed)
    shelf.trim(10**12)
    assert shelf.there(unnamed) == [True]
    shelf.client.remove_container(shelf.containers.pop())
    shelf.trim(10**12)
    assert shelf.there(unnamed, a) == [False, True]


@pytest.mark.docker
def test_a_sandbox_keeps_the_limit_and_another_builds_again(
    docker_engine: str, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = write_package(tmp_path / "p", dockerfile=f"{DOCKERFILE}RUN echo {tmp_path}\n")
    image = sandbox.build(package)
    monkeypatch.setenv("ARENA_IMAGE_CACHE_GB", "0")
    client = APIClient(base_url=docker_engine, version="auto")
    with Sandbox(docker_engine) as other:
        assert other.build(package) == image
        other.sweep()
        assert not client.images(filters={"label": f"{LABEL}=image"})
        assert sandbox.trial(package, oracle()).reward == 1.0
        assert client.inspect_image(image)["Id"] == image

    def are_gone() -> bool:
        with Sandbox(docker_engine):  # the first one's containers are removed in its own time
            pass
        return not client.images(filters={"label": f"{LABEL}=image"})

    assert eventually(are_gone)
    client.close()


STEPS = [
    ("ADD rootfs.tar", 50),
    ("CMD [sh]", 0),
    ("/bin/sh -c #(nop)  ENV A=1", 0),
    ("WORKDIR /root", 0),
    ("COPY data /root", 7),
    ("/bin/sh -c ENV=1 true", 0),
    ("RUN make", 9),
]
LAYERS = {
    "none is empty": ("abc", {"a": 50, "ab": 7, "abc": 9}),
    "one of two is empty": ("abcd", {"a": 50, "abc": 7, "abcd": 9}),
    "both are empty": ("abcde", {"a": 50, "abc": 7, "abcde": 9}),
}


@pytest.mark.parametrize("case", LAYERS)
def test_layers_are_never_taken_for_the_same_by_mistake(case: str) -> None:
    diff_ids, expected = LAYERS[case]
    history = [{"CreatedBy": text, "Size": size} for text, size in reversed(STEPS)]
    found = layer_sizes(list(diff_ids), history)
    assert {"".join(layer): size for layer, size in found.items()} == expected


def test_the_setting_is_a_number_of_gigabytes() -> None:
    assert image_cache_bytes({}) == 20 * 10**9
    assert image_cache_bytes({"ARENA_IMAGE_CACHE_GB": "0.5"}) == 500_000_000
    for wrong in ("", "-1", "nan", "inf", "20GB"):
        with pytest.raises(SettingsError, match="ARENA_IMAGE_CACHE_GB is a number"):
            image_cache_bytes({"ARENA_IMAGE_CACHE_GB": wrong})
