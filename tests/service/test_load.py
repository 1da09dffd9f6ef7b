"""Many submissions at once through the real app: each acknowledged is there once, in few commits."""

from pathlib import Path

from bench.load import COMMITS_PER_HOUR, put_load


def test_submissions_at_once_are_each_there_once_and_share_commits(tmp_path: Path) -> None:
    load, counts = put_load(tmp_path, submissions=60, clients=10)
    assert [answer.refusal for answer in load.answers] == [None] * 60
    assert counts.acknowledged == 60
    assert (counts.lost, counts.twice, counts.not_acknowledged, counts.not_validated) == (
        0,
        0,
        0,
        0,
    )
    assert counts.commits <= 30, "a submission and its validation are two records"
    assert counts.commits_in_an_hour <= COMMITS_PER_HOUR
    assert load.busy, "pages and API were read meanwhile"
