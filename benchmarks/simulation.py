"""Simulation speed beside the straightforward NumPy implementation and beside peers.

References run fewer replicates or rounds than ours and are scaled up: their time is
proportional to both.
"""

from __future__ import annotations

import importlib.metadata
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np

import reference
from pickbest.catalog import make_learner
from pickbest.environments import Table
from pickbest.player import Player
from pickbest.simulation.games import deal_all, play_dealt
from timing import Row, best_of, limit_row, ratio_row

N_ARMS, ROUNDS, REPLICATES = 9, 368, 100


def recorded_table(rounds: int = ROUNDS, n_arms: int = N_ARMS) -> np.ndarray:
    """Costs of the kind that the paper recorded: half of the rewards are exactly 0."""
    rng = np.random.default_rng(0)
    rewards = rng.random((rounds, n_arms)) * (rng.random((rounds, n_arms)) < 0.5)
    return 1.0 - rewards


def ours(table: np.ndarray, replicates: int, repeats: int = 3, **learner: object) -> float:
    """Seconds for whole games on the table."""
    built = make_learner(n_arms=table.shape[1], rounds=len(table), **learner)
    dealt = deal_all(Table(table), replicates, seed=0)
    return best_of(lambda: play_dealt(built, dealt, replicates, seed=0), repeats)


def partial_rows() -> list[Row]:
    """FPML-partial for B = 1..6, geometric and exact weights."""
    table = recorded_table()
    slow = fast = exact = 0.0
    for budget in range(1, 7):
        learner = make_learner("fpml-partial", N_ARMS, budget, ROUNDS, "as_run")

        def once(learner=learner, budget=budget):
            rng = np.random.default_rng(0)
            box = reference.PartialBox(N_ARMS, budget, learner.epsilon, learner.resamples, rng)
            reference.greedy(table, [box])

        slow += best_of(once, 2) * REPLICATES
        game = {"name": "fpml-partial", "budget": budget, "tuning": "as_run"}
        fast += ours(table, REPLICATES, **game)
        exact += ours(table, REPLICATES, **game, weights="exact")
    where = f"N={N_ARMS} T={ROUNDS} B=1..6, {REPLICATES} replicates"
    return [
        ratio_row(f"FPML-partial, geometric, {where}", fast, slow, 700),
        ratio_row(f"FPML-partial, exact weights, {where}", exact, slow, 200),
    ]


def greedy_rows() -> list[Row]:
    """OG with Exp3, and OG_hybrid."""
    table = recorded_table()
    game = {"n_arms": N_ARMS, "budget": 4, "rounds": ROUNDS, "tuning": "as_run"}
    exp3 = make_learner("og", **game).inner
    box = make_learner("og-hybrid", **game, slot_budget=2).inner

    def slow_og():
        rng = np.random.default_rng(0)
        reference.greedy(table, [reference.Exp3Box(N_ARMS, exp3.gamma, rng) for _ in range(4)])

    def slow_hybrid():
        rng = np.random.default_rng(0)
        boxes = [reference.PartialBox(N_ARMS, 2, box.epsilon, box.resamples, rng) for _ in range(2)]
        reference.greedy(table, boxes)

    where = f"N={N_ARMS} T={ROUNDS} B=4, {REPLICATES} replicates"
    fast_og = ours(table, REPLICATES, name="og", budget=4, tuning="as_run")
    fast_hybrid = ours(
        table, REPLICATES, name="og-hybrid", budget=4, tuning="as_run", slot_budget=2
    )
    return [
        ratio_row(f"OG with Exp3, {where}", fast_og, best_of(slow_og, 2) * REPLICATES, 300),
        ratio_row(
            f"OG_hybrid 2x2, {where}", fast_hybrid, best_of(slow_hybrid, 2) * REPLICATES, 300
        ),
    ]


def full_rows() -> list[Row]:
    """FPML with full feedback, one replicate, a million rounds."""
    rng = np.random.default_rng(1)
    table = rng.random((1_000_000, 10))
    part = table[:20_000]
    rows = []
    for budget in (1, 3, 6):
        learner = make_learner("fpml", 10, budget, len(table))

        def slow(budget=budget, epsilon=learner.epsilon):
            reference.fpml(part, budget, epsilon, np.random.default_rng(0))

        reference_seconds = best_of(slow, 2) * len(table) / len(part)
        fast = ours(table, 1, name="fpml", budget=budget)
        rows.append(ratio_row(f"FPML, N=10 T=10^6 B={budget}", fast, reference_seconds, 100))
    return rows


def auto_row() -> Row:
    """auto beside FPML-partial with exact weights: at most 5 times its time a round."""
    table = recorded_table(20_000, 10)
    exact = ours(table, 1, name="fpml-partial", budget=3)
    return ratio_row(
        "auto, N=10 T=20,000 B=3, beside exact FPML-partial",
        ours(table, 1, name="auto", budget=3),
        exact,
        0.2,
    )


