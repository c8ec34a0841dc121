"""A portfolio's status as Prometheus reads it, for `/metrics`."""

from collections.abc import Iterable, Mapping

from pickbest._version import __version__
from pickbest.portfolio.store.views import Status

# The media type of Prometheus' text format.
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})

Samples = Iterable[tuple[Mapping[str, str], float]]


def metrics_of(status: Status) -> str:
    """Counts of rounds and arms, since the portfolio was made."""
    arms = [({"arm": arm.name}, arm) for arm in status.arms]
    rounds: Samples = [({"state": "finished"}, status.finished), ({"state": "lost"}, status.lost)]
    found = [
        _metric("info", "gauge", "The software and the learner.",
                [({"version": __version__, "learner": status.learner}, 1)]),
        _metric("rounds_total", "counter", "Rounds that were closed.", rounds),
        _metric("rounds_open", "gauge", "Rounds that were asked for and not closed yet.",
                [({}, status.open)]),
        _metric("cost_mean", "gauge", "Mean cost per finished round.",
                [] if status.mean_cost is None else [({}, status.mean_cost)]),
        _metric("arm_picked_total", "counter", "Rounds in which the arm was picked.",
                [(labels, arm.picked) for labels, arm in arms]),
        _metric("arm_won_total", "counter", "Rounds that the arm won.",
                [(labels, arm.won) for labels, arm in arms]),
        _metric("arm_failed_total", "counter", "Runs of the arm that crashed or were broken.",
                [(labels, arm.failed) for labels, arm in arms]),
        _metric("arm_seconds_total", "counter", "Seconds that the arm has run.",
                [(labels, arm.seconds) for labels, arm in arms]),
        _metric("arm_share", "gauge", "Probability that the arm is picked next.",
                [(labels, arm.share) for labels, arm in arms]),
    ]  # fmt: skip
    return "".join(found)


def _metric(name: str, kind: str, help_text: str, samples: Samples) -> str:
    """One metric with its samples; nothing where there are none."""
    lines = [f"pickbest_{name}{_labels(labels)} {float(value)!r}\n" for labels, value in samples]
    if not lines:
        return ""
    head = f"# HELP pickbest_{name} {help_text}\n# TYPE pickbest_{name} {kind}\n"
    return head + "".join(lines)


def _labels(labels: Mapping[str, str]) -> str:
    # A name that is not UTF-8 is shown with escapes.
    shown = {
        key: value.encode("utf-8", "backslashreplace").decode() for key, value in labels.items()
    }
    pairs = ",".join(f'{key}="{value.translate(ESCAPED)}"' for key, value in shown.items())
    return f"{{{pairs}}}" if pairs else ""
