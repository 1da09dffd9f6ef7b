"""Requests that the client would not send: each gets a clear refusal, never a 500."""

import base64
import json
from typing import Any

import httpx
import pytest
from huggingface_hub import HfApi

from tests.localhub.conftest import bearer, make_dataset

AUTHOR = bearer("author")


@pytest.fixture(scope="module")
def dataset(author: HfApi) -> str:
    """One for the whole module: what is refused changes nothing."""
    return make_dataset(author)


def lines(*items: Any) -> bytes:
    return b"\n".join(json.dumps(item).encode() for item in items)


def header(**fields: Any) -> dict[str, Any]:
    return {"key": "header", "value": {"summary": "x", **fields}}


def file(path: str, content: bytes = b"x") -> dict[str, Any]:
    encoded = base64.b64encode(content).decode()
    return {"key": "file", "value": {"path": path, "content": encoded, "encoding": "base64"}}


def post_commit(http: httpx.Client, repo_id: str, body: bytes) -> httpx.Response:
    return http.post(f"/api/datasets/{repo_id}/commit/main", content=body, headers=AUTHOR)


def head(http: httpx.Client, repo_id: str) -> str:
    sha: str = http.get(f"/api/datasets/{repo_id}").json()["sha"]
    return sha


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../x",
        "a/../x",
        "a/./x",
        "a//x",
        "a/",
        ".git/config",
        "a/.GIT/hooks",
        "a\\b",
        "a\nb",
        "a\0b",
        ".g\u200cit/config",
        "git~1/config",
        "x/" * 600 + "y",
        "y" * 256,
        "\udc80",
    ],
)
def test_unsafe_paths_are_refused_and_nothing_changes(
    http: httpx.Client, dataset: str, path: str
) -> None:
    before = head(http, dataset)
    answer = post_commit(http, dataset, lines(header(), file("fine.txt"), file(path)))
    assert answer.status_code == 400, answer.text
    assert head(http, dataset) == before


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\n\n",
        b"{",
        b"\xff\xfe",
        b"[]",
        lines(file("x")),
        lines({"key": "header", "value": {}}),
        lines(header(summary="")),
        lines(header(summary="a\0b")),
        lines(header(summary="\ud800")),
        lines(header(parentCommit="main")),
        lines(header(parentCommit=7)),
        lines(header(), {"key": "other", "value": {}}),
        lines(header(), {"key": "lfsFile", "value": {"path": "x", "oid": "0", "size": 1}}),
        lines(header(), {"key": "file", "value": {"path": "x", "content": "%%%"}}),
        lines(header(), {"key": "file", "value": {"path": "x", "content": "é"}}),
        lines(header(), file("a"), file("a/b")),
        lines(header(), file("README.md/x")),
        lines(header(), header()),
    ],
)
def test_malformed_commits_are_refused(http: httpx.Client, dataset: str, body: bytes) -> None:
    before = head(http, dataset)
    answer = post_commit(http, dataset, body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]
    assert head(http, dataset) == before


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("POST", "/api/repos/create"),
        ("DELETE", "/api/repos/delete"),
        ("PUT", "/api/datasets/{}/settings"),
        ("POST", "/api/datasets/{}/preupload/main"),
        ("POST", "/api/datasets/{}/tag/main"),
        ("POST", "/api/datasets/{}/branch/x"),
        ("POST", "/api/datasets/{}/paths-info/main"),
        ("POST", "/api/validate-yaml"),
    ],
)
@pytest.mark.parametrize("body", [b"{", b"[1]", b'"x"', b'{"name": 1, "tag": "\\ud800"}'])
def test_malformed_json_is_refused(
    http: httpx.Client, dataset: str, method: str, address: str, body: bytes
) -> None:
    headers = {**AUTHOR, "Content-Type": "application/json"}
    address = address.format(dataset)
    answer = http.request(method, address, content=body, headers=headers)
    optional = address.endswith(("/settings", "/branch/x")) and body.startswith(b"{")
    assert answer.status_code in ((200, 201, 400) if optional else (400,)), answer.text
    assert "error" in answer.json() or answer.is_success


@pytest.mark.parametrize("name", ["", "..", "a/b", "-a", "a--b", "a.git", "ü", "x" * 97, "a\0"])
def test_repository_names_are_the_clients(http: httpx.Client, name: str) -> None:
    answer = http.post("/api/repos/create", json={"name": name}, headers=AUTHOR)
    assert answer.status_code == 400


@pytest.mark.parametrize("name", ["", "a..b", "a b", "/a", "a/", "a.lock", "-x", "0" * 40, "ü"])
def test_reference_names_are_checked(http: httpx.Client, dataset: str, name: str) -> None:
    answer = http.post(f"/api/datasets/{dataset}/tag/main", json={"tag": name}, headers=AUTHOR)
    assert answer.status_code == 400


