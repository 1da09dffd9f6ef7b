"""The results dataset behind the ledger: commits of new files, each on the parent decided on.

`data/<kind>/<first seq>.jsonl`, one dataset config a kind, whose features the card declares, so
that the Hub's viewer and `datasets.load_dataset` read it whatever is null.
"""

from __future__ import annotations

import types
import typing
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import yaml
from huggingface_hub import CommitOperationAdd, HfApi
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.hf_api import RepoFile
from pydantic import BaseModel

from arena.records import KINDS, AnyRecord, Record, dump_record, parse_record

_TYPES = {"str": "string", "int": "int64", "float": "float64", "bool": "bool", "datetime": "string"}


class StoreConflict(Exception):
    """Another writer was first; what was decided was decided on old state."""


class StoreUncertain(Exception):
    """The Hub's answer was lost: the commit may have landed, or not."""


class Store:
    """One dataset of records. Not thread-safe: the ledger calls it under its lock."""

    def __init__(self, repo: str, api: HfApi) -> None:
        self.repo = repo
        self._api = api
        self._read: set[str] = set()

    def create(self) -> None:
        """Makes the dataset with its card where it does not exist."""
        if not self._api.repo_exists(self.repo, repo_type="dataset"):
            self._api.create_repo(self.repo, repo_type="dataset", exist_ok=True)
        card = dataset_card()
        if self._card() != card:
            operation = CommitOperationAdd("README.md", card.encode())
            self._api.create_commit(
                self.repo, [operation], commit_message="Declare the records", repo_type="dataset"
            )

    def _card(self) -> str | None:
        if not self._api.file_exists(self.repo, "README.md", repo_type="dataset"):
            return None
        path = self._api.hf_hub_download(self.repo, "README.md", repo_type="dataset")
        return Path(path).read_text(encoding="utf-8")

    def read_new(self) -> tuple[str, list[AnyRecord]]:
        """The head's commit, and the records of files not read before, by `seq`."""
        head = self._api.dataset_info(self.repo).sha
        assert head is not None
        records: list[AnyRecord] = []
        paths = [
            entry.path
            for entry in self._api.list_repo_tree(
                self.repo, recursive=True, revision=head, repo_type="dataset"
            )
            if isinstance(entry, RepoFile) and entry.path.startswith("data/")
        ]
        for path in sorted(set(paths) - self._read):
            local = self._api.hf_hub_download(self.repo, path, repo_type="dataset", revision=head)
            with Path(local).open("rb") as file:
                records += [parse_record(line) for line in file if line.strip()]
        self._read |= set(paths)
        return head, sorted(records, key=lambda record: record.seq)

    def append(self, records: Sequence[Record], parent: str) -> str:
        """Commits `records` on `parent`; gives the new head.

        Raises:
            StoreConflict: the head is not `parent`.
            StoreUncertain: no answer; look for the records before trying again.
        """
        by_kind: dict[str, list[Record]] = defaultdict(list)
        for record in records:
            by_kind[record.kind].append(record)  # type: ignore[attr-defined]
        files = {
            f"data/{kind}/{group[0].seq:09d}.jsonl": "".join(dump_record(r) + "\n" for r in group)
            for kind, group in by_kind.items()
        }
        message = ", ".join(f"{len(group)} {kind}" for kind, group in by_kind.items())
        try:
            commit = self._api.create_commit(
                self.repo,
                [CommitOperationAdd(path, text.encode()) for path, text in files.items()],
                commit_message=message,
                repo_type="dataset",
                parent_commit=parent,
            )
        except HfHubHTTPError as exc:
            if exc.response.status_code in {409, 412}:
                raise StoreConflict from exc
            raise StoreUncertain(f"status {exc.response.status_code}") from exc
        except httpx.HTTPError as exc:
            raise StoreUncertain(type(exc).__name__) from exc
        self._read |= set(files)
        return commit.oid


def dataset_card() -> str:
    """The results dataset's README: what it is, and every kind's columns."""
    front_matter = {
        "license": "cc-by-4.0",
        "pretty_name": "PostTrain Arena results",
        "configs": [{"config_name": kind, "data_files": f"data/{kind}/*.jsonl"} for kind in KINDS],
        "dataset_info": [
            {"config_name": kind, "features": _features(model)} for kind, model in KINDS.items()
        ],
    }
    return (
        f"---\n{yaml.safe_dump(front_matter, sort_keys=False)}---\n\n"
        "# PostTrain Arena results\n\n"
        "Every record of the arena, as it was made: nothing here is ever edited. One config a\n"
        "kind; `seq` orders records over all kinds.\n"
    )


def _features(model: type[BaseModel]) -> list[dict[str, Any]]:
    hints = typing.get_type_hints(model)
    return [
        {"name": field.alias or name} | _column(hints[name])
        for name, field in model.model_fields.items()
    ]


def _column(hint: Any) -> dict[str, Any]:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in {typing.Union, types.UnionType}:
        return _column(next(a for a in arguments if a is not type(None)))
    if origin is list:
        item = arguments[0]
        is_part = isinstance(item, type) and issubclass(item, BaseModel)
        return {"list": _features(item) if is_part else _column(item)["dtype"]}
    if origin is typing.Literal:
        return {"dtype": "string"}
    return {"dtype": _TYPES[hint.__name__]}
