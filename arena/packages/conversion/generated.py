"""Texts that a task package has and the source had not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from shlex import quote

from arena.packages.conversion.draft import Draft
from arena.packages.conversion.errors import NotConverted

NAMES = {"harbor": "Harbor", "terminal-bench": "Terminal-Bench"}
_CHECK = re.compile(r"^[ \t]{0,8}(?:async[ \t]+)?def[ \t]+(test_\w{1,80})", re.MULTILINE)
_MAX_CHECKS = 40

RUN_TESTS = """\
#!/bin/sh
# run-tests.sh judges by its exit status; the reward says the same as a number.
here=$(cd "$(dirname "$0")" && pwd -P)
export TEST_DIR="$here"
reward_file="${BENCHFLOW_REWARD_TEXT:-/logs/verifier/reward.txt}"
mkdir -p "$(dirname "$reward_file")"
shell=sh
if command -v bash > /dev/null; then shell=bash; fi
if "$shell" "$here/run-tests.sh"; then reward=1; else reward=0; fi
echo "$reward" > "$reward_file"
"""

_STEPS = """\
#!/bin/sh
# The steps' own tests, in their order, each at /tests as it expects; the {strategy} of their
# rewards is the reward.
here=$(cd "$(dirname "$0")" && pwd -P)
logs=/logs/verifier
shell=sh
if command -v bash > /dev/null; then shell=bash; fi
rewards=
for step in {steps}; do
  rm -rf /tests && mkdir /tests || exit 1
  if [ -d "$here/shared" ]; then cp -R "$here/shared/." /tests/; fi
  if [ -d "$here/steps/$step" ]; then cp -R "$here/steps/$step/." /tests/; fi
  rm -rf "$logs" && mkdir -p "$logs"
  "$shell" /tests/test.sh
  rewards="$rewards $(cat "$logs/reward.txt")" || exit 1
done
rm -rf "$logs" && mkdir -p "$logs"
echo "$rewards" | awk '{{ for (i = 1; i <= NF; i++) sum += $i; print {value} }}' \\
  > "$logs/reward.txt"
"""

_SOLVE = """\
#!/bin/sh
# The steps' own solutions, in their order.
here=$(cd "$(dirname "$0")" && pwd -P)
shell=sh
if command -v bash > /dev/null; then shell=bash; fi
for step in {steps}; do
  "$shell" "$here/steps/$step/solve.sh" || exit 1
done
"""


def steps_verifier(names: Iterable[str], final: bool) -> str:
    """A test.sh that runs every step's tests and joins their rewards: the last, or the mean."""
    steps = " ".join(map(quote, names))
    value, strategy = ("$NF", "last") if final else ("sum / NF", "mean")
    return _STEPS.format(steps=steps, strategy=strategy, value=value)


def steps_oracle(names: Iterable[str]) -> str:
    """A solve.sh that runs every step's solution."""
    return _SOLVE.format(steps=" ".join(map(quote, names)))


def describe_verifier(draft: Draft, name: str) -> None:
    """Writes verifier.md and, where the source has none, a rubric: what is known, and no more."""
    format_name = NAMES[draft.report.format]
    shell = "bash" if "bash" in draft.text_of("verifier/test.sh").partition("\n")[0] else "sh"
    checks = _checks(draft)
    listed = "".join(f"- {check}\n" for check in checks) or (
        "No test function was found by name; verifier/test.sh is the check.\n"
    )
    draft.write(
        "verifier/verifier.md",
        _VERIFIER.format(name=name, shell=shell, format=format_name, checks=listed),
    )
    if not any(re.fullmatch(r"verifier/rubrics/[^/]+\.md", path) for path in draft.files):
        draft.write("verifier/rubrics/outcome.md", _RUBRIC.format(format=format_name))
        draft.todo("verifier/rubrics/outcome.md: the source had no rubric; say what good work is")


_VERIFIER = """\
---
document_version: "0.3"
verifier:
  name: {name}
  default_strategy: script
  strategies:
    script:
      type: script
      command: {shell} /verifier/test.sh
  outputs:
    reward_text: /logs/verifier/reward.txt
---

Passing means: `verifier/test.sh` gives the full reward. The checks came with the {format} task
and are unchanged; the task had no description of them. By name they are:

{checks}"""

_RUBRIC = """\
# Outcome

- **Outcome**: every check of `verifier/test.sh` passes on what the agent left.

The {format} task had no rubric. This one says what its checks decide, and nothing beyond them.
"""


def _checks(draft: Draft) -> Sequence[str]:
    found, more = list[str](), 0
    for path in sorted(draft.files):
        if not path.startswith("verifier/") or not path.endswith(".py"):
            continue
        for match in _CHECK.finditer(_readable(draft, path)):
            if len(found) < _MAX_CHECKS:
                found.append(f"`{match[1]}` (`{path}`)")
            else:
                more += 1
    return [*found, *([f"and {more} more"] if more else [])]


def _readable(draft: Draft, path: str) -> str:
    try:
        return draft.text_of(path)
    except NotConverted:  # too large, or no UTF-8: the check will say so
        return ""
