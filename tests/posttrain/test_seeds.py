"""Seeds and ids: fixed by what they are of, and by nothing else."""

from __future__ import annotations

import re

from arena.posttrain.seeds import opaque_id, trial_seed


def test_a_trials_seed_never_changes() -> None:
    assert trial_seed(0, "write-apple", 0) == 4666048901715068777


def test_every_trial_of_every_task_has_its_own_seed() -> None:
    seeds = {trial_seed(s, task, k) for s in (0, 1) for task in ("a", "b", "a0") for k in range(9)}
    assert len(seeds) == 2 * 3 * 9
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_an_id_is_a_keyed_digest() -> None:
    assert opaque_id(b"key", "write-apple") == "b0cf73a1c123512b"
    assert opaque_id(b"other", "write-apple") != opaque_id(b"key", "write-apple")
    assert re.fullmatch("[0-9a-f]{16}", opaque_id(b"", ""))
