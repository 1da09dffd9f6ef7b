"""A real local hub in a process of its own."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import HfApi

CLIENT_ID, CLIENT_SECRET = "test-application", "test-secret"


@dataclass
class RunningHub:
    url: str
    data: Path
    process: subprocess.Popen[str]

    def api(self, account: str | None) -> HfApi:
        return HfApi(endpoint=self.url, token=f"hf_{account}" if account else False)

    def git_dir(self, repo_id: str, kind: str = "datasets") -> Path:
        return self.data / "repositories" / kind / f"{repo_id}.git"

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(timeout=20)


def start_hub(data: Path, port: int = 0) -> RunningHub:
    process = subprocess.Popen(
        [sys.executable, "-m", "arena.localhub", "--data", str(data), "--port", str(port)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
        env={**os.environ, "OAUTH_CLIENT_ID": CLIENT_ID, "OAUTH_CLIENT_SECRET": CLIENT_SECRET},
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("Local hub ready at http://127.0.0.1:"), line
    return RunningHub(line.split()[-1], data, process)
