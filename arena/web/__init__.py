"""The pages: Gradio over the same service as REST and the command line."""

from arena.web.app import create_app

__all__ = ["create_app"]
