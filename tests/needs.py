"""What a test needs of the machine: skipped by name where it cannot be had, a failure in CI."""

import os
from typing import NoReturn

import pytest


def cannot(reason: str) -> NoReturn:
    """Skips the test for `reason`; fails it under CI=true, where nothing may go untested."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
