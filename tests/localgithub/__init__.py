"""A GitHub on this machine: its REST API and its archives, over real git repositories."""

from tests.localgithub.repositories import GitRepository
from tests.localgithub.server import LocalGitHub

__all__ = ["GitRepository", "LocalGitHub"]
