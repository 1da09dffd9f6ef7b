"""Publishes the demo on a hub: the base model, the private suite and its sealed index, the example.

    python -m local.demo.publish --endpoint URL --challenges challenges --cache .local/cache

Publishing what is there already changes nothing.
"""

from __future__ import annotations

import argparse
import logging
import os
import tempfile
from pathlib import Path
from typing import NamedTuple

from huggingface_hub import HfApi

from arena.challenges import Challenge, load_challenges
from arena.nearcopies import seal
from arena.packages import package_folders
from arena.settings import suite_key
from local.demo.base_model import build as build_base_model
from local.demo.tasks import COLLECTION_SIZE, SUITE_SIZE, write_collection, write_suite

EXAMPLE = "author/example-collection"


class Tokens(NamedTuple):
    """Whose hands publish: an editor the organization's repositories, the author the example."""

    editor: str = "hf_editor"
    author: str = "hf_author"


def publish(
    endpoint: str,
    challenge: Challenge,
    base_model: Path,
    key: bytes,
    tokens: Tokens = Tokens(),  # noqa: B008 - immutable
    tasks: int = COLLECTION_SIZE,
    suite_tasks: int = SUITE_SIZE,
    example: str = EXAMPLE,
) -> str:
    """Publishes what `challenge` is pinned to, and an example collection.

    Returns:
        The example's commit.
    """
    editor = HfApi(endpoint=endpoint, token=tokens.editor)
    author = HfApi(endpoint=endpoint, token=tokens.author)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        suite = root / "suite"
        write_suite(suite, suite_tasks)
        write_collection(root / "collection", tasks)
        index = root / "index"
        index.mkdir()
        revision = challenge.suite.revision
        sealed = seal(package_folders(suite), key, revision)
        (index / "index.npz").write_bytes(sealed.to_bytes())
        model = challenge.base_model
        _put(editor, model.repo, "model", base_model, model.revision)
        _put(editor, challenge.suite.repo, "dataset", suite, challenge.suite.revision, private=True)
        _put(
            editor,
            f"{challenge.suite.repo}-index",
            "dataset",
            index,
            challenge.suite.revision,
            private=True,
        )
        return _put_once(author, example, root / "collection")


def _put_once(api: HfApi, repo: str, folder: Path) -> str:
    """Publishes a dataset where it is not there yet: what its author made of it since stays."""
    if api.repo_exists(repo, repo_type="dataset"):
        head = api.dataset_info(repo)
        if any(not file.rfilename.startswith(".") for file in head.siblings or ()):
            return head.sha or ""
    return _put(api, repo, "dataset", folder)


def _put(
    api: HfApi, repo: str, kind: str, folder: Path, tag: str | None = None, private: bool = False
) -> str:
    """Uploads a folder as the whole content of a repository; `tag` then names that commit."""
    api.create_repo(repo, repo_type=kind, private=private, exist_ok=True)
    commit = api.upload_folder(
        repo_id=repo,
        repo_type=kind,
        folder_path=folder,
        commit_message="Publish",
        delete_patterns="*",
    ).oid
    if tag:
        tags = {t.name: t.target_commit for t in api.list_repo_refs(repo, repo_type=kind).tags}
        if tags.get(tag) not in (None, commit):
            api.delete_tag(repo, tag=tag, repo_type=kind)
        if tags.get(tag) != commit:
            api.create_tag(repo, tag=tag, revision=commit, repo_type=kind)
    return commit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--challenges", type=Path, required=True)
    parser.add_argument("--challenge", default="demo")
    parser.add_argument("--cache", type=Path, required=True, help="where the base model is kept")
    parser.add_argument("--tasks", type=int, default=COLLECTION_SIZE)
    parser.add_argument("--suite-tasks", type=int, default=SUITE_SIZE)
    arguments = parser.parse_args()
    challenge = load_challenges(arguments.challenges).challenges[arguments.challenge]
    # at every later start there is nothing new to commit, and the client warns of it
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    base_model = build_base_model(arguments.cache / "base-model")
    publish(
        arguments.endpoint,
        challenge,
        base_model,
        suite_key(os.environ),
        tasks=arguments.tasks,
        suite_tasks=arguments.suite_tasks,
    )


if __name__ == "__main__":
    main()
