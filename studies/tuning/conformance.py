"""What every optimizer must do, as checks that anyone can run on an optimizer of their own.

    from studies.tuning.conformance import check_any_process, check_optimizer
    check_optimizer(Climber)             # a class, or a function of (space, seed, calls)
    check_any_process("mine:Climber")    # by name, as for `pickbest measure --optimizers`

`check_beats_random` is for optimizers that learn. Each check raises AssertionError with one
sentence. Nothing here is random: seeds are fixed.
"""

import json
import logging
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from pickbest.core import PickbestError
from studies.tuning.optimizers import Factory, Optimizer, make_optimizer
from studies.tuning.space import Categorical, Integer, Point, Real, Space, Warp

MIXED = Space(
    (
        Real("linear", -1.0, 1.0),
        Real("log", 1e-5, 10.0, Warp.LOG),
        Real("logit", 0.01, 0.99, Warp.LOGIT),
        Integer("integer", 1, 5),
        Integer("bit", 0, 1),
        Integer("magnitude", 1, 1000, log=True),
        Categorical("kernel", ("rbf", "linear", "poly")),
    )
)
TINY = Space((Integer("bit", 0, 1), Categorical("kernel", ("rbf", "linear"))))
SMOOTH = Space(tuple(Real(f"x{i}", -5.0, 5.0) for i in range(5)))

# Enough for every model to have its say: designs and random starts take up to 20 calls.
CALLS = 24
SEED = 1

Loss = Callable[[int, Point], float]
"""loss(call, point)."""


def check_optimizer(factory: Factory, *, calls: int = CALLS, randomized: bool = True) -> None:
    """Run every check that needs no other process.

    calls: evaluations of a run. randomized: whether another seed must give other points.
    """
    check_points(factory, calls=calls)
    check_same_seed_same_points(factory, calls=calls)
    check_replayed_history(factory, calls=calls)
    check_losses(factory, calls=calls)
    check_global_state(factory, calls=calls)
    if randomized:
        check_other_seed_other_points(factory, calls=calls)


def check_points(factory: Factory, *, calls: int = CALLS) -> None:
    """Points are inside the space, also where there are fewer of them than calls."""
    for space, number in ((MIXED, calls), (TINY, 10)):
        _play(factory(space, SEED, number), space, number, _bowl(space))


def check_same_seed_same_points(factory: Factory, *, calls: int = CALLS) -> None:
    """The same seed and losses give the same points, also while another run goes on."""
    alone = _play(factory(MIXED, SEED, calls), MIXED, calls, _bowl(MIXED))
    first, second = factory(MIXED, SEED, calls), factory(MIXED, SEED, calls)
    for call, point in enumerate(alone):
        for optimizer in (first, second):
            again = _step(optimizer, MIXED, call, _bowl(MIXED))
            assert again == point, f"the same seed gave another point at call {call + 1}"


def check_other_seed_other_points(factory: Factory, *, calls: int = CALLS) -> None:
    """Another seed gives other points."""
    first, other = (
        _play(factory(MIXED, seed, calls), MIXED, calls, _bowl(MIXED)) for seed in (SEED, SEED + 1)
    )
    assert first != other, "two seeds gave the same points"


