"""The worker's routes: only the accounts named in challenges/arena.yaml come through."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request
from starlette.concurrency import run_in_threadpool

from arena.errors import BadReport
from arena.identity import Identity, require_worker
from arena.runs.ingest import MAX_REPORT_BYTES
from arena.runs.queue import Beat, Failure, Ready, StageEnd
from arena.service import Arena

Answer = dict[str, Any]


def worker_routes(service: Arena, who: Any) -> APIRouter:
    """Lease, heartbeat, end of a stage, failure, report."""
    routes = APIRouter(tags=["worker"])
    queue = service.queue

    def worker(identity: Annotated[Identity, Depends(who)]) -> str:
        require_worker(identity, service.challenges.arena)
        return identity.user

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
        content = await _body(run, request)
        await run_in_threadpool(queue.report, name, run, lease, content)
        return {"ok": True}

    return routes


async def _body(run: str, request: Request) -> bytes:
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > MAX_REPORT_BYTES:
            raise BadReport(run=run[:80], problem=f"over {MAX_REPORT_BYTES:,} bytes")
    return bytes(content)
