"""Who may see, read and write; and that what may not be seen does not seem to exist."""

from collections.abc import Callable
from uuid import uuid4

import httpx
import pytest
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError

from tests.hub import RunningHub
from tests.localhub.conftest import bearer


@pytest.fixture
def make(hub: RunningHub) -> Callable[..., str]:
    def create(account: str, owner: str, *, private: bool = True) -> str:
        repo_id = f"{owner}/p-{uuid4().hex[:8]}"
        hub.api(account).create_repo(repo_id, repo_type="dataset", private=private)
        return repo_id

    return create


def write(api: HfApi, repo_id: str, name: str = "x.txt") -> None:
    content = uuid4().bytes
    api.upload_file(
        path_or_fileobj=content, path_in_repo=name, repo_id=repo_id, repo_type="dataset"
    )


def status_of_writing(api: HfApi, repo_id: str) -> int:
    with pytest.raises(HfHubHTTPError) as refused:
        write(api, repo_id)
    return refused.value.response.status_code


READS = [
    "/api/datasets/{}",
    "/api/datasets/{}/revision/main",
    "/api/datasets/{}/tree/main",
    "/api/datasets/{}/refs",
    "/api/datasets/{}/commits/main",
    "/api/datasets/{}/auth-check",
    "/datasets/{}/resolve/main/.gitattributes",
]


@pytest.mark.parametrize("address", READS)
@pytest.mark.parametrize(("headers", "status"), [(bearer("rival"), 404), ({}, 401)])
def test_private_answers_as_if_it_did_not_exist(
    make: Callable[..., str],
    http: httpx.Client,
    address: str,
    headers: dict[str, str],
    status: int,
) -> None:
    private = http.get(address.format(make("author", "author")), headers=headers)
    absent = http.get(address.format("author/nothing-here"), headers=headers)
    assert private.status_code == absent.status_code == status
    assert private.content == absent.content
    assert private.headers["X-Error-Code"] == "RepoNotFound"
    without_date = [
        {key: value for key, value in answer.headers.items() if key != "date"}
        for answer in (private, absent)
    ]
    assert without_date[0] == without_date[1]


def test_a_stranger_cannot_tell_by_writing_either(
    hub: RunningHub, make: Callable[..., str], http: httpx.Client
) -> None:
    private = make("author", "author")
    for account in ("rival", None):
        api = hub.api(account)
        assert not api.repo_exists(private, repo_type="dataset")
        with pytest.raises(RepositoryNotFoundError):
            write(api, private)
        with pytest.raises(HfHubHTTPError):
            api.delete_repo(private, repo_type="dataset")
        with pytest.raises(RepositoryNotFoundError):
            api.update_repo_settings(private, private=False, repo_type="dataset")
    assert http.get(f"/datasets/{private}").status_code == 401
    assert private not in http.get("/").text + http.get("/author").text
    assert hub.api("author").repo_exists(private, repo_type="dataset")


def test_visibility_can_change(hub: RunningHub, make: Callable[..., str]) -> None:
    repo_id = make("author", "author", private=False)
    assert hub.api("rival").dataset_info(repo_id).private is False
    hub.api("author").update_repo_settings(repo_id, private=True, repo_type="dataset")
    assert not hub.api("rival").repo_exists(repo_id, repo_type="dataset")
    assert hub.api("author").dataset_info(repo_id).private is True


def test_organization_members_read_and_only_some_write(
    hub: RunningHub, make: Callable[..., str]
) -> None:
    suite = make("editor", "arena")
    commons = make("arena", "arena")
    for account in ("editor", "arena", "worker"):
        hub.api(account).hf_hub_download(suite, ".gitattributes", repo_type="dataset")
    for stranger in ("author", "rival", None):
        assert not hub.api(stranger).repo_exists(suite, repo_type="dataset")
    write(hub.api("editor"), suite)
    write(hub.api("editor"), commons)
    write(hub.api("arena"), commons)  # a contributor, in what it created
    assert status_of_writing(hub.api("arena"), suite) == 403
    assert status_of_writing(hub.api("worker"), suite) == 403


def test_namespaces_belong_to_someone(hub: RunningHub) -> None:
    for account, repo_id in (
        ("rival", "author/x"),
        ("worker", "arena/x"),
        ("author", "arena/x"),
        ("author", "nobody/x"),
    ):
        with pytest.raises(HfHubHTTPError, match="rights to create") as refused:
            hub.api(account).create_repo(repo_id, repo_type="dataset")
        assert refused.value.response.status_code == 403


def test_a_public_repository_is_not_everyones_to_write(hub: RunningHub, dataset: str) -> None:
    assert status_of_writing(hub.api("rival"), dataset) == 403
    assert status_of_writing(hub.api(None), dataset) == 401


def test_a_read_token_reads(hub: RunningHub, make: Callable[..., str]) -> None:
    private = make("author", "author")
    reader = hub.api("author_read")
    assert reader.repo_exists(private, repo_type="dataset")
    assert status_of_writing(reader, private) == 403
    for forbidden in (
        lambda: reader.create_repo("author/another", repo_type="dataset"),
        lambda: reader.delete_repo(private, repo_type="dataset"),
        lambda: reader.create_tag(private, tag="t", repo_type="dataset"),
        lambda: reader.update_repo_settings(private, private=False, repo_type="dataset"),
    ):
        with pytest.raises(HfHubHTTPError) as refused:
            forbidden()
        assert refused.value.response.status_code == 403
