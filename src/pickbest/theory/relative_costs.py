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

import heapq
import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import PickbestError, check_budget, check_count, unknown_name
from pickbest.theory.two_picks import root_of, several


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


# What hedge-partial plays: (rate, stretch, explore) for B ≥ 3 and for B = 2. `law_is_safe`
# certifies both; stretch and explore make the bound smallest, to within half a percent.
MORE_PICKS, TWO_PICKS = Tuning(0.9271, 1.4, 0.0), Tuning(0.7307, 1.285, 0.23)


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
    """What `hedge-partial` plays with a law: "bose-einstein", or for comparison "plain" (no
    stretch) or Hedge's law at the rate of `pairing_bound`, "shannon", or `variance_bound`,
    "variances".

    >>> relative_tuning(budget=3)
    Tuning(rate=0.9271, stretch=1.4, explore=0.0)
    >>> round(relative_tuning(budget=2, law="shannon").rate, 3)
    0.482
    """
    several(budget)
    if law == "bose-einstein":
        return MORE_PICKS if budget > 2 else TWO_PICKS
    if law not in COMPARED:
        raise unknown_name("law", law, ("bose-einstein", *COMPARED))
    explore, stretch, rate = COMPARED[law]
    explore = 0.0 if budget > 2 else explore
    return Tuning(rate(1.0 - explore), stretch, explore)


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
    >>> [round(hedge_partial_bound(n_arms=32, budget=b, law="plain"), 1) for b in (2, 3, 4)]
    [149.0, 55.1, 35.9]
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


def hedge_partial_closed_bound(*, n_arms: int, budget: int, law: str = "bose-einstein") -> float:
    """A short form of `hedge_partial_bound`, never below it: a constant times N - B + 1.

    With k = B - 2 (e at B = 2) and h = 1/g (ν/g at B = 2), D / (N - 1) rises with N towards
    ln(1 + h/k) / h + ln(1 + k/h) / k, for "plain" ln((B-1)/(B-2)) + ln(B-1)/(B-2). Proof: D is
    ∫ ψ''(p) min((N - 1) p, 1 - p) dp; with p = x/N, the integrand of D / (N - 1) rises with N.

    >>> [round(hedge_partial_closed_bound(n_arms=n + 1, budget=2) / n, 2) for n in (10, 1000)]
    [4.86, 4.86]
    >>> [round(hedge_partial_closed_bound(n_arms=102, budget=3, law=x) / 100, 2)
    ...  for x in ("bose-einstein", "plain")]
    [1.76, 1.98]
    """
    rate, stretch, explore = relative_tuning(budget=budget, law=law)
    factor = looks(n_arms=n_arms, budget=budget, explore=explore).factor
    if math.isinf(stretch):
        raise PickbestError("law must be bose-einstein or plain: Hedge's bound grows with ln N")
    k = budget - 2 if budget > 2 else explore
    h = (1.0 if budget > 2 else 1.0 - explore) / stretch
    limit = math.log1p(h / k) / h + math.log1p(k / h) / k
    return factor * (n_arms - 1) * limit / rate


def pairing_bound(*, n_arms: int, budget: int) -> float:
    """Shannon's entropy (Hedge's law at rate μ z): factor · ln N / (μ z), 2 (cosh z - 1) = v z.

    Every unordered pair of arms is met with Δ and with -Δ, and
    f(Δ) + f(-Δ) = (2μ/η)(cosh(zΔ) - 1) ≤ |Δ| (2/z)(cosh z - 1) for
    f(Δ) = (μ/η)(e^(-ηΔ/μ) - 1 + ηΔ/μ), z = η/μ: 1.0744 (N - B + 1) ln N / (B - 2) for B ≥ 3,
    4.08 (N - 1) ln N for B = 2.

    >>> [round(pairing_bound(n_arms=10, budget=b), 1) for b in (2, 3)]
    [84.5, 19.8]
    """
    return hedge_partial_bound(n_arms=n_arms, budget=budget, law="shannon")


def variance_bound(*, n_arms: int, budget: int) -> float:
    """Shannon's entropy, by variances and without the factor: ln N / (μ z), 2 (e^z - 1 - z) = v z.

    `pairing_bound` is less. With V the variance of c_I, E Σ p ĉ² ≤ 2V/μ and E min(c_I, c_J) is at
    most E c_I - V: 1.31 (N - 1) ln N / (B - 2) for B ≥ 3, 4.62 (N - 1) ln N for B = 2.

    >>> [round(variance_bound(n_arms=10, budget=b), 1) for b in (2, 3)]
    [95.8, 27.2]
    """
    rate, _, explore = relative_tuning(budget=budget, law="variances")
    uniform = looks(n_arms=n_arms, budget=budget, explore=explore).uniform
    return math.log(n_arms) / (uniform * rate)


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


