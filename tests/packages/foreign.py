"""Rich tasks of other formats, written for the tests of conversion."""

from pathlib import Path
from typing import Any

HARBOR = {
    "task.toml": """\
# a canary line
schema_version = "1.4"
source = "https://example.org/tasks/rotate"
artifacts = ["/srv/out", { source = "/srv/log", destination = "log", exclude = ["*.tmp"] }]
surprise = 7

[task]
name = "acme/rotate-logs"
description = "Rotates logs."
keywords = ["logs", "cron"]
authors = [{ name = "Ann Lee", email = "ann@example.org" }]

[metadata]
author_name = "Ann Lee <ann@example.org>"
author_email = "ann@example.org"
category = "system-administration"
difficulty = "Medium"
tags = ["logs", "bash"]
license = "MIT"
expert_time_estimate_min = 30.5
made = 2025-03-01
"odd key.x" = "kept"

[agent]
timeout_sec = 1200.0
user = "worker"

[verifier]
timeout_sec = 120
env = { MODE = "strict", API_KEY = "${API_KEY}" }
environment_mode = "shared"
network_mode = "no-network"

[[verifier.collect]]
command = "dump"

[solution]
env = { HINT = "x" }

[environment]
build_timeout_sec = 700
docker_image = "acme/rotate:1"
os = "linux"
cpus = 2
memory = "2G"
storage = "1.5 GiB"
gpus = 1
gpu_types = ["T4"]
network_mode = "allowlist"
allowed_hosts = ["pypi.org"]
workdir = "/srv"
skills_dir = "/skills"
env = { PLAIN = "a \\"b\\" $x \\\\", MODE = "${MODE:-fast}", SECRET = "${SECRET}" }

[environment.healthcheck]
command = "true"
retries = 3

[[environment.mcp_servers]]
name = "files"
transport = "stdio"
command = "mcp-files"
args = ["--root", "/srv"]

[empty]
""",
    "instruction.md": "\n# Rotate\n\n---\n\n## Steps\n\n```\n## prompt\n```\n\nRotate the logs.\n",
    "environment/Dockerfile": "FROM busybox:1.35.0\nWORKDIR /root\nCOPY seed.txt /root/",
    "environment/seed.txt": "seed\n",
    "environment/docker-compose.yaml": "services: {main: {}, db: {image: postgres}}\n",
    "tests/test.sh": """#!/bin/sh
if [ "$(cat /root/answer.txt)" = apple ]; then r=1; else r=0; fi
echo $r > /logs/verifier/reward.txt
""",
    "tests/test_outputs.py": "def test_answer():\n    assert open('/root/answer.txt').read()\n",
    "tests/data/expected.bin": "\udcff\udcfe",
    "solution/solve.sh": "#!/bin/sh\necho apple > /root/answer.txt\n",
    "README.md": "About the task.\n",
}

STEPS = {
    "task.toml": """\
version = "1.0"
multi_step_reward_strategy = "final"
metadata = { author_name = "Ann", category = "games", tags = "one" }
steps = [
  { name = "first", min_reward = 1.0, agent = { timeout_sec = 5 } },
  { name = "second", artifacts = ["/a"], healthcheck = { command = "true" } },
]
""",
    "instruction.md": "Not used.\n",
    "environment/Dockerfile": "FROM busybox:1.35.0\n",
    "tests/helper.sh": "judge() { if [ -e $1 ]; then echo 1; else echo 0; fi; }\n",
    "steps/first/instruction.md": "Make /root/a.\n",
    "steps/first/tests/test.sh": ". /tests/helper.sh; judge /root/a > /logs/verifier/reward.txt\n",
    "steps/first/solution/solve.sh": "touch /root/a\n",
    "steps/first/workdir/seed": "x\n",
    "steps/second/instruction.md": "Make /root/b.\n",
    "steps/second/tests/test.sh": ". /tests/helper.sh; judge /root/b > /logs/verifier/reward.txt\n",
    "steps/second/solution/solve.sh": "touch /root/b\n",
}

TERMINAL_BENCH = {
    "task.yaml": """\
# a canary line
instruction: |-
  Write apple to /root/answer.txt.

  ## prompt
  This heading is the task's own.
author_name: Ann Lee
author_email: ann@example.org
difficulty: hard
category: file-operations
tags: [files, bash]
parser_name: pytest
max_agent_timeout_sec: 300.0
max_test_timeout_sec: 90.0
run_tests_in_same_shell: false
disable_asciinema: true
expert_time_estimate_min: 5
junior_time_estimate_min: 10
estimated_duration_sec: 60
test_scripts: [setup.sh]
custom: {deep: [1, 2]}
""",
    "Dockerfile": "FROM busybox:1.35.0\nCOPY seed.txt /root/\n",
    "docker-compose.yaml": """\
services:
  client:
    build: {dockerfile: Dockerfile, args: {A: b}}
    image: ${T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME}
    container_name: ${T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME}
    command: ["sh", "-c", "sleep infinity"]
    environment: ["TEST_DIR=${T_BENCH_TEST_DIR}", "COLOUR=red", "FROM_HOST"]
    volumes: ["${T_BENCH_TASK_LOGS_PATH}:${T_BENCH_CONTAINER_LOGS_PATH}"]
    deploy: {resources: {limits: {cpus: "2", memory: 1G}}}
    depends_on: [db]
  db:
    image: postgres:16
networks: {inner: {driver: bridge}}
""",
    "seed.txt": "seed\n",
    "solution.sh": "#!/bin/sh\necho apple > /root/answer.txt\n",
    "run-tests.sh": '#!/bin/sh\nsh "$TEST_DIR/outputs.sh"\n',
    "tests/outputs.sh": "grep -qx apple /root/answer.txt\n",
}

SOLUTION_YAML = """\
- command: echo apple > /root/answer.txt
  min_timeout_sec: 1
  block: true
- command: q
  append_enter: false
"""


def write_task(root: Path, files: dict[str, str], changes: dict[str, Any] | None = None) -> Path:
    """Writes a task, with some of its files changed, added, or (None) left out."""
    for path, text in {**files, **(changes or {})}.items():
        if text is None:
            continue
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8", "surrogateescape"))
    return root
