"""What is derived from a seed or a key: the same for a task whatever stands beside it."""

from __future__ import annotations

import hashlib
import hmac


def trial_seed(seed: int, task: str, trial: int) -> int:
    """The sampling seed of one trial: order, jobs and other tasks change nothing."""
    digest = hashlib.sha256(f"{seed}\0{task}\0{trial}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def opaque_id(key: bytes, text: str) -> str:
    """The id under which something sealed is published: nobody can guess it without the key."""
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()[:16]