def guan_winner_bounds(*, n_arms: int, budget: int, rounds: int) -> tuple[float, float]:
    """(lower, upper) of Guan 2026 where only the winner's name and value are seen.

    (N - B)/N · min(T, (N + T)/B, √(N T/B)) up to the factors 1/1024 and 64, for arms that may
    depend on each other: without watched rounds, regret grows with time.

    >>> [round(side, 1) for side in guan_winner_bounds(n_arms=10, budget=2, rounds=10**6)]
    [1.7, 114486.7]
    """
    check_budget(budget, n_arms)
    check_count("rounds", rounds)
    order = min(rounds, (n_arms + rounds) / budget, math.sqrt(n_arms * rounds / budget))
    order *= (n_arms - budget) / n_arms
    return order / 1024.0, 64.0 * order


def law_is_safe(*, rate: float, stretch: float, saved: float) -> bool:
    """Whether a law's estimates never cost more than the second draw saves: A + C ≤ v, certified.

    With θ = ν'p / (μ + ν'p), between 0 and 1, m = z (1 - θ) / (1 + (g - 1) θ) and
    k = z / (1 + (g - 1) θ), an estimate of -1/Q costs at most p A and one of 1/Q at most p C, where

        A(θ) = E(m) Λ(θ k E(m)) - 1,    E(m) = (e^m - 1)/m,     Λ(x) = -ln(1 - x)/x,
        C(θ) = 1 - F(m) R(θ k F(m)),    F(m) = (1 - e^-m)/m,    R(x) = ln(1 + x)/x,

    because θ moves to θ e^(±m) and Q ≥ μ + ν p. E and Λ rise, F and R fall, m and k fall in θ: that
    bounds A and C on intervals of θ, which are halved until the largest bounds are tight.

    >>> law_is_safe(rate=0.9271, stretch=1.4, saved=1.0)
    True
    >>> law_is_safe(rate=0.928, stretch=1.4, saved=1.0)
    False
    """
    largest_gain = _largest(partial(_gain_over, rate, stretch))
    largest_loss = _largest(partial(_loss_over, rate, stretch))
    return largest_gain + largest_loss <= saved


# Relative errors of a dozen operations and functions in double precision are far below this.
_ROUNDING = 1e-12
# How far a certified maximum may lie above the true one.
_TIGHT = 1e-6


def _gain_over(rate: float, stretch: float, low: float, high: float) -> float:
    """An upper bound on A(θ) for low ≤ θ ≤ high; infinite where none is known."""
    m, k = _moved(rate, stretch, low)
    rise = _ratio(math.expm1(m), m)
    most = high * k * rise * (1.0 + _ROUNDING)
    if most >= 1.0:
        return math.inf
    return rise * _ratio(-math.log1p(-most), most) * (1.0 + _ROUNDING) - 1.0


def _loss_over(rate: float, stretch: float, low: float, high: float) -> float:
    """An upper bound on C(θ) for low ≤ θ ≤ high."""
    (m, k), (least, _) = _moved(rate, stretch, low), _moved(rate, stretch, high)
    most = high * k * _ratio(-math.expm1(-least), least) * (1.0 + _ROUNDING)
    fall = _ratio(-math.expm1(-m), m)
    return 1.0 - fall * _ratio(math.log1p(most), most) * (1.0 - _ROUNDING)


def _moved(rate: float, stretch: float, theta: float) -> tuple[float, float]:
    """m and k at θ."""
    k = rate / (1.0 + (stretch - 1.0) * theta)
    return k * (1.0 - theta), k


def _ratio(value: float, argument: float) -> float:
    """value / argument, whose limit at 0 is 1."""
    return value / argument if argument > 0.0 else 1.0


def _largest(bound: Callable[[float, float], float]) -> float:
    """An upper bound on the maximum over [0, 1], at most _TIGHT too high."""
    intervals = [(-bound(0.0, 1.0), 0.0, 1.0)]
    reached = -math.inf
    while True:
        top, low, high = heapq.heappop(intervals)
        middle = 0.5 * (low + high)
        reached = max(reached, bound(middle, middle))
        if -top - reached <= _TIGHT or high - low < 1e-12:
            return -top
        heapq.heappush(intervals, (-bound(low, middle), low, middle))
        heapq.heappush(intervals, (-bound(middle, high), middle, high))


def _plain_rate(saved: float) -> float:
    """z with -ln(1 - z) + e^-z - 1 = v z: A + C at a stretch of 1 (A at θ = 1, C at θ = 0)."""
    return _falling_root(lambda z: -math.log1p(-z) + math.expm1(-z) - saved * z)


def _pairing_rate(saved: float) -> float:
    """z with 2 (cosh z - 1) = v z."""
    return _falling_root(lambda z: 2.0 * (math.cosh(z) - 1.0) - saved * z)


def _falling_root(function: Callable[[float], float]) -> float:
    """The root between 0 and 1 of a convex function that is 0 and falling at 0, from below."""
    low, high = 1e-9, 1.0 - 1e-15
    while high - low > 1e-15:
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if function(middle) <= 0.0 else (low, middle)
    return low


# Laws for comparison: (explore where B = 2, stretch, the rate for a v).
COMPARED: dict[str, tuple[float, float, Callable[[float], float]]] = {
    "plain": (0.223, 1.0, _plain_rate),
    "shannon": (0.509, math.inf, _pairing_rate),
    "variances": (0.5337, math.inf, lambda saved: root_of(1.0 + saved / 2.0)),
}
