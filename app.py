"""The Space: settings → arena → web app, served."""

from __future__ import annotations

import gc
import os
import sys

import uvicorn

from arena import logs
from arena.challenges import ChallengeFileError
from arena.service import Arena
from arena.settings import Settings, SettingsError


def main() -> int:
    """Serves until stopped; says in one line what is wrong where it cannot start."""
    logs.configure()
    try:
        settings = Settings.from_env(os.environ)
        service = Arena(settings)
    except (SettingsError, ChallengeFileError) as exc:
        sys.stderr.write(f"The arena does not start: {exc}\n")
        return 2
    from arena.web import create_app  # Gradio reads its environment when imported: settings first

    # A check computes in a thread of its own. Asked to yield only every 5 ms, it would make each
    # request wait that long for every turn of the event loop.
    sys.setswitchinterval(0.0001)
    try:
        service.start()
        gc.freeze()  # what was read stays: to look through it for garbage stops all for a second
        uvicorn.run(
            create_app(service),
            host=settings.host,
            port=settings.port,
            log_level="warning",
            log_config=None,
            timeout_graceful_shutdown=5,
        )
    finally:
        service.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
