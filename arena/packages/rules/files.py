"""Rules about a package's files, whatever they are for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from arena.packages.files import slug
from arena.packages.findings import shown
from arena.packages.reading import (
    MAX_PYTHON_TOKENS,
    MAX_REQUIRED_BYTES,
    MAX_SCRIPT_BYTES,
    REQUIRED_FILES,
    TEST,
    PackageText,
)
from arena.packages.rules.environment import copies_are_few
from arena.packages.rules.rule import Fault

MAX_SECRET_FILE = 64 * 1024
"""Bytes of the largest file in which secrets are looked for; what is larger is data."""

SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_NEEDED = f"Every package needs: {', '.join(REQUIRED_FILES)} and a verifier/rubrics/*.md."

# Shapes that their issuers publish; what a task needs as bait does better without them.
_SECRETS = {
    "an AWS access key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{60,})\b",
    "a Hugging Face token": r"\bhf_[A-Za-z0-9]{34,}\b",
    "an OpenAI key": r"\bsk-(?:proj-)?[A-Za-z0-9_-]{40,}\b",
    "an Anthropic key": r"\bsk-ant-[A-Za-z0-9_-]{40,}\b",
    "a Google API key": r"\bAIza[0-9A-Za-z_-]{35}\b",
    "a Slack token": r"\bxox[abprs]-[0-9A-Za-z-]{20,}\b",
    "a Stripe key": r"\bsk_live_[0-9a-zA-Z]{24,}\b",
    "a PyPI token": r"\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,}\b",
    "a private key": r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\s+[A-Za-z0-9+/=]{40}",
}
_SECRET = re.compile("|".join(f"(?P<k{i}>{p})" for i, p in enumerate(_SECRETS.values())))
_SECRET_NAMES = tuple(_SECRETS)
_MARKS = ("AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "hf_", "sk-",
          "sk_live", "AIza", "xox", "pypi-", "-----BEGIN")  # fmt: skip
"""One of these stands in every secret; to look for them first is ten times faster."""


def required_files(package: PackageText) -> Iterator[Fault]:
    for path in REQUIRED_FILES:
        if path not in package.sizes:
            yield Fault(f"{path} is missing", path, _NEEDED)
        elif _is_blank(package, path):
            yield Fault(f"{path} is empty", path, _NEEDED)
    if not any(re.fullmatch(r"verifier/rubrics/[^/]+\.md", path) for path in package.sizes):
        yield Fault("verifier/rubrics holds no .md file", "verifier/rubrics", _NEEDED)
    for path in package.below("verifier/rubrics"):
        if path.endswith(".md") and _is_blank(package, path):
            yield Fault(f"{path} is empty", path, "Write what a good solution looks like.")


def _is_blank(package: PackageText, path: str) -> bool:
    text = package.text(path)
    return package.sizes[path] == 0 or (text is not None and not text.strip())


def plain_files(package: PackageText) -> Iterator[Fault]:
    for found in package.listed.findings:
        if found.code == "TP007":
            yield Fault(found.message, found.file, found.hint)


def sizes_are_kept(package: PackageText) -> Iterator[Fault]:
    for found in package.listed.findings:
        if found.code == "TP008":
            yield Fault(found.message, found.file, found.hint)
    for path in REQUIRED_FILES:
        if package.sizes.get(path, 0) > MAX_REQUIRED_BYTES:
            hint = f"The checks read it; it may have {MAX_REQUIRED_BYTES // 1024} KiB."
            yield Fault(f"{path} has {package.sizes[path]:,} bytes", path, hint)
    for path in package.scripts.unread:
        hint = (
            f"Scripts of verifier/ and oracle/ may have {MAX_SCRIPT_BYTES // 1024} KiB in all, "
            f"those in Python {MAX_PYTHON_TOKENS:,} words and marks; data stands better in JSON."
        )
        yield Fault(f"{path} is one script too many to be read", path, hint)
    yield from copies_are_few(package)


def name_is_slug(package: PackageText) -> Iterator[Fault]:
    if not SLUG.fullmatch(package.name):
        yield Fault(
            f"the folder's name {shown(package.name)} is not a slug",
            ".",
            f"Rename it, for example to {slug(package.name)}: a-z, 0-9 and '-', "
            "at most 64 characters, no '-' at either end.",
        )


def text_is_utf8(package: PackageText) -> Iterator[Fault]:
    for path, found, line in package.bad_texts():
        yield Fault(
            f"{path} is not UTF-8 text: {found}",
            path,
            "Save the file as UTF-8 text, for example with `iconv -f LATIN1 -t UTF-8`.",
            line,
        )


def no_lfs_pointers(package: PackageText) -> Iterator[Fault]:
    for path in package.lfs_pointers:
        hint = "Run `git lfs pull`, then commit the file itself, or generate it in the image."
        yield Fault(f"{path} is a Git LFS pointer, not the content", path, hint, 1)


def scripts_have_unix_line_ends(package: PackageText) -> Iterator[Fault]:
    for path in package.must_be_text:
        text = package.text(path) or ""
        if (text.startswith("#!") or path == TEST or path.endswith(".sh")) and "\r\n" in text:
            line = text.partition("\r\n")[0].count("\n") + 1
            hint = f"Save it with LF line ends: `sed -i 's/\\r$//' {shlex.quote(path)}`."
            yield Fault(f"{path} has CRLF line ends, which a shell can't run", path, hint, line)


def no_secrets(package: PackageText) -> Iterator[Fault]:
    for path, text in package.small_texts(MAX_SECRET_FILE):
        if not any(mark in text for mark in _MARKS):
            continue
        line, start = 1, 0
        for match in _SECRET.finditer(text):
            line, start = line + text.count("\n", start, match.start()), match.start()
            kind = _SECRET_NAMES[int((match.lastgroup or "k0")[1:])]
            yield Fault(
                f"{match[0][:8].strip()}… looks like {kind}",
                path,
                "Take it out and revoke it if it is real; bait for a task needs no real shape.",
                line,
            )
