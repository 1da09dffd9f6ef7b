"""The routes of /api/v1: reading needs no token, writing a Hub token as Bearer."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal, TypeVar

from anyio import to_thread
from fastapi import APIRouter, Depends, FastAPI, Header, Query
from fastapi.responses import PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, ConfigDict, Field

import arena
from arena.api.body import BodyLimit
from arena.api.errors import add_error_handlers
from arena.api.requestlog import METHODS, RequestLog
from arena.api.worker import worker_routes
from arena.errors import NotFound, SignInRequired
from arena.identity import Identity
from arena.metrics import exposition
from arena.service import Arena

MAX_PAGE = 200
_THREADS = 400
Item = TypeVar("Item", bound=BaseModel)
Answer = dict[str, Any]
Key = Annotated[str | None, Header(alias="Idempotency-Key", max_length=200)]


class SubmitBody(BaseModel):
    """What is entered."""

    model_config = ConfigDict(extra="forbid")

    source: str
    title: str


class ValidateBody(BaseModel):
    """What is checked, and by which challenge's caps and gate."""

    model_config = ConfigDict(extra="forbid")

    source: str
    challenge: str | None = None


class LaunchBody(BaseModel):
    """Of what, and where, a run is launched."""

    model_config = ConfigDict(extra="forbid")

    submission: str
    challenge: str


class ReasonBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    reason: str


class ClaimBody(ReasonBody):
    author: str = Field(description="whose it is: a Hub user")


class ReviewBody(ReasonBody):
    run: str
    verdict: Literal["accepted", "rejected"]


class StateBody(ReasonBody):
    state: Literal["open", "paused", "closed"]


class Page(BaseModel):
    """Which part of a list: `limit` items after skipping `offset`."""

    offset: int = Query(0, ge=0)
    limit: int = Query(50, ge=1, le=MAX_PAGE)


def bearer(authorization: str | None) -> str:
    """The token of an Authorization header.

    Raises:
        SignInRequired: there is none.
    """
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise SignInRequired
    return token.strip()


def paged(name: str, items: Sequence[Item], page: Page) -> Answer:
    """A list's answer: its part, and where the next part begins."""
    part = list(items[page.offset : page.offset + page.limit])
    end = page.offset + len(part)
    following = end if end < len(items) else None
    return {"ok": True, name: dump(part), "total": len(items), "next_offset": following}


def dump(value: Any) -> Any:
    """Models as JSON values."""
    if isinstance(value, list):
        return [dump(item) for item in value]
    return value.model_dump(mode="json")


def create_api(service: Arena) -> FastAPI:
    """The FastAPI app that the pages are mounted on."""
    app = FastAPI(
        title="PostTrain Arena",
        version=arena.__version__,
        description=(
            "Reading needs no token. Writing takes `Authorization: Bearer hf_...` and an optional "
            "`Idempotency-Key`. Every error is `{ok: false, error: {code, message, next}}`."
        ),
        docs_url=None,
        redoc_url=None,
        lifespan=_with_threads,
    )
    add_error_handlers(app)
    app.add_middleware(BodyLimit)
    app.add_middleware(RequestLog)

    def who(authorization: Annotated[str | None, Header()] = None) -> Identity:
        return service.identities.of(bearer(authorization), "token")

    app.include_router(_reading(service), prefix="/api/v1")
    app.include_router(_writing(service, who), prefix="/api/v1")
    app.include_router(worker_routes(service, who), prefix="/api/v1/worker")

    @app.get("/healthz")
    def health() -> Answer:
        """Store, Hub, queues and workers; what is wrong, named. 200 while reading is served."""
        return dict(dump(service.health.view()))

    @app.get("/metrics", response_class=PlainTextResponse)
    def figures() -> Response:
        """Counters, in the Prometheus text format."""
        return Response(exposition(service.health), media_type=CONTENT_TYPE_LATEST)

    @app.api_route("/api", methods=[*METHODS], include_in_schema=False)
    @app.api_route("/api/{path:path}", methods=[*METHODS], include_in_schema=False)
    def nothing(path: str = "") -> None:
        """Below /api the answer is JSON also where there is nothing; the rest is the pages'."""
        raise NotFound(path=f"/api/{path[:200]}")

    return app


@asynccontextmanager
async def _with_threads(_app: FastAPI) -> AsyncIterator[None]:
    """Writes wait for the commit that they share, each in a thread: reading must not wait too."""
    to_thread.current_default_thread_limiter().total_tokens = _THREADS
    yield