def test_a_pull_request_is_refused(http: httpx.Client, dataset: str) -> None:
    address = f"/api/datasets/{dataset}/commit/main?create_pr=1"
    answer = http.post(address, content=lines(header(), file("x")), headers=AUTHOR)
    assert answer.status_code == 400
    assert "pull requests" in answer.json()["error"]


def test_a_file_over_the_limit_is_refused_before_it_is_sent(
    http: httpx.Client, dataset: str
) -> None:
    files = {"files": [{"path": "big", "size": 3 * 2**30, "sample": ""}]}
    address = f"/api/datasets/{dataset}/preupload/main"
    answer = http.post(address, json=files, headers=AUTHOR)
    assert answer.status_code == 413


def test_files_are_served_with_what_a_download_needs(http: httpx.Client, dataset: str) -> None:
    address = f"/datasets/{dataset}/resolve/main/a/one.txt"
    whole = http.get(address)
    assert whole.content == b"one\n"
    assert whole.headers["X-Repo-Commit"] == head(http, dataset)
    assert whole.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert http.head(address).headers["ETag"] == whole.headers["ETag"]
    assert http.head(address).headers["Content-Length"] == "4"
    quoted = f"/datasets/{dataset}/resolve/refs%2Fheads%2Fmain/a%2Fone.txt"
    plain = f"/datasets/{dataset}/resolve/refs/heads/main/a/one.txt"
    assert http.get(quoted).content == http.get(plain).content == b"one\n"
    missing = http.get(f"/datasets/{dataset}/resolve/main/none")
    assert missing.status_code == 404
    assert missing.headers["X-Error-Code"] == "EntryNotFound"
    assert missing.headers["X-Repo-Commit"] == whole.headers["X-Repo-Commit"]


@pytest.mark.parametrize(
    ("asked", "status", "content"),
    [
        ("bytes=1-2", 206, b"ne"),
        ("bytes=2-", 206, b"e\n"),
        ("bytes=-1", 206, b"\n"),
        ("bytes=0-99", 206, b"one\n"),
        ("bytes=9-", 416, b""),
        ("bytes=3-1", 416, b""),
        ("bytes=-0", 416, b""),
        ("bytes=-", 200, b"one\n"),
        ("bytes=0-1,2-3", 200, b"one\n"),
        (f"bytes=0-{'9' * 5000}", 200, b"one\n"),
        ("nonsense", 200, b"one\n"),
    ],
)
def test_ranges(http: httpx.Client, dataset: str, asked: str, status: int, content: bytes) -> None:
    address = f"/datasets/{dataset}/resolve/main/a/one.txt"
    answer = http.get(address, headers={"Range": asked})
    assert (answer.status_code, answer.content) == (status, content)


@pytest.mark.parametrize("path", ["..%2f..%2fhub.json", "%2e%2e/HEAD", "a%0aHEAD", "%ff", "a%5c"])
def test_no_path_leads_out_of_the_tree(http: httpx.Client, dataset: str, path: str) -> None:
    answer = http.get(f"/datasets/{dataset}/resolve/main/{path}")
    assert answer.status_code == 404


def test_only_this_computers_names_are_answered(http: httpx.Client) -> None:
    assert http.get("/_local/health").json() == {"ok": True}
    assert http.get("/_local/health", headers={"Host": "evil.example"}).status_code == 400


def test_pages_escape_what_users_wrote(http: httpx.Client, dataset: str) -> None:
    post_commit(http, dataset, lines(header(), file("<img src=x onerror=alert(1)>.txt")))
    page = http.get(f"/datasets/{dataset}")
    assert "&lt;img src=x" in page.text
    assert "<img src=x" not in page.text
    assert f'href="/datasets/{dataset}"' in http.get("/").text
    assert f'href="/datasets/{dataset}"' in http.get("/author").text
    sha = head(http, dataset)
    for place in (f"tree/{sha}", "tree/main/a", f"commit/{sha}"):
        assert http.get(f"/datasets/{dataset}/{place}").status_code == 200
    blob = http.get(f"/datasets/{dataset}/blob/main/a/one.txt", follow_redirects=True)
    assert blob.text == "one\n"
    assert "<svg" in http.get("/avatars/author.svg").text
    for nowhere in ("/nobody", "/avatars/nobody.svg", "/author/nothing", "/x/y/z"):
        assert http.get(nowhere).status_code in (401, 404)


@pytest.mark.parametrize("value", ['!!int ""', "!!bool maybe", "!!timestamp x"])
def test_a_card_with_a_value_that_is_not_of_its_tag_is_refused(
    http: httpx.Client, value: str
) -> None:
    body = {"repoType": "dataset", "content": f"---\nlicense: {value}\n---\n"}
    answer = http.post("/api/validate-yaml", json=body, headers=AUTHOR)
    assert answer.status_code == 400
    assert answer.json()["errors"]
