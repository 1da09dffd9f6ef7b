"""The house stays as it is described: imports point down, the Space is set up for real sign-in."""

import ast
from pathlib import Path

import pytest

from arena.packages.document import parse_document

ROOT = Path(__file__).parents[1]
FORBIDDEN = {
    "arena/packages": ("arena.service", "arena.web", "arena.api", "arena.runs", "arena.sandbox"),
    "arena/sandbox": ("arena.service", "arena.web", "arena.api", "arena.runs", "arena.posttrain"),
    "arena/posttrain": ("arena.service", "arena.web", "arena.api", "arena.cli", "arena.ledger"),
    "leaderboard": ("arena.service", "arena.web", "arena.api", "arena.ledger", "arena.runs"),
    "arena/localhub": ("arena.service", "arena.packages", "arena.records", "arena.web"),
    "arena/cli": ("arena.service", "arena.ledger", "arena.store", "arena.state", "arena.web"),
    "arena": ("local", "arena.localhub", "tests"),
}


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("folder", sorted(FORBIDDEN))
def test_imports_point_down(folder: str) -> None:
    for path in (ROOT / folder).rglob("*.py"):
        inside_localhub = "arena/localhub" in path.as_posix()
        for name in imports(path):
            for banned in FORBIDDEN[folder]:
                own = inside_localhub and banned == "arena.localhub"
                assert own or not (name == banned or name.startswith(banned + ".")), (
                    f"{path.relative_to(ROOT)} imports {name}"
                )


def test_the_space_signs_in_for_real() -> None:
    front_matter = parse_document((ROOT / "README.md").read_text(encoding="utf-8")).front_matter
    assert front_matter["sdk"] == "docker"
    assert front_matter["app_port"] == 7860
    assert front_matter["hf_oauth"] is True
    assert front_matter["hf_oauth_expiration_minutes"] > 0
    assert "SYSTEM=spaces" in (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_every_error_has_its_own_code() -> None:
    import arena.api
    import arena.cli
    from arena.errors import ArenaError

    def below(kind: type[ArenaError]) -> list[type[ArenaError]]:
        return [kind, *(deeper for child in kind.__subclasses__() for deeper in below(child))]

    assert arena.api
    assert arena.cli
    own = [kind for kind in below(ArenaError) if "code" in vars(kind)]
    assert len({kind.code for kind in own}) == len(own)
    assert all(kind.text and kind.advice and 400 <= kind.status < 600 for kind in own)
