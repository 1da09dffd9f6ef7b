"""REST: the use cases over HTTP, in the shapes of views.py."""

from arena.api.app import create_api

__all__ = ["create_api"]
