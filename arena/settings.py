"""The environment, read once. A laptop and the Space have the same variables with other values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

DEFAULT_PORT = 7860
_SIGN_IN = (
    "SPACE_ID",
    "OAUTH_CLIENT_ID",
    "OAUTH_CLIENT_SECRET",
    "OAUTH_SCOPES",
    "OPENID_PROVIDER_URL",
)


class SettingsError(Exception):
    """The environment lacks what the arena needs; the message names each variable."""


@dataclass(frozen=True)
class GitHubSettings:
    """Where GitHub's API is; `token` raises its limit, and is never logged.

    The token's account should be able to read nothing that is private.
    """

    endpoint: str = "https://api.github.com"
    token: str | None = field(default=None, repr=False)

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> GitHubSettings:
        """Reads what the app and the worker share.

        Raises:
            SettingsError: the token is no token, or the endpoint no address.
        """
        token = env.get("GITHUB_TOKEN", "").strip()
        if not (token.isascii() and token.isprintable()):
            raise SettingsError("GITHUB_TOKEN holds characters that no token has")
        endpoint = env.get("GITHUB_ENDPOINT", cls.endpoint).rstrip("/")
        if not endpoint.startswith(("https://", "http://")):
            raise SettingsError(f"GITHUB_ENDPOINT is an address: {endpoint!r}")
        return cls(endpoint, token or None)


@dataclass(frozen=True)
class Settings:
    """What the app needs to know. `hub_token` is the app's own; it is never logged."""

    hub_token: str
    hub_endpoint: str
    challenges: Path
    data: Path
    host: str
    port: int
    suite_key: bytes
    results_repo: str | None
    commons_repo: str | None
    lease_seconds: float
    commits_per_hour: int = 60
    github: GitHubSettings = field(default_factory=GitHubSettings)

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Settings:
        """Reads the app's settings.

        Raises:
            SettingsError: a variable is missing or wrong, or sign-in would be mocked.
        """
        _require_real_sign_in(env)
        if not env.get("HF_TOKEN"):
            raise SettingsError("HF_TOKEN is missing: the token of the account that writes results")
        try:
            port = int(env.get("PORT", str(DEFAULT_PORT)))
            lease_seconds = float(env.get("ARENA_LEASE_SECONDS", "60"))
            commits_per_hour = int(env.get("ARENA_COMMITS_PER_HOUR", "60"))
        except ValueError as exc:
            names = "PORT, ARENA_LEASE_SECONDS and ARENA_COMMITS_PER_HOUR"
            raise SettingsError(f"{names} are numbers: {exc}") from exc
        if commits_per_hour < 4:
            raise SettingsError("ARENA_COMMITS_PER_HOUR is at least 4")
        return cls(
            hub_token=env["HF_TOKEN"],
            hub_endpoint=env.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/"),
            challenges=Path(env.get("ARENA_CHALLENGES", "challenges")),
            data=Path(env.get("ARENA_DATA", "data")),
            host=env.get("HOST", "127.0.0.1"),
            port=port,
            suite_key=suite_key(env),
            results_repo=env.get("ARENA_RESULTS_REPO"),
            commons_repo=env.get("ARENA_COMMONS_REPO"),
            lease_seconds=lease_seconds,
            commits_per_hour=commits_per_hour,
            github=GitHubSettings.from_env(env),
        )

    def __repr__(self) -> str:
        return f"Settings(hub_endpoint={self.hub_endpoint!r}, port={self.port})"


def suite_key(env: Mapping[str, str]) -> bytes:
    """The secret under which the suite's index and the published task ids are made.

    Raises:
        SettingsError: it is missing, or shorter than 32 characters.
    """
    key = env.get("ARENA_SUITE_KEY", "")
    if len(key) < 32:
        raise SettingsError("ARENA_SUITE_KEY must be a secret of at least 32 characters")
    return key.encode()


def image_cache_bytes(env: Mapping[str, str]) -> int:
    """How much of a Docker engine's disk the images of task packages may keep.

    Raises:
        SettingsError: it is no number.
    """
    asked = env.get("ARENA_IMAGE_CACHE_GB", "20")
    try:
        gigabytes = float(asked)
        if not 0 <= gigabytes < float("inf"):
            raise ValueError
    except ValueError as exc:
        raise SettingsError(
            f"ARENA_IMAGE_CACHE_GB is a number of gigabytes from 0 up: {asked!r}"
        ) from exc
    return int(gigabytes * 1e9)


def _require_real_sign_in(env: Mapping[str, str]) -> None:
    """Gradio signs in for real only with these set; otherwise everybody would be one mock user."""
    if env.get("SYSTEM") != "spaces":
        raise SettingsError("SYSTEM must be 'spaces': without it sign-in would be mocked")
    if missing := [name for name in _SIGN_IN if not env.get(name)]:
        raise SettingsError(
            f"{', '.join(missing)} missing: the Hub sets them where hf_oauth is true in README.md"
        )
