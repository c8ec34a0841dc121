"""A portfolio's status as Prometheus reads it, for `/metrics`."""

from collections.abc import Mapping

from pickbest.portfolio.store.views import Status

# The media type of Prometheus' text format.
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
# What is said of each arm: name, kind, help, and the field of its view.
OF_ARMS = (
    ("arm_picked_total", "counter", "Rounds in which the arm was picked.", "picked"),
    ("arm_won_total", "counter", "Rounds that the arm won.", "won"),
    ("arm_failed_total", "counter", "Runs of the arm that crashed or were broken.", "failed"),
    ("arm_seconds_total", "counter", "Seconds that the arm has run.", "seconds"),
    ("arm_share", "gauge", "Probability that the arm is picked next.", "share"),
)


def metrics_of(status: Status) -> str:
    """Counts of rounds and arms, since the portfolio was made."""
    closed = {'{state="finished"}': status.finished, '{state="lost"}': status.lost}
    mean = {} if status.mean_cost is None else {"": status.mean_cost}
    labels = [f'{{arm="{_escaped(arm.name)}"}}' for arm in status.arms]
    return "".join(
        [
            _metric("rounds_total", "counter", "Rounds that were closed.", closed),
            _metric("rounds_open", "gauge", "Rounds that are not closed yet.", {"": status.open}),
            _metric("cost_mean", "gauge", "Mean cost per finished round.", mean),
            *(
                _metric(name, kind, told, dict(zip(labels, values, strict=True)))
                for name, kind, told, field in OF_ARMS
                for values in [[getattr(arm, field) for arm in status.arms]]
            ),
        ]
    )


def _metric(name: str, kind: str, told: str, samples: Mapping[str, float]) -> str:
    """One metric with its samples by label."""
    head = f"# HELP pickbest_{name} {told}\n# TYPE pickbest_{name} {kind}\n"
    lines = [f"pickbest_{name}{label} {float(value)!r}\n" for label, value in samples.items()]
    return head + "".join(lines)


def _escaped(name: str) -> str:
    """A name that is not UTF-8 is shown with escapes."""
    return name.encode("utf-8", "backslashreplace").decode().translate(ESCAPED)
