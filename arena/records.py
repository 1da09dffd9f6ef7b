"""What is stored: immutable, typed records. State is what they add up to (state.py).

A field's type is also its column's type in the results dataset (store.py), so every field is a
plain value, a list, or a list of parts with plain fields.
"""

from __future__ import annotations

import secrets
import zlib
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, ClassVar, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    TypeAdapter,
    ValidationError,
)

Fault = Literal["author", "platform"]
Outcome = Literal["valid", "invalid", "failed"]
Verdict = Literal["accepted", "rejected"]
ReplayVerdict = Literal["proven", "not built", "oracle fails", "untouched scores", "no reward"]


_EPOCH = datetime(2025, 1, 1, tzinfo=UTC)  # 41 bits of milliseconds last until 2094
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: no letter looks like a digit


def new_id(prefix: str) -> str:
    """A new id that sorts by time: milliseconds and 24 random bits, 13 characters in base 32.

    Ids are made before the ledger is asked, so that a commit whose answer was lost can be found.
    The ledger refuses an id that stands already.
    """
    milliseconds = int((datetime.now(UTC) - _EPOCH).total_seconds() * 1000)
    number = milliseconds << 24 | secrets.randbits(24)
    digits = (_DIGITS[number >> shift & 31] for shift in range(60, -1, -5))
    return f"{prefix}_{''.join(digits)}"


class _Kept(BaseModel):
    """What is kept in memory by the hundred thousand, for as long as the process lives.

    Pydantic notes on each instance which fields it was given, which nothing here asks for. One note
    shared by all of a class saves a third of the memory.
    """

    def model_post_init(self, _: object) -> None:
        object.__setattr__(self, "__pydantic_fields_set__", _fields_of(type(self)))


@cache
def _fields_of(model: type[BaseModel]) -> set[str]:
    return set(model.model_fields)


class Part(_Kept):
    """A part of a record: a row in a list."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Record(_Kept):
    """What every record has. `seq` is 0 until the ledger gives it its place."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False
    )

    prefix: ClassVar[str]

    seq: int = 0
    id: str
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    by: str
    schema_version: int = Field(default=1, alias="schema")
    request: str | None = Field(default=None, description="hash of user, route, Idempotency-Key")
    request_body: str | None = Field(default=None, description="hash of what was asked with it")


class SubmissionRecord(Record):
    """One author enters one collection, and consents to its open release when accepted."""

    prefix: ClassVar[str] = "sub"
    kind: Literal["submission"] = "submission"
    title: str
    owner: str = Field(description="who owns the repository: a user or an organization")
    source: str = Field(description="the address, pinned to its commit")
    requested_revision: str
    commit: str
    line: str
    authors: list[str] = Field(description="who has the author's rights, beside `by`")


class StageRow(Part):
    stage: str
    seconds: float


class PackageRow(Part):
    name: str
    domain: str
    licence: str


class FindingRow(Part):
    package: str
    code: str
    severity: str
    message: str
    file: str
    line: int | None
    hint: str


class PassageRow(Part):
    file: str
    line: int
    text: str


class CopyRow(Part):
    """A package that is too close to a held-out task: its own lines that show it, never the task's.

    `similarity`: to one place, from 0 to 1.
    """

    package: str
    part: str
    similarity: float
    threshold: float
    passages: list[PassageRow]


class TwinRow(Part):
    """Two packages of the collection that are near copies of each other."""

    package: str
    other: str
    part: str
    similarity: float


class ValidationRecord(Record):
    """What the arena's check of a submission ended with."""

    prefix: ClassVar[str] = "val"
    kind: Literal["validation"] = "validation"
    submission: str
    outcome: Outcome
    code: str | None = Field(description="of the error, where it failed or was refused")
    reason: str | None
    collection: str | None = Field(description="the content digest")
    packages: list[PackageRow]
    findings: list[FindingRow]
    stages: list[StageRow]
    rules: str
    near_copies: str = Field(description="how they were looked for")
    copies: list[CopyRow] = Field(default=[], description="of held-out tasks")
    twins: list[TwinRow] = Field(default=[], description="near copies within the collection")
    for_editors: str = Field(default="", description="what editors alone may know, encrypted")


class WithdrawalRecord(Record):
    """An author withdrew a submission: it stays on record, and neither runs nor ranks any more."""

    prefix: ClassVar[str] = "wdr"
    kind: Literal["withdrawal"] = "withdrawal"
    submission: str
    reason: str


class ClaimRecord(Record):
    """An editor settled whose a submission is, and with it the content that it holds."""

    prefix: ClassVar[str] = "clm"
    kind: Literal["claim"] = "claim"
    submission: str
    collection: str | None = Field(description="the content digest, once it was known")
    author: str = Field(description="who has the author's rights from now on, and alone")
    reason: str


class SaidRow(Part):
    """The end of what a build, an oracle or a verifier wrote."""

    who: str = Field(max_length=60)
    text: str = Field(max_length=4000)


class ReplayRow(Part):
    """One package replayed: the rewards of its oracle and of its untouched environment.

    `reason` and `said` are empty where the package is proven; `image` is the engine's id.
    """

    name: str = Field(max_length=200)
    verdict: ReplayVerdict
    reason: str = Field(max_length=1000)
    oracle: float | None = Field(ge=0, le=1)
    untouched: float | None = Field(ge=0, le=1)
    seconds: float = Field(ge=0)
    image: str | None = Field(max_length=100)
    said: list[SaidRow] = Field(max_length=4)


