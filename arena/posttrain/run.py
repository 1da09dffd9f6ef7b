"""One run: gate, measure, train, measure again, report.

The caller has fetched everything (`setup` and `snapshot` are its stages); here nothing touches the
network but the sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel
from transformers import set_seed

from arena.challenges import Challenge, Recipe
from arena.packages import PackageError, TaskPackage, collection_digest, load_packages
from arena.posttrain.checkpoints import Checkpoints, Whole
from arena.posttrain.conversation import Dialect
from arena.posttrain.demonstrations import Demonstrator, by_oracle, by_teacher, demonstrate
from arena.posttrain.evaluate import HeldOutTask, evaluate, held_out, prepare_suite
from arena.posttrain.events import EventSink, LineSink, Progress, StageLog
from arena.posttrain.faults import AuthorFault, Cancelled, PlatformFault, RunFault
from arena.posttrain.formats import format_named
from arena.posttrain.gate import Gated, near_copies, run_gate
from arena.posttrain.grpo import reinforce
from arena.posttrain.model import Policy, make_deterministic
from arena.posttrain.provenance import code_digest, folder_digest, software_versions
from arena.posttrain.rollouts import Limits, Sampler, Voice
from arena.posttrain.sampling import InProcess
from arena.posttrain.seeds import opaque_id
from arena.posttrain.served import served
from arena.posttrain.sft import fine_tune
from arena.posttrain.teacher import Endpoint, Teacher
from arena.posttrain.trainers import Update, counting
from arena.posttrain.trials import Crew
from arena.report import Arm, CurvePoint, GateResult, Report, StageName, Training, Trial
from arena.sandbox import Sandbox

Result = TypeVar("Result")


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
    checkpoints: Path
    """Where whole stages are kept for another attempt of this run."""
    teacher: Endpoint | None
    """Where the recipe's teacher is asked, if it has one."""
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


class _Baseline(BaseModel, frozen=True):
    """The first arm, and which tasks' oracles scored 1.0, by opaque id."""

    oracles: dict[str, bool]
    trials: tuple[Trial, ...]


class _Sft(BaseModel, frozen=True):
    demonstrations: int
    steps: tuple[Update, ...]