def check_replayed_history(factory: Factory, *, calls: int = CALLS) -> None:
    """Told what is known of a run, a new optimizer goes on as the old one did.

    The losses are no function of the points, and those that are known come from a file.
    """
    losses = np.random.default_rng(0).normal(size=calls).tolist()
    points = _play(factory(MIXED, SEED, calls), MIXED, calls, lambda call, point: losses[call])
    known = json.loads(json.dumps(list(zip(points, losses, strict=True))))[: calls // 2]
    resumed = factory(MIXED, SEED, calls)
    for call, (point, loss) in enumerate(known):
        asked = _ask(resumed, MIXED, call)
        assert asked == point, f"a replayed run asked for another point at call {call + 1}"
        _tell(resumed, call, point, loss)
    for call in range(len(known), calls):
        point = _step(resumed, MIXED, call, lambda call, point: losses[call])
        assert point == points[call], f"a resumed run went another way at call {call + 1}"


def check_losses(factory: Factory, *, calls: int = CALLS) -> None:
    """Any finite losses are taken: failures, told as the worst so far; equal, large, negative."""
    bowl = _bowl(MIXED)
    worst = 1.0

    def with_failures(call: int, point: Point) -> float:
        nonlocal worst
        worst = max(worst, bowl(call, point))
        return worst if call % 3 == 0 else bowl(call, point)

    kinds: dict[str, Loss] = {
        "failures told as the worst loss": with_failures,
        "nothing but failures": lambda call, point: 1.0,
        "large losses that are nearly equal": lambda call, point: 1e9 + call % 2,
        "negative losses": lambda call, point: bowl(call, point) - 1e6,
    }
    for kind, loss in kinds.items():
        try:
            _play(factory(MIXED, SEED, calls), MIXED, calls, loss)
        except AssertionError as error:
            raise AssertionError(f"with {kind}: {error}") from error


def check_global_state(factory: Factory, *, calls: int = CALLS) -> None:
    """The generators of `random` and `numpy.random` and logging are neither used nor changed."""
    undisturbed = _play(factory(MIXED, SEED, calls), MIXED, calls, _bowl(MIXED))
    with _restored():
        before = _disturbed()
        optimizer = factory(MIXED, SEED, calls)
        assert _global_state() == before, "making it changed the global random state or logging"
        for call, point in enumerate(undisturbed):
            before = _disturbed()
            again = _step(optimizer, MIXED, call, _bowl(MIXED))
            assert _global_state() == before, (
                f"call {call + 1} changed the global random state or logging"
            )
            assert again == point, f"call {call + 1} depends on the global random state"


def check_any_process(reference: str, *, calls: int = CALLS) -> None:
    """Fresh processes with other orders of sets give the same points, print and leave nothing.

    reference: a name, or module:ClassName, as `make_optimizer` takes it.
    """
    first, second = (_play_elsewhere(reference, calls, hash_seed) for hash_seed in (1, 2))
    assert first == second, "another process, with another order of sets, gave other points"


def check_beats_random(
    factory: Factory, *, calls: int = 100, seeds: Sequence[int] = (1, 2, 3)
) -> None:
    """On a smooth bowl in five dimensions the best loss is a fifth below that of random search.

    Both are medians: over the seeds, and over 200 random searches.
    """
    middle = SMOOTH.to_unit({f"x{i}": 1.0 + 0.3 * i for i in range(5)})

    def bowl(places: Any) -> Any:
        return np.square(places - middle).sum(axis=-1)

    best = []
    for seed in seeds:
        optimizer = factory(SMOOTH, seed, calls)
        points = _play(optimizer, SMOOTH, calls, lambda _, p: float(bowl(SMOOTH.to_unit(p))))
        best.append(min(bowl(SMOOTH.to_unit(point)) for point in points))
    chance = bowl(np.random.default_rng(0).random((200, calls, 5))).min(axis=1)
    ratio = float(np.median(best) / np.median(chance))
    assert ratio < 0.8, f"its best loss is {ratio:.2f} of that of random search"


def _play(optimizer: Optimizer, space: Space, calls: int, loss: Loss) -> list[Point]:
    return [_step(optimizer, space, call, loss) for call in range(calls)]


def _step(optimizer: Optimizer, space: Space, call: int, loss: Loss) -> Point:
    point = _ask(optimizer, space, call)
    _tell(optimizer, call, point, loss(call, point))
    return dict(point)


def _ask(optimizer: Optimizer, space: Space, call: int) -> Point:
    with _told_where("ask", call):
        point = optimizer.ask()
    try:
        space.check(point)
    except PickbestError as error:
        raise AssertionError(f"call {call + 1}: {error}") from error
    return point


def _tell(optimizer: Optimizer, call: int, point: Point, loss: float) -> None:
    with _told_where("tell", call):
        optimizer.tell(point, loss)


@contextmanager
def _told_where(method: str, call: int) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise AssertionError(f"{method} failed at call {call + 1}: {error!r}") from error


def _bowl(space: Space) -> Loss:
    """A smooth loss of either sign."""
    return lambda call, point: float(np.square(space.to_unit(point) - 0.3).sum()) - 0.5


def _global_state() -> tuple[Any, ...]:
    numpy: Any = np.random.get_state()  # noqa: NPY002
    return random.getstate(), numpy[1].tolist(), numpy[2:], logging.root.manager.disable


def _disturbed() -> tuple[Any, ...]:
    """The state after others have drawn, so that setting it anew shows."""
    random.random()
    np.random.random()  # noqa: NPY002
    return _global_state()


@contextmanager
def _restored() -> Iterator[None]:
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002


def _play_elsewhere(reference: str, calls: int, hash_seed: int) -> list[Point]:
    paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
    with TemporaryDirectory() as folder:
        own = {"PYTHONPATH": paths, "PYTHONHASHSEED": str(hash_seed), "TMPDIR": folder}
        program = [sys.executable, "-m", __name__, reference, str(calls)]
        result = subprocess.run(
            program, env={**os.environ, **own}, cwd=folder, capture_output=True, text=True
        )
        left = [path.name for path in Path(folder).iterdir()]
    *printed, points = result.stdout.splitlines() or [""]
    said = [*printed, *result.stderr.splitlines()]
    assert result.returncode == 0, f"its process ended with {result.returncode}: {said[-1:]}"
    assert not said, f"it printed {said[-1]!r}"
    assert not left, f"it left files behind: {', '.join(left)}"
    found: list[Point] = json.loads(points)
    return found


def main(reference: str, calls: str) -> None:
    """Play an optimizer and write its points, for `check_any_process`."""
    number = int(calls)
    optimizer = make_optimizer(reference, MIXED, SEED, number)
    sys.stdout.write(json.dumps(_play(optimizer, MIXED, number, _bowl(MIXED))))


if __name__ == "__main__":
    main(*sys.argv[1:])