class VersionRow(Part):
    name: str = Field(max_length=60)
    version: str = Field(max_length=200)


class ReplayRecord(Record):
    """A worker replayed every package of a content. The arena computed each verdict anew."""

    prefix: ClassVar[str] = "rpl"
    kind: Literal["replay"] = "replay"
    submission: str = Field(description="whose source was fetched; the content is what counts")
    collection: str
    packages: list[ReplayRow]
    software: list[VersionRow]


class RunRecord(Record):
    """A run was launched; it is queued."""

    prefix: ClassVar[str] = "run"
    kind: Literal["run"] = "run"
    submission: str
    collection: str
    challenge: str
    challenge_digest: str
    recipe_digest: str
    base_model: str
    suite: str


class RunEventRecord(Record):
    """Something happened to a run: a lease, the end of a stage, a failure, a cancellation.

    A process of the arena that hears nothing of its worker doubts it; one that does has heard it. A
    run that lost its worker is requeued once.
    """

    prefix: ClassVar[str] = "evt"
    kind: Literal["run_event"] = "run_event"
    run: str
    event: Literal["leased", "stage", "doubted", "heard", "requeued", "failed", "cancelled"]
    lease: str | None = None
    stage: str | None = None
    seconds: float | None = None
    fault: Fault | None = None
    code: str | None = None
    reason: str | None = None


class DomainRow(Part):
    """One domain's part of a result: fractions, and the change in pp."""

    domain: str
    tasks: int
    before: float
    after: float
    change_pp: float


class TaskRow(Part):
    """One suite task under its opaque id: mean pass rates of its scored trials; None: missing."""

    task: str
    domain: str
    before: float | None
    after: float | None


def packed(text: str) -> bytes:
    """A long text as it is kept in memory; in the store it is text."""
    return zlib.compress(text.encode(), 1)


def unpacked(content: bytes) -> str:
    """The text that `packed` was given."""
    return zlib.decompress(content).decode()


Packed = Annotated[
    bytes,
    BeforeValidator(lambda given: packed(given) if isinstance(given, str) else given),
    PlainSerializer(unpacked, return_type=str),
]


class ReportRecord(Record):
    """A run was scored. Every figure was computed by the arena from the report's trials."""

    prefix: ClassVar[str] = "rep"
    kind: Literal["report"] = "report"
    run: str
    before: float
    after: float
    change_pp: float
    stderr_pp: float | None
    ci95_low_pp: float | None
    ci95_high_pp: float | None
    coverage: float
    domains: list[DomainRow]
    tasks: list[TaskRow]
    report: Packed = Field(description="report.json as the worker sent it")


class ReviewRecord(Record):
    """An editor's verdict on a scored run. A later one supersedes it; none is ever changed."""

    prefix: ClassVar[str] = "rev"
    kind: Literal["review"] = "review"
    run: str
    verdict: Verdict
    reason: str


class ChallengeStateRecord(Record):
    """An editor opened, paused or closed a challenge."""

    prefix: ClassVar[str] = "cst"
    kind: Literal["challenge_state"] = "challenge_state"
    challenge: str
    state: Literal["open", "paused", "closed"]
    reason: str


class ReleaseRecord(Record):
    """An accepted collection is in the commons, by this commit."""

    prefix: ClassVar[str] = "rel"
    kind: Literal["release"] = "release"
    run: str
    submission: str
    collection: str
    repo: str
    commit: str
    folder: str
    packages: list[PackageRow]


AnyRecord = Annotated[
    SubmissionRecord
    | ValidationRecord
    | WithdrawalRecord
    | ClaimRecord
    | ReplayRecord
    | RunRecord
    | RunEventRecord
    | ReportRecord
    | ReviewRecord
    | ChallengeStateRecord
    | ReleaseRecord,
    Field(discriminator="kind"),
]

KINDS: dict[str, type[Record]] = {
    "submission": SubmissionRecord,
    "validation": ValidationRecord,
    "withdrawal": WithdrawalRecord,
    "claim": ClaimRecord,
    "replay": ReplayRecord,
    "run": RunRecord,
    "run_event": RunEventRecord,
    "report": ReportRecord,
    "review": ReviewRecord,
    "challenge_state": ChallengeStateRecord,
    "release": ReleaseRecord,
}

SCHEMA = 1
_ADAPTER: TypeAdapter[AnyRecord] = TypeAdapter(AnyRecord)


class UnreadRecord(Record):
    """A record of a newer schema, or of a kind that this code does not know: kept, and shown so."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True)

    prefix: ClassVar[str] = ""
    kind: str


def parse_record(line: str | bytes) -> AnyRecord | UnreadRecord:
    """One line of the store as a record.

    Raises:
        pydantic.ValidationError: the line is no record.
    """
    try:
        return _ADAPTER.validate_json(line)
    except ValidationError:
        unread = UnreadRecord.model_validate_json(line)
        if unread.schema_version > SCHEMA or unread.kind not in KINDS:
            return unread
        raise


def dump_record(record: Record) -> str:
    """A record as one line of the store."""
    return record.model_dump_json(by_alias=True)
