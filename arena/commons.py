"""The commons: the open dataset of everything accepted, one commit a collection."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import NamedTuple

import yaml
from huggingface_hub import CommitOperationAdd, HfApi

from arena.commonsindex import FILE as FINGERPRINTS
from arena.commonsindex import fingerprints
from arena.packages import Collection, check_collection
from arena.packages.files import list_files
from arena.sources import PinnedSource, SourceReader
from arena.state import Run, Submission


class Released(NamedTuple):
    """Where a collection stands in the commons."""

    repo: str
    commit: str
    folder: str


class Commons:
    """Writes accepted collections. Writing one again changes nothing."""

    def __init__(self, repo: str, api: HfApi, sources: SourceReader) -> None:
        self.repo = repo
        self._api = api
        self._sources = sources

    def release(self, run: Run, submission: Submission) -> Released:
        """Commits the packages that the run was trained on, with author, licence and origin.

        Raises:
            ArenaError, HfHubHTTPError, httpx.HTTPError: not released; to be tried again.
            ValueError: the source no longer holds what was accepted.
        """
        folder = f"collections/{run.record.collection[:16]}"
        with tempfile.TemporaryDirectory(prefix="arena-") as temporary:
            root = Path(temporary)
            self._sources.fetch(PinnedSource.parse(submission.record.source), root)
            collection = check_collection(root).collection
            if collection is None or collection.digest != run.record.collection:
                raise ValueError(f"{submission.record.source} is not what was accepted")
            files = _files(folder, collection)
            roots = [package.root for package in collection.packages]
            files[f"{folder}/{FINGERPRINTS}"] = fingerprints(roots)
        files[f"{folder}/collection.json"] = _manifest(run, submission, collection)
        self._api.create_repo(self.repo, repo_type="dataset", exist_ok=True)
        commit = self._api.create_commit(
            self.repo,
            [CommitOperationAdd(path, content) for path, content in self._with_card(files)],
            commit_message=f"Release {submission.record.title} by {submission.author}",
            repo_type="dataset",
        )
        return Released(self.repo, commit.oid, folder)

    def _with_card(self, files: dict[str, bytes]) -> list[tuple[str, bytes]]:
        if self._api.file_exists(self.repo, "README.md", repo_type="dataset"):
            return list(files.items())
        return [("README.md", _card()), *files.items()]


def _files(folder: str, collection: Collection) -> dict[str, bytes]:
    return {
        f"{folder}/{package.name}/{file.path}": (package.root / file.path).read_bytes()
        for package in collection.packages
        for file in list_files(package.root).files
    }


def _manifest(run: Run, submission: Submission, collection: Collection) -> bytes:
    manifest = {
        "title": submission.record.title,
        "author": submission.author,
        "source": submission.record.source,
        "digest": collection.digest,
        "accepted_run": run.record.id,
        "packages": [
            {
                "name": package.name,
                "domain": package.domain,
                "licence": collection.licences[package.name],
                "author": package.front_matter.metadata.author,
                "origin": package.front_matter.metadata.origin,
                "origin_url": package.front_matter.metadata.origin_url,
            }
            for package in collection.packages
        ],
    }
    return (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode()


def _card() -> bytes:
    front_matter = {"pretty_name": "PostTrain Arena commons", "license": "other"}
    return (
        f"---\n{yaml.safe_dump(front_matter)}---\n\n# PostTrain Arena commons\n\n"
        "Every collection that the arena accepted: `collections/<digest>/<package>/`. Each\n"
        "`collection.json` names the author, the source and each package's licence;\n"
        "`fingerprints.npz` is by what near copies of it are known.\n"
    ).encode()
