"""Semi-bandit feedback with two picks or more: bounds that hold for every number of rounds.

docs/two-picks.md has the setting and the proofs. `hedge-partial` draws an arm I from its law p, an
arm J from p without I, and for B ≥ 3 further B - 2 arms K uniformly from the others; for B = 2 the
second arm is J, or with probability e (explore) a uniform K. Arm a is looked at with a probability
Q(a) ≥ μ + ν p(a) given I, and its cost relative to I's is estimated by (c(a) - c(I)) / Q(a):

    B ≥ 3:  μ = (B - 2) / (N - 1), ν = 1 - μ, v = 1;    B = 2:  μ = e / (N - 1), ν = v = 1 - e.

v G is what the second draw saves: E min(c_I, c_J) ≤ E c_I - G, G = Σ_(i<j) p_i p_j |c_i - c_j|. All
bounds are on the expected regret against the best arm, for costs in [0, 1] that are fixed in
advance; against costs that react to the player, on the largest over a of the expected regret
against a. A law is follow-the-regularised-leader at rate z for Ψ = Σ ψ(p), and its regret is at
most (Ψ(e_a) - Ψ(1/N)) / z as soon as what the estimates cost, at most v G, is saved.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import FloatArray, PickbestError, check_budget, check_count, unknown_name
from pickbest.theory.two_picks import several

# Of θ between 0 and 1, in `law_is_safe`.
INTERVALS = 10**6


class Looks(NamedTuple):
    """μ, ν and v of the head of this module, and the factor that all bounds for B ≥ 3 have.

    Factor: where a is among the K, at most c(a) is paid, so regret against a is only incurred in
    the share 1 - μ of the rounds: E[paid - c(a)] ≤ (1 - μ) E[min(c_I, c_J) - c(a)].
    """

    uniform: float
    own: float
    saved: float
    factor: float


class Tuning(NamedTuple):
    """rate: z. stretch: g of ψ'' = 1 / (p (μ + ν p / g)); infinite: Shannon's entropy, Hedge.

    explore: the chance e that the second arm is a uniform one, where B = 2.
    """

    rate: float
    stretch: float
    explore: float


# What `hedge-partial` plays for B ≥ 3 and for B = 2, by its law. `law_is_safe` certifies the first
# pair; its stretch and explore make the bound smallest, to within half a percent. With Shannon's
# entropy, Hedge's law, 2 (cosh z - 1) ≤ v z is enough (docs/two-picks.md).
MORE_PICKS, TWO_PICKS = Tuning(0.9271, 1.4, 0.0), Tuning(0.7307, 1.285, 0.23)
LAWS = {
    "bose-einstein": (MORE_PICKS, TWO_PICKS),
    "shannon": (Tuning(0.9308, math.inf, 0.0), Tuning(0.4816, math.inf, 0.509)),
}


def looks(*, n_arms: int, budget: int, explore: float) -> Looks:
    """With which probabilities `hedge-partial` looks at arms.

    >>> looks(n_arms=11, budget=3, explore=0.0)
    Looks(uniform=0.1, own=0.9, saved=1.0, factor=0.9)
    """
    check_budget(several(budget), n_arms)
    if budget > 2:
        uniform = (budget - 2) / (n_arms - 1)
        return Looks(uniform, 1.0 - uniform, 1.0, (n_arms - budget + 1) / (n_arms - 1))
    if not 0.0 < explore < 1.0:
        raise PickbestError(f"explore must be between 0 and 1, got {explore!r}")
    return Looks(explore / (n_arms - 1), 1.0 - explore, 1.0 - explore, 1.0)


def relative_tuning(*, budget: int, law: str = "bose-einstein") -> Tuning:
    """What `hedge-partial` plays with a law: "bose-einstein", or for comparison "shannon".

    >>> relative_tuning(budget=3)
    Tuning(rate=0.9271, stretch=1.4, explore=0.0)
    """
    if law not in LAWS:
        raise unknown_name("law", law, LAWS)
    return LAWS[law][several(budget) == 2]


def hedge_partial_bound(*, n_arms: int, budget: int, law: str = "bose-einstein") -> float:
    """Expected regret of `hedge-partial`: factor · D / z, without a logarithm of N.

    With ν' = ν / g, p(a) = (μ/ν') / (e^(μ z (L(a) - τ)) - 1) minimises z ⟨p, L⟩ + Σ ψ(p) for
    ψ'' = 1 / (p (μ + ν' p)). D = Ψ(e_a) - Ψ(1/N) is

        (1/μ) { ln N - (1 + μ/ν') ln(μ + ν') - (N-1)(μ/ν') ln μ + (1 + N μ/ν') ln(μ + ν'/N) }.

    Proof sketch: along dp/dw = ± p (μ + ν' p) an estimate of ±Δ/Q moves p, and what that costs is
    at most p Δ A for a gain and p Δ C for a loss. Every unordered pair of arms is met once in each
    direction, so a round's estimates cost at most (A + C) G, and `law_is_safe` says A + C ≤ v.
    law: see `relative_tuning`. Where all arms are picked, 0.

    >>> [round(hedge_partial_bound(n_arms=32, budget=b), 1) for b in (2, 3, 4)]
    [141.3, 48.2, 30.5]
    """
    share = 1.0 / check_count("n_arms", n_arms)
    return _bound_from(
        n_arms, budget, law, share, lambda odds: (n_arms - 1) * math.log1p(odds * share)
    )


def hedge_partial_prior_bound(
    *, prior: ArrayLike, arm: int, budget: int, law: str = "bose-einstein"
) -> float:
    """Expected regret of `hedge-partial` against an arm, where its first law is π, the prior.

    factor · D / z for D = Ψ(e_a) - Ψ(π) - ⟨∇Ψ(π), e_a - π⟩, because the law with the first
    estimates -∇Ψ(π) / z is follow-the-regularised-leader for Ψ(p) - ⟨∇Ψ(π), p⟩, which has the same
    second derivatives; nothing else of the proof speaks of the start. D is

        (1/μ) { ln(1/π(a)) - (1 + μ/ν') ln((μ + ν') / (μ + ν' π(a))) }
        + (1/ν') Σ_(b ≠ a) ln(1 + ν' π(b) / μ),

    and ln(1/π(a)) / μ for Hedge's law, ν' = 0. prior: positive numbers, one per arm.

    >>> prior = [0.5] + [0.5 / 31] * 31
    >>> [round(hedge_partial_prior_bound(prior=prior, arm=a, budget=2), 1) for a in (0, 1)]
    [59.7, 160.3]
    """
    chances = np.asarray(prior, np.float64)
    if chances.ndim != 1 or not np.all(chances > 0.0) or not np.isfinite(chances).all():
        raise PickbestError(f"prior must be positive numbers, one per arm, got {prior!r}")
    n_arms, chances = len(chances), chances / chances.sum()
    if not 0 <= arm < n_arms:
        raise PickbestError(f"arm must be between 0 and {n_arms - 1}, got {arm!r}")
    others = np.delete(chances, arm)
    return _bound_from(
        n_arms, budget, law, float(chances[arm]), lambda odds: float(np.log1p(odds * others).sum())
    )


def _bound_from(
    n_arms: int, budget: int, law: str, own: float, others: Callable[[float], float]
) -> float:
    """factor · D / z of `hedge_partial_prior_bound`; own: π(a); others: Σ ln(1 + x π(b)) at x."""
    rate, stretch, explore = relative_tuning(budget=budget, law=law)
    mu, nu, _, factor = looks(n_arms=n_arms, budget=budget, explore=explore)
    if n_arms == budget:
        return 0.0
    distance, bent = -math.log(own) / mu, nu / stretch
    if bent > 0.0:
        distance -= (1.0 / mu + 1.0 / bent) * math.log((mu + bent) / (mu + bent * own))
        distance += others(bent / mu) / bent
    return factor * distance / rate


def watched_bound(*, n_arms: int, budget: int, watched: float) -> float:
    """Races whose losers are stopped, where each round is watched with probability ≥ `watched`.

    `hedge_partial_bound` / watched, for every number of rounds. A round is watched by a coin of its
    own, whose chance w_t may depend on the past and on the picked set; a watched round's estimates
    are divided by w_t, the others are 0. So Q(a) w_t ≥ w (μ + ν p), D becomes D / w for
    ψ'' = 1 / (p w (μ + ν p / g)), and v G is saved in every round, watched or not.

    >>> round(watched_bound(n_arms=10, budget=2, watched=0.1))
    371
    """
    if not 0.0 < watched <= 1.0:
        raise PickbestError(f"watched must be above 0 and at most 1, got {watched!r}")
    return hedge_partial_bound(n_arms=n_arms, budget=budget) / watched


def hidden_arm_lower_bound(*, n_arms: int, budget: int, rounds: int | None = None) -> float:
    """No learner that sees only its own arms has less worst-case expected regret.

    One arm, uniformly at random, costs 0, all others 1: after t rounds at most B t arms were tried,
    so round t costs at least 1 - B t / N: Σ_t (1 - B t / N)+, at most (N/B - 1) / 2 where B divides
    N. rounds: None for as many as it takes. (Guan 2026 has this lower bound, too.)

    >>> hidden_arm_lower_bound(n_arms=32, budget=2)
    7.5
    """
    check_budget(budget, n_arms)
    last = (n_arms - 1) // budget
    if rounds is not None:
        last = min(last, check_count("rounds", rounds))
    return last - budget * last * (last + 1) / (2.0 * n_arms)


def guan_bound(*, n_arms: int, budget: int, rounds: int | None = None) -> float:
    """Guan, "Bandits with Probing" (arXiv 2609.15248, 2026): its upper bound for this game.

    All picked costs are seen, costs fixed in advance. B = 2: 32 (N - √N), its Theorem 3. Else
    256 Φ, Φ = (N - B)/N · min(T, N/B); it also shows that nobody is below Φ/2, which
    `hidden_arm_lower_bound` reaches or exceeds.

    >>> [round(guan_bound(n_arms=10, budget=b)) for b in (2, 3)]
    [219, 597]
    """
    check_budget(several(budget), n_arms)
    longest = n_arms / budget
    if rounds is not None:
        longest = min(longest, float(check_count("rounds", rounds)))
    phi = (n_arms - budget) / n_arms * longest
    anchored = 32.0 * (n_arms - math.sqrt(n_arms)) if budget == 2 else math.inf
    return min(anchored, 256.0 * phi)


def law_is_safe(*, rate: float, stretch: float, saved: float) -> bool:
    """Whether a law's estimates never cost more than the second draw saves: A + C ≤ v, certified.

    With θ = ν'p / (μ + ν'p), between 0 and 1, m = z (1 - θ) / (1 + (g - 1) θ) and
    k = z / (1 + (g - 1) θ), an estimate of -1/Q costs at most p A and one of 1/Q at most p C, where

        A(θ) = E(m) Λ(θ k E(m)) - 1,    E(m) = (e^m - 1)/m,     Λ(x) = -ln(1 - x)/x,
        C(θ) = 1 - F(m) R(θ k F(m)),    F(m) = (1 - e^-m)/m,    R(x) = ln(1 + x)/x,

    because θ moves to θ e^(±m) and Q ≥ μ + ν p. E and Λ rise, F and R fall, m and k fall in θ: that
    bounds A and C on each of a million intervals of θ, to within 1e-5.

    >>> law_is_safe(rate=0.9271, stretch=1.4, saved=1.0)
    True
    >>> law_is_safe(rate=0.928, stretch=1.4, saved=1.0)
    False
    """
    ends = np.linspace(0.0, 1.0, INTERVALS + 1)
    gains, losses = gain_and_loss(rate, stretch, ends[:-1], ends[1:])
    # Errors of a dozen operations and functions in double precision are far below this.
    return float(gains.max() + losses.max()) <= saved - 1e-11


def gain_and_loss(
    rate: float, stretch: float, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Upper bounds on A(θ) and C(θ) for low ≤ θ ≤ high; A is infinite where none is known."""
    k = rate / (1.0 + (stretch - 1.0) * low)
    m = k * (1.0 - low)
    least = rate * (1.0 - high) / (1.0 + (stretch - 1.0) * high)
    rise, fall = _ratio(np.expm1(m), m), _ratio(-np.expm1(-m), m)
    up = high * k * rise
    down = high * k * _ratio(-np.expm1(-least), least)
    gain = rise * _ratio(-np.log1p(-np.minimum(up, 1.0 - 1e-9)), up) - 1.0
    return np.where(up < 1.0 - 1e-9, gain, np.inf), 1.0 - fall * _ratio(np.log1p(down), down)


def _ratio(values: FloatArray, arguments: FloatArray) -> FloatArray:
    """values / arguments, whose limit at 0 is 1."""
    small = arguments == 0.0
    ratio: FloatArray = np.where(small, 1.0, values / np.where(small, 1.0, arguments))
    return ratio