def player_row() -> Row:
    """ask and tell from Python, round by round."""
    rounds = 20_000
    player = Player(make_learner("fpml-partial", 10, 3, 1_000_000), seed=0)
    costs = [0.3, 0.2, 0.9]

    def play():
        for _ in range(rounds):
            player.tell(player.ask(), costs)

    return limit_row("Player.ask + tell, 100,000 rounds", best_of(play) * 5, 1.0)


def peer_rounds() -> dict[str, Callable[[np.ndarray], None]]:
    """Exp3 of each installed peer, as a function that plays a table of rewards."""
    peers: dict[str, Callable[[np.ndarray], None]] = {}
    try:
        from river import bandit

        def river(rewards: np.ndarray) -> None:
            policy = bandit.Exp3(gamma=0.1, seed=0)
            arms = list(range(rewards.shape[1]))
            for row in rewards.tolist():
                arm = policy.pull(arms)
                policy.update(arm, row[arm])

        peers[f"river {importlib.metadata.version('river')}"] = river
    except ImportError:
        pass
    try:
        from pymab.policies.adversarial import EXP3Policy

        def pymab(rewards: np.ndarray) -> None:
            policy = EXP3Policy(n_arms=rewards.shape[1], gamma=0.1)
            rng = np.random.default_rng(0)
            for row in rewards.tolist():
                arm = policy.select_action(rng=rng)
                policy.update(action=arm, reward=row[arm])

        peers[f"pymab {importlib.metadata.version('pymab')}"] = pymab
    except ImportError:
        pass
    try:
        from mabwiser.mab import MAB, LearningPolicy

        def mabwiser(rewards: np.ndarray) -> None:
            # It has no Exp3; its softmax learner is the nearest.
            mab = MAB(list(range(rewards.shape[1])), LearningPolicy.Softmax(tau=1), seed=0)
            mab.fit([0], [0.0])
            for row in rewards[:300].tolist():
                arm = mab.predict()
                mab.partial_fit([arm], [row[arm]])

        peers[f"mabwiser {importlib.metadata.version('mabwiser')} (softmax)"] = mabwiser
    except ImportError:
        pass
    try:
        from SMPyBandits.Policies import Exp3

        def smpybandits(rewards: np.ndarray) -> None:
            policy = Exp3(rewards.shape[1], gamma=0.1)
            policy.startGame()
            for row in rewards.tolist():
                arm = policy.choice()
                policy.getReward(arm, row[arm])

        peers[f"SMPyBandits {importlib.metadata.version('SMPyBandits')}"] = smpybandits
    except ImportError:
        pass
    return peers


def bulk_rows() -> list[Row]:
    """Exp3 and Hedge in bulk, Bernoulli rewards, beside the straightforward loop and peers."""
    rng = np.random.default_rng(2)
    rewards = (rng.random((10_000, 10)) < np.linspace(0.3, 0.7, 10)).astype(float)
    costs = 1.0 - rewards
    replicates = 50
    random.seed(0)
    exp3 = ours(costs, replicates, name="exp3", budget=1)
    hedge = ours(costs, replicates, name="hedge", budget=1)
    part = costs[:4_000]

    def slow_exp3():
        reference.greedy(part, [reference.Exp3Box(10, 0.1, np.random.default_rng(0))])

    def slow_hedge():
        reference.hedge(part, 0.05, np.random.default_rng(0))

    scale = replicates * len(costs) / len(part)
    rows = [
        ratio_row("Exp3 in bulk, N=10, NumPy loop", exp3, best_of(slow_exp3, 2) * scale, 20),
        ratio_row("Hedge in bulk, N=10, NumPy loop", hedge, best_of(slow_hedge, 2) * scale, 20),
    ]
    for peer, play in peer_rounds().items():
        played = 300 if "mabwiser" in peer else len(rewards)
        seconds = best_of(lambda play=play: play(rewards), 2) * replicates * len(rewards) / played
        rows.append(ratio_row(f"Exp3 in bulk, N=10, {peer}", exp3, seconds, 20))
    return rows


def compile_row() -> Row:
    """First call after installation: what compiling all kernels of a reproduce run adds."""
    code = (
        "from pickbest.catalog import make_learner\n"
        "from pickbest.environments import Task2\n"
        "from pickbest.simulation.simulate import simulate\n"
        "names = ['fpml', 'fpml-partial', 'og', 'og-hybrid', 'thompson', 'uniform', 'leaders']\n"
        "learners = {n: make_learner(n, 10, 2, 20) for n in names}\n"
        "s = simulate(learners, Task2(20), 2)\n"
        "s.regret('fpml', 'best_subset')\n"
    )

    def run(folder: str) -> float:
        start = time.perf_counter()
        environment = {**os.environ, "PICKBEST_CACHE": folder}
        subprocess.run([sys.executable, "-c", code], check=True, env=environment)
        return time.perf_counter() - start

    with tempfile.TemporaryDirectory() as folder:
        cold, warm = run(folder), min(run(folder) for _ in range(2))
    return limit_row("compiling the kernels of a reproduce run, once", cold - warm, 10.0)


def rows() -> list[Row]:
    """Every simulation benchmark."""
    return [
        *partial_rows(),
        *greedy_rows(),
        *full_rows(),
        auto_row(),
        player_row(),
        *bulk_rows(),
        compile_row(),
    ]
