"""The arena's API as a client calls it: the command line's and the worker's way in."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx

from arena.errors import ArenaError, InvalidToken

_ATTEMPTS = 4
TELL_AFTER, TELL_AGAIN = 2.0, 15.0  # seconds

_PAGE = 200  # the most that the API gives at once


class RemoteError(ArenaError):
    """An error that the arena answered with."""

    def __init__(self, code: str, message: str, following: str, status: int) -> None:
        Exception.__init__(self, f"{code}: {message}")
        self.remote_code = code
        self.message = message
        self.next = following
        self.remote_status = status

    def as_dict(self) -> dict[str, str]:
        return {"code": self.remote_code, "message": self.message, "next": self.next}


class ArenaUnreachable(ArenaError):
    code, status = "arena_unreachable", 503
    text = "The arena at {url} does not answer: {problem}."
    advice = "Check ARENA_URL and that the arena is up, then try again."


class ArenaClient:
    """Calls the REST API. A write carries one Idempotency-Key over all its tries."""

    def __init__(
        self,
        url: str,
        token: str | None,
        timeout: float = 300,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        """A client of the arena at `url`; a write may wait minutes for the commit it shares.

        While one waits, `tell` is told now and then how many do, and for how long.

        Raises:
            InvalidToken: no token reads like that. ArenaUnreachable: `url` is no address.
        """
        if token and not (token.isascii() and token.isprintable()):
            raise InvalidToken
        self.url = url.rstrip("/")
        self._tell = tell
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        base = self.url + "/api/v1"
        try:
            self._http = httpx.Client(base_url=base, headers=headers, timeout=timeout)
        except httpx.InvalidURL as exc:
            raise ArenaUnreachable(url=repr(self.url), problem="it is no address") from exc

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """Reads.

        Raises:
            RemoteError: the arena refused. ArenaUnreachable: it did not answer.
        """
        return self._call("GET", path, params={k: v for k, v in query.items() if v is not None})

    def get_all(self, path: str, name: str, **query: Any) -> dict[str, Any]:
        """Reads a list, `name` in the answer, to its end; else as `get`."""
        answer = self.get(path, limit=_PAGE, **query)
        while (offset := answer["next_offset"]) is not None:
            more = self.get(path, limit=_PAGE, offset=offset, **query)
            answer |= {name: answer[name] + more[name], "next_offset": more["next_offset"]}
        return answer

    def post(
        self, path: str, body: dict[str, Any] | bytes, headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """Writes; tried again where the answer was lost, with the same key.

        Raises:
            RemoteError, ArenaUnreachable.
        """
        headers = {"Idempotency-Key": uuid.uuid4().hex} | (headers or {})
        with self._telling():
            if isinstance(body, bytes):
                headers["Content-Type"] = "application/json"
                return self._call("POST", path, content=body, headers=headers)
            return self._call("POST", path, json=body, headers=headers)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Tells, beside what goes on inside, what the arena says of writes that wait."""
        ended = threading.Event()

        def tell(tell: Callable[[str], None]) -> None:
            pause = TELL_AFTER
            while not ended.wait(pause):
                pause = TELL_AGAIN
                with suppress(ArenaError):  # the write itself meets what is wrong
                    writes = self.get("/writes")["writes"]
                    if writes["waiting"] and not ended.is_set():
                        tell(writes["text"])

        if self._tell is None:
            yield
            return
        thread = threading.Thread(target=tell, args=[self._tell], daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()

    def _call(self, method: str, path: str, **arguments: Any) -> dict[str, Any]:
        problem = ""
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(0.25 * 2**attempt)
            try:
                answer = self._http.request(method, path, **arguments)
            except httpx.HTTPError as exc:
                problem = type(exc).__name__
                continue
            if answer.status_code in {502, 504}:
                problem = f"status {answer.status_code}"
                continue
            return self._result(answer)
        raise ArenaUnreachable(url=self.url, problem=problem)

    def _result(self, answer: httpx.Response) -> dict[str, Any]:
        try:
            data = answer.json()
            error = None if data["ok"] else data["error"]
        except (ValueError, KeyError, TypeError):
            problem = f"status {answer.status_code}, and no answer of an arena"
            raise ArenaUnreachable(url=self.url, problem=problem) from None
        if error:
            raise RemoteError(error["code"], error["message"], error["next"], answer.status_code)
        return dict(data)