class _Run:
    """The stages of one run, in order; each is kept once it is whole, or taken over so kept."""

    def __init__(self, inputs: RunInputs, crew: Crew, suite_crew: Crew, log: StageLog) -> None:
        self.inputs, self.crew, self.suite_crew, self.log = inputs, crew, suite_crew, log
        self.evaluation = inputs.challenge.evaluation
        self.packages = _collection(inputs.collection)
        self.suite: list[HeldOutTask] = []
        self.suite_tasks = 0
        self.provenance, self.software = self._provenance("setup"), software_versions()
        pins = {**self.provenance, **self.software, "run": inputs.run_id}
        self.kept = Checkpoints(inputs.checkpoints, pins)
        self.resumed: list[StageName] = []

    def execute(self) -> Report:
        self._require_engine()
        gated = self._gate()
        self.log.trials = self._trials(len(gated.passed))
        set_seed(self.evaluation.seed)  # an adapter's first weights are random
        policy = Policy.load(self.inputs.base_model, self.inputs.recipe)
        with self._sampler(policy) as sampler:
            voice = self._voice(policy, sampler)
            before = self._baseline(voice)
            training = self._train(policy, voice, gated.passed)
            after = self._final(voice)
        with self.log.stage("report"):
            if self._provenance("report") != self.provenance:
                raise PlatformFault("inputs_changed", "What the run used changed while it ran.")
        return Report(
            run=self.inputs.run_id,
            seed=self.evaluation.seed,
            stages=tuple(self.log.times),
            trials=(*before, *after),
            gates=gated.results,
            training=training,
            provenance=self.provenance,
            software=self.software,
            resumed=tuple(self.resumed),
        )

    def _take_over(self, stage: StageName, whole: Whole[Result] | None) -> Result | None:
        """The result of a stage that an earlier attempt made whole, with its time told."""
        if whole is None:
            return None
        self.log.take_over(stage, whole.seconds)
        self.resumed.append(stage)
        return whole.result

    @contextmanager
    def _sampler(self, policy: Policy) -> Iterator[Sampler]:
        """What samples the policy's turns, until the block ends."""
        recipe = self.inputs.recipe
        if recipe.server is None or recipe.lora is None:
            yield InProcess(policy)
            return
        base_model, workdir = self.inputs.base_model, self.inputs.workdir
        with served(policy, base_model, recipe, recipe.lora, recipe.server, workdir) as sampler:
            yield sampler

    def _voice(self, policy: Policy, sampler: Sampler) -> Voice:
        """The policy as both arms ask it."""
        generation = self.inputs.recipe.generation
        dialect = Dialect(policy.tokenizer, format_named(generation.format, policy.tokenizer))
        limits = Limits.of(generation, self.evaluation.max_turns)
        return Voice(sampler, dialect, limits, self.evaluation.temperature)

    def _require_engine(self) -> None:
        """The run's set-up: what the engine is too old for is known before anything is built."""
        sandbox = self.crew.sandbox
        reasons = [f"{p.name}: {r}" for p in self.packages if (r := sandbox.unbuildable(p))]
        if reasons:
            listed = "\n".join(reasons)
            raise PlatformFault("engine_too_old", f"The worker's engine is too old for:\n{listed}")
        with _sealed("setup"):
            suite = load_packages(self.inputs.suite)
            self.suite_tasks = len(suite)
            count = sum(1 for p in suite if self.suite_crew.sandbox.unbuildable(p))
        if count:
            told = f"The worker's engine is too old for {count} of the suite's tasks."
            raise PlatformFault("engine_too_old", told)

    def _trials(self, tasks: int) -> dict[StageName, int]:
        """How many trials the stages after the gate make, of so many training tasks."""
        tasks_held_out, trials, grpo = (
            self.suite_tasks,
            self.evaluation.trials,
            self.inputs.recipe.grpo,
        )
        return {
            "baseline": tasks_held_out * (1 + trials),
            "sft": tasks,
            "grpo": grpo.steps * min(grpo.prompts_per_step, tasks) * grpo.group_size,
            "final": tasks_held_out * trials,
        }

    def _gate(self) -> Gated:
        kept = self.kept.read("gate", Whole[tuple[GateResult, ...]])
        if (results := self._take_over("gate", kept)) is not None:
            return Gated.of(self.packages, results)
        with self.log.wordy_stage("gate") as progress:
            with _sealed("gate"):
                copies = near_copies(self.packages, load_packages(self.inputs.suite))
            min_tasks = self.inputs.challenge.gates.min_tasks
            gated = run_gate(self.packages, copies, min_tasks, self.crew, progress)
            self.kept.write("gate", progress.seconds, gated.results)
        return gated

    def _baseline(self, voice: Voice) -> Sequence[Trial]:
        kept = self._take_over("baseline", self.kept.read("baseline", Whole[_Baseline]))
        with _sealed("baseline"):
            packages = load_packages(self.inputs.suite)
            if kept is not None:
                self.suite = held_out(packages, self.inputs.suite_key, kept.oracles)
                return kept.trials
        with self._sealed_stage("baseline") as progress:
            progress.expect(self.log.trials["baseline"])
            self.suite = prepare_suite(packages, self.inputs.suite_key, self.suite_crew, progress)
            trials = self._measure("before", voice, progress)
            oracles = {task.id: task.oracle_passed for task in self.suite}
            self.kept.write(
                "baseline", progress.seconds, _Baseline(oracles=oracles, trials=tuple(trials))
            )
        return trials

    def _final(self, voice: Voice) -> Sequence[Trial]:
        kept = self._take_over("final", self.kept.read("final", Whole[tuple[Trial, ...]]))
        if kept is not None:
            return kept
        with self._sealed_stage("final") as progress:
            progress.expect(self.log.trials["final"])
            trials = self._measure("after", voice, progress)
            self.kept.write("final", progress.seconds, trials)
        return trials

    def _measure(self, arm: Arm, voice: Voice, progress: Progress) -> list[Trial]:
        return evaluate(arm, voice, self.suite, self.evaluation, self.suite_crew, progress)

    def _train(self, policy: Policy, voice: Voice, packages: tuple[TaskPackage, ...]) -> Training:
        weights_before, copy = policy.weights_digest(), policy.trained_copy()
        sft = self._sft(policy, voice, packages)
        grpo = self._grpo(policy, voice, packages)
        return Training(
            demonstrations=sft.demonstrations,
            sft_steps=len(sft.steps),
            sft_updates=counting(sft.steps),
            grpo_steps=len(grpo),
            grpo_updates=counting(grpo),
            grpo_groups_with_spread=sum(step.groups_with_spread or 0 for step in grpo),
            reward_curve=_curve(grpo),
            tensors=policy.changes_since(copy),
            weights_before=weights_before,
            weights_after=policy.weights_digest(),
        )

    def _sft(self, policy: Policy, voice: Voice, packages: tuple[TaskPackage, ...]) -> _Sft:
        kept = self._take_over("sft", self.kept.read_trained("sft", Whole[_Sft], policy))
        if kept is not None:
            return kept
        recipe, seed, output = self.inputs.recipe, self.evaluation.seed, self.inputs.workdir / "sft"
        longest, by = recipe.sft.max_length, self._demonstrator(voice.dialect)
        with self.log.wordy_stage("sft") as progress:
            rows = demonstrate(
                packages, by, voice.dialect, voice.limits, longest, self.crew, progress
            )
            updates = fine_tune(policy, rows, recipe, seed, output, self.crew, progress)
            made = _Sft(demonstrations=len(rows), steps=tuple(updates.steps))
            self.kept.write_trained("sft", progress.seconds, made, policy)
        return made

    def _demonstrator(self, dialect: Dialect) -> Demonstrator:
        settings, endpoint = self.inputs.recipe.demonstrations, self.inputs.teacher
        if settings == "oracle":
            return by_oracle(dialect)
        if endpoint is None:
            raise PlatformFault("no_teacher", "The worker knows no endpoint of the teacher.")
        teacher = Teacher(endpoint, settings)
        return by_teacher(teacher, settings.attempts, dialect, self.evaluation.seed)

    def _grpo(
        self, policy: Policy, voice: Voice, packages: tuple[TaskPackage, ...]
    ) -> Sequence[Update]:
        kind = Whole[tuple[Update, ...]]
        kept = self._take_over("grpo", self.kept.read_trained("grpo", kind, policy))
        if kept is not None:
            return kept
        recipe, seed = self.inputs.recipe, self.evaluation.seed
        voice = voice._replace(temperature=recipe.grpo.temperature)
        output = self.inputs.workdir / "grpo"
        with self.log.wordy_stage("grpo") as progress:
            made = reinforce(policy, packages, voice, recipe, seed, output, self.crew, progress)
            self.kept.write_trained("grpo", progress.seconds, made.steps, policy)
        return made.steps

    def _provenance(self, stage: StageName) -> dict[str, str]:
        """Digests of all that is used. The suite's is keyed: a plain one would let a guess at
        its content be tested."""
        inputs = self.inputs
        with _sealed(stage):
            suite = folder_digest(inputs.suite)
        return {
            **inputs.pins,
            "challenge_sha256": inputs.challenge.digest,
            "recipe_sha256": inputs.recipe.digest,
            "collection_sha256": collection_digest(package.root for package in self.packages),
            "suite_hmac": opaque_id(inputs.suite_key, suite),
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


def _curve(grpo: Sequence[Update]) -> tuple[CurvePoint, ...]:
    return tuple(
        CurvePoint(
            step=number,
            reward=step.reward,
            loss=step.loss,
            groups_with_spread=step.groups_with_spread,
            weights_changed=step.weights_changed,
        )
        for number, step in enumerate(grpo, start=1)
    )


def _collection(folder: Path) -> list[TaskPackage]:
    try:
        return load_packages(folder)
    except PackageError as exc:
        raise AuthorFault("collection_invalid", str(exc)) from exc
