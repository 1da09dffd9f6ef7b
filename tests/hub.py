"""A real local hub in a process of its own."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import httpx
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

    def make_faults(self, *faults: dict[str, object]) -> None:
        """Puts trouble in wait for the next requests (arena/localhub/faults.py)."""
        httpx.post(f"{self.url}/admin/faults", json=list(faults)).raise_for_status()

    def faults_left(self) -> int:
        return len(httpx.get(f"{self.url}/admin/faults").json())

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(timeout=20)


def start_hub(data: Path, port: int = 0) -> RunningHub:
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "arena.localhub", "--faults"),
            *("--data", str(data), "--port", str(port)),
        ],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
        env={**os.environ, "OAUTH_CLIENT_ID": CLIENT_ID, "OAUTH_CLIENT_SECRET": CLIENT_SECRET},
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("Local hub ready at http://127.0.0.1:"), line
    return RunningHub(line.split()[-1], data, process)
