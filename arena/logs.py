"""Logs as JSON lines on stderr: each with the request it belongs to, and no secret."""

from __future__ import annotations

import json
import logging
import re
import sys
from contextvars import ContextVar
from datetime import UTC, datetime

REQUEST_ID: ContextVar[str | None] = ContextVar("request_id", default=None)
FIELDS = "fields"
_SECRET = re.compile(
    r"hf_\w+|gh[oprsu]_\w+|github_pat_\w+|(?i:bearer\s+\S+)|(?<=code=)[^&\s\"']+|(?<=token=)[^&\s\"']+|(?<=state=)[^&\s\"']+"
)


class JsonLines(logging.Formatter):
    """One JSON object a record."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": without_secrets(record.getMessage()),
        }
        if request := REQUEST_ID.get():
            line["request"] = request
        line |= getattr(record, FIELDS, {})
        if record.exc_info:
            line["fault"] = without_secrets(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=True)


def configure(level: int = logging.INFO) -> None:
    """Sends what this process logs to stderr, as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.getLogger("httpx").setLevel(logging.WARNING)  # it logs whole addresses


def without_secrets(text: str) -> str:
    """A text without what looks like a token."""
    return _SECRET.sub("[left out]", text)
