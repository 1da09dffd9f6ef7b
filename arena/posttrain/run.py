"""One run: gate, measure, train, measure again, report.

The caller has fetched everything (`setup` and `snapshot` are its stages); here nothing touches the
network but the sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from arena.challenges import Challenge, Recipe
from arena.packages import PackageError, TaskPackage, collection_digest, load_packages
from arena.posttrain.conversation import Dialect
from arena.posttrain.demonstrations import demonstrate
from arena.posttrain.evaluate import HeldOutTask, evaluate, prepare_suite
from arena.posttrain.events import EventSink, LineSink, Progress, StageLog
from arena.posttrain.faults import AuthorFault, Cancelled, PlatformFault, RunFault
from arena.posttrain.formats import format_named
from arena.posttrain.gate import Gated, near_copies, run_gate
from arena.posttrain.grpo import reinforce
from arena.posttrain.model import Policy, make_deterministic
from arena.posttrain.provenance import code_digest, folder_digest, software_versions
from arena.posttrain.rollouts import Limits, Voice
from arena.posttrain.sampling import InProcess
from arena.posttrain.seeds import opaque_id
from arena.posttrain.sft import fine_tune
from arena.posttrain.trainers import Updates
from arena.posttrain.trials import Crew
from arena.report import Arm, CurvePoint, Report, StageName, Training, Trial
from arena.sandbox import Sandbox


@dataclass(frozen=True)
class RunInputs:
    """All that decides a run. Folders hold what was fetched, at the pinned revisions."""

    run_id: str
    challenge: Challenge
    recipe: Recipe
    collection: Path
    suite: Path
    base_model: Path
    suite_key: bytes = field(repr=False)
    workdir: Path
    pins: dict[str, str]
    """What the caller pinned: revisions and the like; goes into the report's provenance."""


def execute(
    inputs: RunInputs,
    training: Sandbox,
    suite: Sandbox,
    on_event: EventSink,
    cancelled: Callable[[], bool] = lambda: False,
    on_line: LineSink = lambda _stage, _line: None,
) -> Report:
    """Runs the stages from the gate to the report.

    `training` and `suite` are the sandboxes of either kind of task, each under its own caps.

    Raises:
        AuthorFault: the collection cannot be trained on.
        PlatformFault: anything that is not the author's doing.
        Cancelled: `cancelled` said so.
    """
    make_deterministic(inputs.challenge.evaluation.seed, inputs.recipe.threads)
    return _Run(
        inputs, Crew(training, cancelled), Crew(suite, cancelled), StageLog(on_event, on_line)
    ).execute()


