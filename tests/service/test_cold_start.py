"""What years of use cost an arena that starts with nothing of it at hand."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.records import publish
from bench.store import REPO, ROOT
from tests.hub import RunningHub


@pytest.mark.slow
def test_a_hundred_thousand_records_are_under_300_files_and_400_requests(
    hub: RunningHub, tmp_path: Path
) -> None:
    api = hub.api("arena")
    assert publish(api, REPO, 107_800) >= 100_000
    assert len(api.list_repo_files(REPO, repo_type="dataset")) < 300
    command = [sys.executable, "-m", "bench.store", "open", hub.url, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["requests"] <= 400
