"""The four families of file tasks, each written twice: for the example collection and the suite.

The two share the skill and nothing else: other wordings, other oracles, and verifiers that look at
the same state through other commands. `{a}` and `{b}` are a task's words, `{d}` its directory.
"""

from __future__ import annotations

from dataclasses import dataclass

COLLECTION_DIRECTORY = "/root"
SUITE_DIRECTORY = "/srv"


@dataclass(frozen=True)
class Form:
    """One way to write a family's tasks."""

    prompts: tuple[str, str, str]
    environment: str
    """The Dockerfile after FROM."""
    oracle: str
    condition: str
    """A shell condition that holds exactly when the task is solved."""
    passing: str
    """What the condition means, for verifier.md."""


@dataclass(frozen=True)
class Family:
    name: str
    domain: str
    tags: tuple[str, ...]
    collection: Form
    suite: Form


WRITE = Family(
    name="write",
    domain="office-white-collar",
    tags=("files", "writing"),
    collection=Form(
        prompts=(
            "Write the word {a} to the file {d}/answer.txt.",
            "The file {d}/answer.txt must contain only {a}.",
            "Store {a} as the whole text of {d}/answer.txt.",
        ),
        environment="RUN mkdir -p {d}\nWORKDIR {d}\n",
        oracle="echo {a} > {d}/answer.txt",
        condition='[ "$(cat {d}/answer.txt)" = {a} ]',
        passing="`{d}/answer.txt` holds the word and nothing else.",
    ),
    suite=Form(
        prompts=(
            "We want {a} noted in {d}/answer.txt, no more than that.",
            "Please put {a} into {d}/answer.txt for us.",
            "Whoever opens {d}/answer.txt should see {a} there.",
        ),
        environment="WORKDIR {d}\n",
        oracle="printf '%s\\n' {a} | tee {d}/answer.txt",
        condition="grep -qxF {a} {d}/answer.txt && test $(wc -w < {d}/answer.txt) -eq 1",
        passing="One line of `{d}/answer.txt` is the word, and it has no other words.",
    ),
)

MKDIR = Family(
    name="mkdir",
    domain="software-engineering",
    tags=("files", "directories"),
    collection=Form(
        prompts=(
            "Create a directory named {d}/{a}.",
            "A folder {d}/{a} is missing: add it.",
            "Make the new directory {d}/{a}.",
        ),
        environment="RUN mkdir -p {d}\nWORKDIR {d}\n",
        oracle="mkdir {d}/{a}",
        condition="[ -d {d}/{a} ]",
        passing="`{d}/{a}` is a directory.",
    ),
    suite=Form(
        prompts=(
            "Set up {d}/{a} as an empty folder.",
            "Our files want a place of their own, {d}/{a}, so start one.",
            "There is no {d}/{a} yet; bring that folder into being.",
        ),
        environment="WORKDIR {d}\n",
        oracle="cd {d} && mkdir -m 0755 -p ./{a}",
        condition='test "$(stat -c %F {d}/{a})" = directory && test -z "$(ls -A {d}/{a})"',
        passing="`{d}/{a}` is a directory with nothing in it.",
    ),
)

DELETE = Family(
    name="delete",
    domain="software-engineering",
    tags=("files", "clean-up"),
    collection=Form(
        prompts=(
            "Delete the file {d}/{a}.txt and nothing else.",
            "Remove {d}/{a}.txt, keep all other files.",
            "The file {d}/{a}.txt must go.",
        ),
        environment=(
            "RUN mkdir -p {d} && echo kept > {d}/keep.txt && echo old > {d}/{a}.txt\nWORKDIR {d}\n"
        ),
        oracle="rm {d}/{a}.txt",
        condition='[ ! -e {d}/{a}.txt ] && [ "$(cat {d}/keep.txt)" = kept ]',
        passing="`{d}/{a}.txt` is gone and `{d}/keep.txt` is as it was.",
    ),
    suite=Form(
        prompts=(
            "Get rid of {d}/{a}.txt; leave its neighbours alone.",
            "Of everything here only {d}/{a}.txt is to disappear.",
            "Nobody needs {d}/{a}.txt any longer: erase it.",
        ),
        environment=(
            "WORKDIR {d}\n"
            "RUN for name in ledger roster {a}; do printf 'the %s\\n' $name > $name.txt; done\n"
        ),
        oracle="unlink {d}/{a}.txt",
        condition=(
            'test "$(ls -A {d} | xargs)" = "ledger.txt roster.txt" && '
            "grep -qx 'the ledger' {d}/ledger.txt && grep -qx 'the roster' {d}/roster.txt"
        ),
        passing="Exactly the other two files are left in `{d}`, unchanged.",
    ),
)

COPY = Family(
    name="copy",
    domain="office-white-collar",
    tags=("files", "copying"),
    collection=Form(
        prompts=(
            "Copy the file {d}/{a}.txt to {d}/{b}.txt.",
            "Duplicate {d}/{a}.txt as {d}/{b}.txt.",
            "Keep {d}/{a}.txt and store it again as {d}/{b}.txt.",
        ),
        environment="RUN mkdir -p {d} && echo data-{a} > {d}/{a}.txt\nWORKDIR {d}\n",
        oracle="cp {d}/{a}.txt {d}/{b}.txt",
        condition='[ "$(cat {d}/{b}.txt)" = data-{a} ] && [ "$(cat {d}/{a}.txt)" = data-{a} ]',
        passing="`{d}/{b}.txt` holds what `{d}/{a}.txt` holds, and that is as it was.",
    ),
    suite=Form(
        prompts=(
            "Let {d}/{a}.txt have a twin at {d}/{b}.txt.",
            "Take what is in {d}/{a}.txt and put the same in {d}/{b}.txt.",
            "Besides {d}/{a}.txt the same text is wanted under {d}/{b}.txt.",
        ),
        environment="WORKDIR {d}\nRUN printf 'page about %s\\n' {a} > {a}.txt\n",
        oracle="cat {d}/{a}.txt > {d}/{b}.txt",
        condition="cmp -s {d}/{a}.txt {d}/{b}.txt && grep -qx 'page about {a}' {d}/{a}.txt",
        passing="`{d}/{a}.txt` and `{d}/{b}.txt` are equal, and the first is as it was.",
    ),
)

FAMILIES = (WRITE, MKDIR, DELETE, COPY)
