"""The plan of a run: which steps of steps.toml run for a commit, a part, an area or a change, and in which order."""

from __future__ import annotations

import fnmatch
import subprocess
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
#: A landing runs one of so many parts of each sweep.
PARTS = 5
#: Commits within so many seconds count as one landing, unless they are merges.
LANDING_SECONDS = 3 * 3600
#: The values of `runs`, in the words of the table.
RUNS = {"landing": "each landing", "rotation": "rotation", "all": "`--all`", "hand": "by hand"}
LANES = ("front", "behind", "beside")


@dataclass(frozen=True)
class Step:
    """A row of steps.toml."""

    name: str
    command: str
    runs: str
    #: Expected, on an idle machine with two processors: from begin to end, and of processor time.
    seconds: int
    processor_seconds: int
    lane: str = "front"
    needs: tuple[str, ...] = ()
    #: Steps that must have ended before, if they run at all, even if they failed.
    after: tuple[str, ...] = ()
    areas: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    #: The parts in which a step of the rotation runs; empty: in all, each time with another part of its sweep.
    parts: tuple[int, ...] = ()
    #: Left out of --all, because another step does more.
    is_part_only: bool = False

    @property
    def is_sweep(self) -> bool:
        return any("{part}" in text for text in (self.command, *self.environment.values()))

    @property
    def seconds_max(self) -> int:
        """A step that takes longer is ended, so that its log is seen before the run itself is cut off. The time of a step behind
        begins when the front has ended."""
        return 600 + 2 * self.seconds

    def filled(self, part: str) -> tuple[str, dict[str, str]]:
        """The command and its environment for a part, `2/5` or `all`."""
        return self.command.replace("{part}", part), {name: value.replace("{part}", part) for name, value in self.environment.items()}


@dataclass(frozen=True)
class Table:
    steps: tuple[Step, ...]
    #: Patterns of paths, and the areas that a change there can break. The first pattern that matches decides.
    paths: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def areas(self) -> list[str]:
        return sorted({area for step in self.steps for area in step.areas})

    def step(self, name: str) -> Step:
        return next(step for step in self.steps if step.name == name)

    def with_needs(self, chosen: list[Step]) -> list[Step]:
        """The chosen steps and what they need, in the order of the table."""
        names = {step.name for step in chosen}
        waiting = list(names)
        while waiting:
            for name in self.step(waiting.pop()).needs:
                if name not in names:
                    names.add(name)
                    waiting.append(name)
        return [step for step in self.steps if step.name in names]

    def landing(self, part: int) -> list[Step]:
        """What a landing runs."""
        return [
            step for step in self.steps if step.runs == "landing" or (step.runs == "rotation" and (not step.parts or part in step.parts))
        ]

    def everything(self) -> list[Step]:
        """What --all runs, with the time that all parts of a sweep take."""
        return [
            replace(step, seconds=step.seconds * PARTS, processor_seconds=step.processor_seconds * PARTS) if step.is_sweep else step
            for step in self.steps
            if step.runs != "hand" and not step.is_part_only
        ]

    def of_areas(self, areas: set[str], part: int) -> list[Step]:
        """The steps of a landing that belong to an area, and what they need."""
        chosen = [step for step in self.landing(part) if areas & set(step.areas)]
        return self.with_needs(chosen)

    def areas_of(self, path: str) -> tuple[str, ...]:
        """The areas that a change of a path can break; all of them if no pattern matches."""
        for pattern, areas in self.paths:
            if fnmatch.fnmatchcase(path, pattern):
                return areas
        return tuple(self.areas)


def read(path: Path = HERE / "steps.toml") -> Table:
    """Reads the table. An unknown key or name is an error."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    steps = []
    for row in content["step"]:
        row = {key.replace("-", "_"): tuple(value) if isinstance(value, list) else value for key, value in row.items()}
        steps.append(Step(**row))
    table = Table(tuple(steps), tuple((row["pattern"], tuple(row["areas"])) for row in content["path"]))
    names = [step.name for step in steps]
    for step in steps:
        problem = (
            f"runs {step.runs}" if step.runs not in RUNS else
            f"the lane {step.lane}" if step.lane not in LANES else
            f"needs {step.needs}, after {step.after}" if not {*step.needs, *step.after} <= set(names) else
            "the same name twice" if names.count(step.name) > 1 else
            f"parts {step.parts}" if any(not 0 <= part < PARTS for part in step.parts) else None
        )  # fmt: skip
        if problem:
            raise ValueError(f"steps.toml: {step.name}: {problem}")
    return table


def git(*arguments: str, root: Path = ROOT) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


def landings(root: Path = ROOT) -> list[tuple[bool, int]]:
    """For each commit of the main line, oldest first: whether it is a merge, and its landing's number.

    A merge is a landing, and so are later commits of three hours: work that lands without merges lands a few times a day. A span of
    hours counts only until the next merge. If it counted for good, merges that follow each other by more than a span would skip a part.
    """
    merges, spans, found = 0, set(), []
    for line in reversed(git("log", "--first-parent", "--format=%ct %P", root=root).splitlines()):
        time, *parents = line.split()
        is_merge = len(parents) > 1
        if is_merge:
            merges, spans = merges + 1, set()
        spans.add(int(time) // LANDING_SECONDS)
        found.append((is_merge, merges + len(spans) - 1))
    return found


def part_of_head(root: Path = ROOT) -> int:
    """The part that the last commit runs; 0 in a shallow clone, which does not know its landings."""
    if git("rev-parse", "--is-shallow-repository", root=root).strip() == "true":
        return 0
    return landings(root)[-1][1] % PARTS


def longest_wait(numbers: list[int], parts: int = PARTS) -> int:
    """For how many landings in a row a part does not run, at most."""
    last, worst = dict.fromkeys(range(parts), -1), 0
    for index, number in enumerate(numbers):
        worst = max(worst, index - last[number % parts] - 1)
        last[number % parts] = index
    return max([worst] + [len(numbers) - 1 - index for index in last.values()])


def changed_paths(base: str | None, root: Path = ROOT) -> list[str]:
    """The paths that differ from a commit, also in files that are not committed. Without a base: from where main was left, or from the
    last commit but one."""
    if base is None:
        for candidate in ("origin/main", "main", "HEAD~1"):
            tried = subprocess.run(["git", "merge-base", "HEAD", candidate], cwd=root, check=False, capture_output=True, text=True)
            base = tried.stdout.strip()
            if tried.returncode == 0 and base != git("rev-parse", "HEAD", root=root).strip():
                break
        base = base or "HEAD"
    paths = git("diff", "--name-only", "--no-renames", base, root=root).splitlines()
    return sorted({*paths, *git("ls-files", "--others", "--exclude-standard", root=root).splitlines()})
