"""The unchanged huggingface_hub client: every call the product makes."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoFile, RepoFolder

from tests.hub import RunningHub


def commit(api: HfApi, repo_id: str, path: str, content: bytes, parent: str | None = None) -> str:
    made = api.create_commit(
        repo_id,
        [CommitOperationAdd(path, content)],
        commit_message=f"Write {path}",
        commit_description="Because.",
        repo_type="dataset",
        parent_commit=parent,
    )
    return made.oid


def head(api: HfApi, repo_id: str) -> str:
    sha = api.dataset_info(repo_id).sha
    assert sha
    return sha


def test_whoami_names_the_account_its_organizations_and_the_tokens_role(hub: RunningHub) -> None:
    editor = hub.api("editor").whoami()
    assert editor["name"] == "editor"
    assert [(org["name"], org["roleInOrg"]) for org in editor["orgs"]] == [("arena", "admin")]
    assert editor["auth"]["accessToken"]["role"] == "write"
    reader = hub.api("editor_read").whoami()
    assert reader["auth"]["accessToken"]["role"] == "read"
    assert hub.api("arena").whoami()["orgs"][0]["roleInOrg"] == "contributor"
    assert hub.api("worker").whoami()["orgs"][0]["roleInOrg"] == "read"
    assert hub.api("author").whoami()["orgs"] == []


def test_an_unknown_token_is_told_so(hub: RunningHub) -> None:
    with pytest.raises(HfHubHTTPError, match="Invalid user token") as refused:
        hub.api("nobody").whoami()
    assert refused.value.response.status_code == 401


@pytest.mark.parametrize("repo_type", ["model", "dataset", "space"])
def test_create_find_and_delete(author: HfApi, repo_type: str) -> None:
    repo_id = f"author/r-{uuid4().hex[:8]}"
    sdk = "gradio" if repo_type == "space" else None
    url = author.create_repo(repo_id, repo_type=repo_type, space_sdk=sdk)
    assert url.repo_id == repo_id
    assert url.repo_type == repo_type
    assert author.repo_exists(repo_id, repo_type=repo_type)
    assert author.create_repo(repo_id, repo_type=repo_type, space_sdk=sdk, exist_ok=True) == url
    with pytest.raises(HfHubHTTPError, match="already created"):
        author.create_repo(repo_id, repo_type=repo_type, space_sdk=sdk)
    author.delete_repo(repo_id, repo_type=repo_type)
    assert not author.repo_exists(repo_id, repo_type=repo_type)
    with pytest.raises(RepositoryNotFoundError):
        author.delete_repo(repo_id, repo_type=repo_type)
    author.create_repo(repo_id, repo_type=repo_type, space_sdk=sdk)


def test_a_name_without_owner_is_the_callers_to_create_and_not_found_to_read(
    author: HfApi,
) -> None:
    name = f"r-{uuid4().hex[:8]}"
    assert author.create_repo(name).repo_id == f"author/{name}"
    assert not author.repo_exists("gpt2")


def test_info_at_a_revision_with_sizes(author: HfApi, dataset: str) -> None:
    before = author.dataset_info(dataset, files_metadata=True)
    assert before.siblings is not None
    sizes = {file.rfilename: file.size for file in before.siblings}
    assert sizes == {".gitattributes": 8, "README.md": 8, "a/b/two.bin": 3, "a/one.txt": 4}
    assert before.sha
    commit(author, dataset, "new.txt", b"new")
    old = author.dataset_info(dataset, revision=before.sha)
    assert old.sha == before.sha
    assert old.siblings is not None
    assert "new.txt" not in [file.rfilename for file in old.siblings]
    assert author.list_repo_files(dataset, repo_type="dataset")[-1] == "new.txt"


def test_the_cards_metadata_is_read(author: HfApi, dataset: str) -> None:
    commit(author, dataset, "README.md", b"---\nlicense: apache-2.0\n---\n# Card\n")
    info = author.dataset_info(dataset)
    assert info.card_data is not None
    assert info.card_data["license"] == "apache-2.0"
    with pytest.raises(ValueError, match="Invalid metadata"):
        commit(author, dataset, "README.md", b"---\nlicense: [\n---\n# Card\n")


def test_trees(author: HfApi, dataset: str) -> None:
    def listing(path: str | None = None, recursive: bool = False) -> dict[str, str]:
        entries = author.list_repo_tree(dataset, path, recursive=recursive, repo_type="dataset")
        return {entry.path: type(entry).__name__ for entry in entries}

    file, folder = "RepoFile", "RepoFolder"
    assert listing() == {"a": folder, ".gitattributes": file, "README.md": file}
    assert listing("a") == {"a/b": folder, "a/one.txt": file}
    assert listing("a", recursive=True) == {
        "a/b": folder,
        "a/b/two.bin": file,
        "a/one.txt": file,
    }
    assert len(listing(recursive=True)) == 6
    for nowhere in ("zzz", "README.md"):
        with pytest.raises(EntryNotFoundError):
            listing(nowhere)


def test_paths_info(author: HfApi, dataset: str) -> None:
    found = author.get_paths_info(dataset, ["a", "a/b/two.bin", "zzz"], repo_type="dataset")
    assert [type(entry) for entry in found] == [RepoFolder, RepoFile]
    assert isinstance(found[1], RepoFile)
    assert found[1].size == 3
    assert author.file_exists(dataset, "a/one.txt", repo_type="dataset")
    assert not author.file_exists(dataset, "a/none.txt", repo_type="dataset")


def test_revisions_by_branch_tag_and_sha(author: HfApi, dataset: str) -> None:
    first = head(author, dataset)
    author.create_tag(dataset, tag="v1.0", repo_type="dataset")
    author.create_branch(dataset, branch="feature/x", repo_type="dataset")
    second = commit(author, dataset, "a/one.txt", b"changed\n")
    refs = author.list_repo_refs(dataset, repo_type="dataset", include_pull_requests=True)
    assert {ref.name: ref.target_commit for ref in refs.branches} == {
        "main": second,
        "feature/x": first,
    }
    assert [(ref.name, ref.ref, ref.target_commit) for ref in refs.tags] == [
        ("v1.0", "refs/tags/v1.0", first)
    ]
    of_first = ["v1.0", "feature/x", "refs/heads/feature/x", "refs/tags/v1.0", first, first[:7]]
    for revision in of_first:
        assert author.dataset_info(dataset, revision=revision).sha == first
        path = author.hf_hub_download(dataset, "a/one.txt", revision=revision, repo_type="dataset")
        assert Path(path).read_bytes() == b"one\n"
    for revision in ("main", "refs/heads/main"):
        assert author.dataset_info(dataset, revision=revision).sha == second


def test_refs_are_made_once_and_removed(author: HfApi, dataset: str) -> None:
    make: Callable[..., None]
    remove: Callable[..., None]
    for make, remove, kind in (
        (author.create_tag, author.delete_tag, "tag"),
        (author.create_branch, author.delete_branch, "branch"),
    ):
        name: dict[str, Any] = {kind: "x"}
        make(dataset, **name, repo_type="dataset")
        make(dataset, **name, repo_type="dataset", exist_ok=True)
        with pytest.raises(HfHubHTTPError, match="already exists"):
            make(dataset, **name, repo_type="dataset")
        remove(dataset, **name, repo_type="dataset")
        with pytest.raises(RevisionNotFoundError):
            author.dataset_info(dataset, revision="x")
    with pytest.raises(HfHubHTTPError, match="main"):
        author.delete_branch(dataset, branch="main", repo_type="dataset")


@pytest.mark.parametrize("revision", ["nope", "0" * 40, "main~0", "HEAD^", "abcdef0", "a..b"])
def test_revisions_that_are_not_there(author: HfApi, dataset: str, revision: str) -> None:
    with pytest.raises(RevisionNotFoundError):
        author.dataset_info(dataset, revision=revision)
    with pytest.raises(RevisionNotFoundError):
        author.hf_hub_download(dataset, "README.md", revision=revision, repo_type="dataset")


def test_a_commit_adds_and_deletes_and_keeps_its_author(
    hub: RunningHub, author: HfApi, dataset: str
) -> None:
    author.create_commit(
        dataset,
        [
            CommitOperationAdd("c/ü n.txt", b"u"),
            CommitOperationDelete("a/b", is_folder=True),
            CommitOperationDelete("README.md"),
        ],
        commit_message="Change\tmuch",
        commit_description="First line.\n\nSecond line.",
        repo_type="dataset",
    )
    files = author.list_repo_files(dataset, repo_type="dataset")
    assert sorted(files) == [".gitattributes", "a/one.txt", "c/ü n.txt"]
    path = author.hf_hub_download(dataset, "c/ü n.txt", repo_type="dataset")
    assert Path(path).read_bytes() == b"u"
    last = author.list_repo_commits(dataset, repo_type="dataset")[0]
    assert last.title == "Change\tmuch"
    assert last.message == "First line.\n\nSecond line."
    assert last.authors == ["author"]
    with pytest.raises(EntryNotFoundError):
        author.create_commit(
            dataset,
            [CommitOperationDelete("none.txt")],
            commit_message="x",
            repo_type="dataset",
        )


def test_commits_are_paged(author: HfApi, dataset: str) -> None:
    for number in range(52):
        commit(author, dataset, "n.txt", b"%d" % number)
    log = author.list_repo_commits(dataset, repo_type="dataset")
    assert len(log) == 54
    assert len({entry.commit_id for entry in log}) == 54
    assert [log[0].title, log[-2].title, log[-1].title] == [
        "Write n.txt",
        "Add files",
        "initial commit",
    ]


def test_a_stale_parent_is_refused_and_an_equal_tree_is_the_head(
    author: HfApi, dataset: str
) -> None:
    first = head(author, dataset)
    second = commit(author, dataset, "x.txt", b"1", parent=first)
    with pytest.raises(HfHubHTTPError, match="A commit has happened since") as refused:
        commit(author, dataset, "x.txt", b"2", parent=first)
    assert refused.value.response.status_code == 412
    assert commit(author, dataset, "x.txt", b"1", parent=second) == second
    assert head(author, dataset) == second


def test_a_commit_goes_to_its_branch(author: HfApi, dataset: str) -> None:
    main = head(author, dataset)
    author.create_branch(dataset, branch="draft", repo_type="dataset")
    made = author.upload_file(
        path_or_fileobj=b"d",
        path_in_repo="d.txt",
        repo_id=dataset,
        repo_type="dataset",
        revision="draft",
    )
    assert author.dataset_info(dataset, revision="draft").sha == made.oid
    assert head(author, dataset) == main
    with pytest.raises(RevisionNotFoundError):
        author.upload_file(
            path_or_fileobj=b"d",
            path_in_repo="d.txt",
            repo_id=dataset,
            repo_type="dataset",
            revision="nowhere",
        )


def test_a_folder_with_a_model_goes_up_and_comes_down(author: HfApi, tmp_path: Path) -> None:
    repo_id = f"author/m-{uuid4().hex[:8]}"
    weights = os.urandom(3 * 2**20)
    (tmp_path / "up" / "sub").mkdir(parents=True)
    (tmp_path / "up" / "model.safetensors").write_bytes(weights)
    (tmp_path / "up" / "sub" / "config.json").write_text("{}")
    author.create_repo(repo_id)
    author.upload_folder(repo_id=repo_id, folder_path=tmp_path / "up")
    sha = author.model_info(repo_id).sha
    assert sha
    down = author.snapshot_download(repo_id, revision=sha, local_dir=tmp_path / "down")
    assert Path(down, "model.safetensors").read_bytes() == weights
    assert Path(down, "sub", "config.json").read_text() == "{}"
    again = author.snapshot_download(repo_id, revision="main")
    assert Path(again).name == sha


def test_gated_files_are_for_members_and_metadata_for_all(
    hub: RunningHub, author: HfApi, dataset: str
) -> None:
    author.update_repo_settings(dataset, gated="manual", repo_type="dataset")
    rival = hub.api("rival")
    assert rival.dataset_info(dataset).gated == "manual"
    for stranger in (rival, hub.api(None)):
        with pytest.raises(GatedRepoError):
            stranger.hf_hub_download(dataset, "README.md", repo_type="dataset")
        with pytest.raises(GatedRepoError):
            stranger.auth_check(dataset, repo_type="dataset")
    author.hf_hub_download(dataset, "README.md", repo_type="dataset")
    author.update_repo_settings(dataset, gated=False, repo_type="dataset")
    rival.auth_check(dataset, repo_type="dataset")


_LOAD = """
import sys
from datasets import load_dataset
repo, config = sys.argv[1:]
rows = load_dataset(repo, config, split="train")
print(rows.features)
print(rows.to_list())
"""

_CARD = b"""---
configs:
- config_name: run
  data_files: data/run/*.jsonl
- config_name: review
  data_files: data/review/*.jsonl
dataset_info:
- config_name: run
  features:
  - {name: id, dtype: string}
  - {name: change_pp, dtype: float64}
- config_name: review
  features:
  - {name: id, dtype: string}
  - {name: reason, dtype: string}
---
# Store
"""


def test_load_dataset_reads_a_config(hub: RunningHub, author: HfApi, tmp_path: Path) -> None:
    repo_id = f"author/s-{uuid4().hex[:8]}"
    author.create_repo(repo_id, repo_type="dataset", private=True)
    files = {
        "README.md": _CARD,
        "data/run/0.jsonl": b'{"id": "r1", "change_pp": null}\n',
        "data/run/1.jsonl": b'{"id": "r2", "change_pp": 1.5}\n',
        "data/review/2.jsonl": b'{"id": "v1", "reason": null}\n',
    }
    operations = [CommitOperationAdd(path, content) for path, content in files.items()]
    author.create_commit(repo_id, operations, commit_message="Fill", repo_type="dataset")
    environment = {
        **os.environ,
        "HF_ENDPOINT": hub.url,
        "HF_TOKEN": "hf_author",
        "HF_HOME": str(tmp_path),
        "HF_HUB_DISABLE_XET": "1",
    }
    for config, expected in (
        ("run", [{"id": "r1", "change_pp": None}, {"id": "r2", "change_pp": 1.5}]),
        ("review", [{"id": "v1", "reason": None}]),
    ):
        result = subprocess.run(
            [sys.executable, "-c", _LOAD, repo_id, config],
            env=environment,
            capture_output=True,
            text=True,
        )
        assert result.returncode == 0, result.stderr
        features, rows = result.stdout.splitlines()
        assert rows == str(expected)
        assert "Value('string')" in features