class _Run:
    """The stages of one run, in order."""

    def __init__(self, inputs: RunInputs, crew: Crew, suite_crew: Crew, log: StageLog) -> None:
        self.inputs, self.crew, self.suite_crew, self.log = inputs, crew, suite_crew, log
        self.evaluation = inputs.challenge.evaluation
        self.packages = _collection(inputs.collection)
        self.suite: list[HeldOutTask] = []
        self.held_out = 0

    def execute(self) -> Report:
        self._require_engine()
        gated = self._gate()
        self.log.trials = self._trials(len(gated.passed))
        policy = Policy.load(self.inputs.base_model, self.inputs.recipe)
        voice = self._voice(policy)
        before = self._baseline(voice)
        training = self._train(policy, voice, gated.passed)
        with self._sealed_stage("final") as progress:
            progress.expect(self.log.trials["final"])
            after = self._measure("after", voice, progress)
        with self.log.stage("report"):
            provenance = self._provenance()
        return Report(
            run=self.inputs.run_id,
            seed=self.evaluation.seed,
            stages=tuple(self.log.times),
            trials=(*before, *after),
            gates=gated.results,
            training=training,
            provenance=provenance,
            software=software_versions(),
        )

    def _voice(self, policy: Policy) -> Voice:
        """The policy as both arms ask it."""
        generation = self.inputs.recipe.generation
        dialect = Dialect(policy.tokenizer, format_named(generation.format, policy.tokenizer))
        limits = Limits.of(generation, self.evaluation.max_turns)
        return Voice(InProcess(policy), dialect, limits, self.evaluation.temperature)

    def _require_engine(self) -> None:
        """The run's set-up: what the engine is too old for is known before anything is built."""
        sandbox = self.crew.sandbox
        reasons = [f"{p.name}: {r}" for p in self.packages if (r := sandbox.unbuildable(p))]
        if reasons:
            listed = "\n".join(reasons)
            raise PlatformFault("engine_too_old", f"The worker's engine is too old for:\n{listed}")
        with _sealed("setup"):
            suite = load_packages(self.inputs.suite)
            self.held_out = len(suite)
            count = sum(1 for p in suite if self.suite_crew.sandbox.unbuildable(p))
        if count:
            told = f"The worker's engine is too old for {count} of the suite's tasks."
            raise PlatformFault("engine_too_old", told)

    def _trials(self, tasks: int) -> dict[StageName, int]:
        """How many trials the stages after the gate make, of so many training tasks."""
        held_out, trials, grpo = self.held_out, self.evaluation.trials, self.inputs.recipe.grpo
        return {
            "baseline": held_out * (1 + trials),
            "sft": tasks,
            "grpo": grpo.steps * min(grpo.prompts_per_step, tasks) * grpo.group_size,
            "final": held_out * trials,
        }

    def _gate(self) -> Gated:
        with self.log.wordy_stage("gate") as progress:
            with _sealed("gate"):
                copies = near_copies(self.packages, load_packages(self.inputs.suite))
            min_tasks = self.inputs.challenge.gates.min_tasks
            return run_gate(self.packages, copies, min_tasks, self.crew, progress)

    def _baseline(self, voice: Voice) -> list[Trial]:
        with self._sealed_stage("baseline") as progress:
            packages = load_packages(self.inputs.suite)
            progress.expect(self.log.trials["baseline"])
            self.suite = prepare_suite(packages, self.inputs.suite_key, self.suite_crew, progress)
            return self._measure("before", voice, progress)

    def _measure(self, arm: Arm, voice: Voice, progress: Progress) -> list[Trial]:
        return evaluate(arm, voice, self.suite, self.evaluation, self.suite_crew, progress)

    def _train(self, policy: Policy, voice: Voice, packages: tuple[TaskPackage, ...]) -> Training:
        weights_before, copy = policy.weights_digest(), policy.trained_copy()
        demonstrations, sft = self._sft(policy, voice, packages)
        grpo = self._grpo(policy, voice, packages)
        return Training(
            demonstrations=demonstrations,
            sft_steps=len(sft.steps),
            sft_updates=sft.counting,
            grpo_steps=len(grpo.steps),
            grpo_updates=grpo.counting,
            grpo_groups_with_spread=sum(step.groups_with_spread or 0 for step in grpo.steps),
            reward_curve=_curve(grpo),
            tensors=policy.changes_since(copy),
            weights_before=weights_before,
            weights_after=policy.weights_digest(),
        )

    def _sft(
        self, policy: Policy, voice: Voice, packages: tuple[TaskPackage, ...]
    ) -> tuple[int, Updates]:
        recipe, seed, output = self.inputs.recipe, self.evaluation.seed, self.inputs.workdir / "sft"
        longest = recipe.sft.max_length
        with self.log.wordy_stage("sft") as progress:
            rows = demonstrate(packages, voice.dialect, voice.limits, longest, self.crew, progress)
            return len(rows), fine_tune(policy, rows, recipe, seed, output, self.crew, progress)

    def _grpo(self, policy: Policy, voice: Voice, packages: tuple[TaskPackage, ...]) -> Updates:
        recipe, seed = self.inputs.recipe, self.evaluation.seed
        voice = voice._replace(temperature=recipe.grpo.temperature)
        output = self.inputs.workdir / "grpo"
        with self.log.wordy_stage("grpo") as progress:
            return reinforce(policy, packages, voice, recipe, seed, output, self.crew, progress)

    def _provenance(self) -> dict[str, str]:
        """Digests of all that was used. The suite's is keyed: a plain one would let a guess at
        its content be tested."""
        inputs = self.inputs
        return {
            **inputs.pins,
            "challenge_sha256": inputs.challenge.digest,
            "recipe_sha256": inputs.recipe.digest,
            "collection_sha256": collection_digest(package.root for package in self.packages),
            "suite_hmac": opaque_id(inputs.suite_key, folder_digest(inputs.suite)),
            "base_model_sha256": folder_digest(inputs.base_model),
            "code_sha256": code_digest(),
        }

    @contextmanager
    def _sealed_stage(self, name: StageName) -> Iterator[Progress]:
        with _sealed(name), self.log.stage(name) as progress:
            yield progress


@contextmanager
def _sealed(stage: StageName) -> Iterator[None]:
    """Where the suite is touched, what fails may quote it, so it is told by its kind alone."""
    try:
        yield
    except (Cancelled, RunFault):
        raise
    except Exception as exc:
        kind = type(exc).__name__
    else:
        return
    raise PlatformFault("suite_stage_failed", f"The {stage} stage failed with {kind}.")


def _curve(grpo: Updates) -> tuple[CurvePoint, ...]:
    return tuple(
        CurvePoint(
            step=number,
            reward=step.reward,
            loss=step.loss,
            groups_with_spread=step.groups_with_spread,
            weights_changed=step.weights_changed,
        )
        for number, step in enumerate(grpo.steps, start=1)
    )


def _collection(folder: Path) -> list[TaskPackage]:
    try:
        return load_packages(folder)
    except PackageError as exc:
        raise AuthorFault("collection_invalid", str(exc)) from exc
