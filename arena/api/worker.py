"""The worker's routes: only the accounts named in challenges/arena.yaml come through."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request
from starlette.concurrency import run_in_threadpool

from arena.errors import ArenaError, BadReplay, BadReport
from arena.identity import Identity, require_worker
from arena.runs.ingest import MAX_REPORT_BYTES
from arena.runs.messages import Beat, Failure, Lines, Ready, StageEnd
from arena.runs.replays import MAX_REPLAY_BYTES, HandBack, ReadyToReplay, ReplayBeat
from arena.service import Arena

Answer = dict[str, Any]


def worker_routes(service: Arena, who: Any) -> APIRouter:
    """What a worker asks and tells, of runs and of replays."""

    def worker(identity: Annotated[Identity, Depends(who)]) -> str:
        require_worker(identity, service.challenges.arena)
        return identity.user

    routes = APIRouter(tags=["worker"])
    routes.include_router(_run_routes(service, worker))
    routes.include_router(_replay_routes(service, worker))
    return routes


def _run_routes(service: Arena, worker: Any) -> APIRouter:
    """Lease, heartbeat, end of a stage, failure, report."""
    routes = APIRouter()
    queue = service.queue
    Worker = Annotated[str, Depends(worker)]

    @routes.post("/lease")
    def lease(body: Ready, name: Worker) -> Answer:
        """The next run, or null; a worker that lacks something says what, and gets none."""
        found = queue.lease(name, body)
        return {"ok": True, "lease": found.model_dump() if found else None}

    @routes.post("/runs/{run}/heartbeat")
    def heartbeat(run: str, body: Beat, name: Worker) -> Answer:
        """A sign of life; `lease_lost` means stop."""
        queue.beat(name, run, body)
        return {"ok": True}

    @routes.post("/runs/{run}/logs")
    def say(run: str, body: Lines, name: Worker) -> Answer:
        """What a stage said of the author's own tasks; of any other, `sealed_stage`."""
        queue.say(name, run, body)
        return {"ok": True}

    @routes.post("/runs/{run}/stages")
    def stage(run: str, body: StageEnd, name: Worker) -> Answer:
        """The end of a stage."""
        queue.end_stage(name, run, body)
        return {"ok": True}

    @routes.post("/runs/{run}/failure")
    def failure(run: str, body: Failure, name: Worker) -> Answer:
        """The end of a run without a score."""
        queue.fail(name, run, body)
        return {"ok": True}

    @routes.post("/runs/{run}/report")
    async def report(
        run: str, request: Request, name: Worker, lease: Annotated[str, Header(alias="Arena-Lease")]
    ) -> Answer:
        """`report.json` as the body."""
        too_large = BadReport(run=run[:80], problem=f"over {MAX_REPORT_BYTES:,} bytes")
        content = await _body(request, MAX_REPORT_BYTES, too_large)
        await run_in_threadpool(queue.report, name, run, lease, content)
        return {"ok": True}

    return routes


def _replay_routes(service: Arena, worker: Any) -> APIRouter:
    """Lease, heartbeat, giving back, report of a replay; each names the content's digest."""
    routes = APIRouter(prefix="/replays")
    replays = service.replays
    Worker = Annotated[str, Depends(worker)]

    @routes.post("/lease")
    def lease(body: ReadyToReplay, name: Worker) -> Answer:
        """The next replay, or null; asked for when no run waits."""
        found = replays.lease(name, body)
        return {"ok": True, "lease": found.model_dump() if found else None}

    @routes.post("/{collection}/heartbeat")
    def heartbeat(collection: str, body: ReplayBeat, name: Worker) -> Answer:
        """A sign of life; not `go_on` means: end the package under way, then hand back."""
        return {"ok": True, "go_on": replays.beat(name, collection, body)}

    @routes.post("/{collection}/hand-back")
    def hand_back(collection: str, body: HandBack, name: Worker) -> Answer:
        """The replay is free for the next worker."""
        replays.hand_back(name, collection, body)
        return {"ok": True}

    @routes.post("/{collection}/report")
    async def report(collection: str, request: Request, name: Worker) -> Answer:
        """What came out for every package."""
        problem = f"over {MAX_REPLAY_BYTES:,} bytes"
        too_large = BadReplay(collection=collection[:64], problem=problem)
        content = await _body(request, MAX_REPLAY_BYTES, too_large)
        await run_in_threadpool(replays.report, name, collection, content)
        return {"ok": True}

    return routes


async def _body(request: Request, limit: int, too_large: ArenaError) -> bytes:
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > limit:
            raise too_large
    return bytes(content)
