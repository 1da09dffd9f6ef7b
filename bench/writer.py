"""A process that writes pairs of records to a store until it is killed, and says what it was told.

    python -m bench.writer HUB REPO CACHE

Each line on stdout is `ready`, or `ok ID ID` once a pair is acknowledged.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import huggingface_hub
from huggingface_hub import HfApi

from arena.budget import CommitBudget
from arena.errors import ArenaError
from arena.hubclient import bound_hub_calls
from arena.ledger import Ledger
from arena.records import ChallengeStateRecord, new_id
from arena.store import Store

THREADS = 4


def main() -> None:
    hub, repo, cache = sys.argv[1:]
    huggingface_hub.constants.HF_HUB_DISABLE_XET = True  # the local hub has LFS alone
    bound_hub_calls()
    ledger = Ledger(
        Store(repo, HfApi(endpoint=hub, token="hf_arena"), Path(cache)),
        CommitBudget(1_000_000),  # as fast as it goes: the more happens, the more can break
    )
    ledger.open()
    _say("ready")
    threads = [threading.Thread(target=_write, args=(ledger,)) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _write(ledger: Ledger) -> None:
    while True:
        first, second = _record(), _record()
        second = second.model_copy(update={"reason": f"after {first.id}"})
        try:
            ledger.transact(lambda state, pair=(first, second): list(pair))  # type: ignore[misc]
        except ArenaError:
            continue  # a clear no: nothing was acknowledged
        _say(f"ok {first.id} {second.id}")


def _record() -> ChallengeStateRecord:
    return ChallengeStateRecord(
        id=new_id("cst"), by="bench", challenge="demo", state="open", reason="first"
    )


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