def _reading(service: Arena) -> APIRouter:
    routes = APIRouter()
    read = service.read

    @routes.get("/challenges")
    def challenges() -> Answer:
        """Every challenge, and whether it takes runs."""
        return {"ok": True, "challenges": dump(read.challenge_views())}

    @routes.get("/challenges/{challenge}")
    def challenge(challenge: str) -> Answer:
        """One challenge."""
        return {"ok": True, "challenge": dump(read.challenge_view(challenge))}

    @routes.get("/submissions")
    def submissions(page: Annotated[Page, Depends()], by: str | None = None) -> Answer:
        """Submissions, newest first."""
        return paged("submissions", read.submission_views(by), page)

    @routes.get("/submissions/{submission}")
    def submission(submission: str) -> Answer:
        """One submission, with its findings."""
        return {"ok": True, "submission": dump(read.submission_detail(submission))}

    @routes.get("/runs")
    def runs(page: Annotated[Page, Depends()], challenge: str | None = None) -> Answer:
        """Runs, newest first."""
        return paged("runs", read.run_views(challenge), page)

    @routes.get("/runs/{run}")
    def run(run: str) -> Answer:
        """One run, with what its report says."""
        return {"ok": True, "run": dump(read.run_detail(run))}

    @routes.get("/runs/{run}/report")
    def report(run: str) -> Answer:
        """`report.json` as the worker sent it, with every trial; null before the run is scored."""
        found = read.report(run)
        return {"ok": True, "report": dump(found) if found else None}

    @routes.get("/runs/{run}/logs")
    def logs(run: str, page: Annotated[Page, Depends()]) -> Answer:
        """What the gate and the training said: the last lines of the last attempt, in memory."""
        return paged("lines", read.run_lines(run), page)

    @routes.get("/leaderboard")
    def leaderboard(challenge: str, page: Annotated[Page, Depends()]) -> Answer:
        """The leaderboard of a challenge."""
        return paged("rows", read.leaderboard(challenge), page)

    @routes.get("/history/{name}")
    def history(name: str, page: Annotated[Page, Depends()]) -> Answer:
        """Every record that touched a submission, a run, a challenge or a content (its digest)."""
        return paged("history", read.history(name), page)

    @routes.get("/writes")
    def writes() -> Answer:
        """How many writes wait for a commit of the results, and when the next one is due."""
        return _object("writes", read.writes())

    @routes.get("/commons")
    def commons(page: Annotated[Page, Depends()]) -> Answer:
        """What is released."""
        return paged("collections", read.commons(), page)

    return routes


def _writing(service: Arena, who: Any) -> APIRouter:
    routes = APIRouter()
    Who = Annotated[Identity, Depends(who)]

    @routes.get("/whoami")
    def whoami(user: Who) -> Answer:
        """Who a token belongs to, as the arena sees it."""
        return {
            "ok": True,
            "user": user.user,
            "organizations": dict(user.organizations),
            "token_role": user.token_role,
            "editor": service.read.is_editor(user),
        }

    @routes.post("/submissions")
    def submit(body: SubmitBody, user: Who, key: Key = None) -> Answer:
        """Enters a collection."""
        return _object("submission", service.submit(user, body.source, body.title, key))

    @routes.post("/submissions:validate")
    def validate(body: ValidateBody, user: Who, key: Key = None) -> Answer:
        """Checks a public source as a submission is, and enters nothing."""
        return _object("validation", service.validate(user, body.source, body.challenge, key))

    @routes.get("/validations/{validation}")
    def validation(validation: str, user: Who) -> Answer:
        """How far a validation of yours is that enters nothing; kept for an hour after its end."""
        return _object("validation", service.validation(user, validation))

    @routes.get("/submissions/{submission}/suspects")
    def suspects(submission: str, user: Who) -> Answer:
        """For editors: its packages that are like held-out tasks, and not copies."""
        return _object("note", service.suspects(user, submission))

    @routes.post("/submissions/{submission}:withdraw")
    def withdraw(submission: str, body: ReasonBody, user: Who, key: Key = None) -> Answer:
        """Takes a submission out: it stays on record, and neither runs nor ranks any more."""
        return _object("submission", service.withdraw(user, submission, body.reason, key))

    @routes.post("/submissions/{submission}:claim")
    def claim(submission: str, body: ClaimBody, user: Who, key: Key = None) -> Answer:
        """Settles whose a submission and its content are."""
        settled = service.settle_claim(user, submission, body.author, body.reason, key)
        return _object("submission", settled)

    @routes.post("/runs:launch")
    def launch(body: LaunchBody, user: Who, key: Key = None) -> Answer:
        """Queues a run of a valid submission."""
        return _object("run", service.launch(user, body.submission, body.challenge, key))

    @routes.post("/runs:preflight")
    def preflight(body: LaunchBody, user: Who) -> Answer:
        """Every condition of a launch, and whether it holds now; nothing is recorded."""
        return _object("preflight", service.preflight(user, body.submission, body.challenge))

    @routes.post("/runs/{run}:cancel")
    def cancel(run: str, body: ReasonBody, user: Who, key: Key = None) -> Answer:
        """Ends a queued or running run."""
        return _object("run", service.cancel(user, run, body.reason, key))

    @routes.post("/reviews")
    def review(body: ReviewBody, user: Who, key: Key = None) -> Answer:
        """Accepts or rejects a scored run."""
        return _object("run", service.review(user, body.run, body.verdict, body.reason, key))

    @routes.post("/challenges/{challenge}/state")
    def state(challenge: str, body: StateBody, user: Who, key: Key = None) -> Answer:
        """Opens, pauses or closes a challenge."""
        changed = service.set_challenge_state(user, challenge, body.state, body.reason, key)
        return _object("challenge", changed)

    return routes


def _object(name: str, value: BaseModel) -> Answer:
    return {"ok": True, name: dump(value)}
