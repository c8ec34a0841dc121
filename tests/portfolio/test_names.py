"""Arms that are names: quality, prices, cascades, in Python, TOML, over HTTP and by the client."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pickbest.client import AsyncClient, Client, ServiceError
from pickbest.core import PickbestError
from pickbest.portfolio import AskTell, ClosedRoundError, read_portfolio_file
from tests.portfolio.helpers import serve

QUALITY = {"gpt": 0.9, "mini": 0.7, "llama": 0.4}
PRICES = {"gpt": 0.3, "mini": 0.03, "llama": 0.01}
TOML = """
arms = ["gpt", "mini", "llama"]
budget = 3
rewards = true
trade = 0.5
cascade = true
storage = "router.db"
[prices]
gpt = 0.3
mini = 0.03
llama = 0.01
"""


def router(storage: str | Path = "sqlite://", **options: object) -> AskTell:
    settings = {"rewards": True, "prices": PRICES, "trade": 0.5, "cascade": True, **options}
    return AskTell(list(QUALITY), 3, storage, **settings)  # type: ignore[arg-type]


def play(book: AskTell, rounds: int, seed: int = 0) -> None:
    """Problems of different hardness: an arm is right on all that are easier than it is good."""
    rng = np.random.default_rng(seed)
    for number in range(rounds):
        hard = rng.random()
        ticket = book.ask(f"p{number}")
        while ticket is not None:
            book.tell(ticket, {arm: float(hard < QUALITY[arm]) for arm in ticket.arms})
            ticket = ticket.more()


def test_a_cascade_learns_to_pay_little_and_is_replayed(tmp_path: Path) -> None:
    with router(tmp_path / "r.db") as book:
        play(book, 150)
        status = book.status()
        assert (status.problems, status.rewards, status.trade) == (150, True, 0.5)
        assert status.finished > 150
        assert status.mean_cost is not None
        paid = status.mean_cost + 0.5 * status.spent / 150
        # gpt alone pays .25, everything .27; in the cheapest cascade about .18.
        assert paid < 0.23
        arms = {arm.name: arm for arm in status.arms}
        assert arms["gpt"].spent == pytest.approx(0.3 * arms["gpt"].picked)
        points = book.ledger.state.course.points
        assert [problems for problems, *_ in points] == list(range(1, 151))
        assert points[-1][2] == pytest.approx(150 * status.mean_cost)
        costs = [each.cost for each in status.frontier]
        assert costs == sorted(costs, reverse=True)
        prices = [each.price for each in status.frontier]
        assert prices == sorted(prices)
        book.verify()
    with AskTell.reopened(tmp_path / "r.db") as again:
        assert again.rewards
        assert again.status() == status
        again.verify()


def test_a_set_is_no_larger_than_it_is_worth() -> None:
    """At once, without a verifier: free calls are all made, dear ones are few."""
    sizes = []
    for trade in (0.0, 5.0):
        with router(trade=trade, cascade=False) as book:
            for _ in range(40):
                ticket = book.ask()
                book.tell(ticket, [QUALITY[arm] for arm in ticket.arms])
            sizes.append(len(book.ask().arms))
            with pytest.raises(PickbestError, match="only a portfolio with `cascade` goes on"):
                book.more(0)
            book.verify()
    assert sizes == [3, 1]


def test_going_on_is_said_once_and_in_order() -> None:
    with router() as book:
        ticket = book.ask("p")
        with pytest.raises(PickbestError, match="tell round 0 first"):
            ticket.more()
        book.tell(ticket, [0.0])
        second = ticket.more()
        assert second is not None
        assert (second, second.problem) == (ticket.more(), "p")
        assert set(second.arms).isdisjoint(ticket.arms)
        book.tell(second, [1.0])
        assert second.more() is None
        with pytest.raises(ClosedRoundError, match="was gone on with already"):
            ticket.more()
        with pytest.raises(PickbestError, match="unknown round 9"):
            book.more(9)
        status = book.status()
        assert (status.problems, status.finished, status.mean_cost) == (1, 2, 0.0)
        assert [view.after for view in book.history()] == [-1, 0]
        book.verify()
    with AskTell(["a", "b"], 1, learner="uniform") as plain:
        plain.tell(first := plain.ask(), [0.0])
        with pytest.raises(PickbestError, match="only a portfolio with `cascade`"):
            first.more()


def test_prices_may_come_with_results() -> None:
    with AskTell(["dear", "cheap"], 1, rewards=True, trade=1.0) as book:
        for _ in range(60):
            ticket = book.ask()
            price = 0.9 if ticket.arms == ("dear",) else 0.01
            book.tell(ticket, [0.8], prices=[price])
        status = book.status()
        assert {arm.name: arm.share for arm in status.arms}["cheap"] > 0.7
        assert status.spent == pytest.approx(
            sum({"dear": 0.9, "cheap": 0.01}[arm.name] * arm.picked for arm in status.arms)
        )
        ticket = book.ask()
        for wrong in ([-1.0], [float("nan")], ["x"], [1.0, 2.0], {"other": 1.0}):
            with pytest.raises(PickbestError, match=r"price|prices"):
                book.tell(ticket, [0.5], prices=wrong)  # type: ignore[arg-type]
        with pytest.raises(PickbestError, match="rewards must be between 0 and 1"):
            book.tell(ticket, [1.5])
        book.tell(ticket, {ticket.arms[0]: 0.5})
        book.verify()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("budget = 3", "budget = 3\ndeadline = 9"), "arms that are names 'deadline'"),
        (("budget = 3", 'budget = 3\nengine = "local"'), "unknown key for arms that are names"),
        (("llama = 0.01", "lama = 0.01"), "unknown arm of the prices 'lama'"),
        (('"llama"', "7"), "arms must be a list of names"),
        (("budget = 3", 'budget = 3\nlearner = "thompson"'), "prices need the learner 'calls'"),
        (("trade = 0.5", "trade = -1.0"), "trade must be a number of at least 0"),
    ],
)
def test_names_in_toml(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    path = tmp_path / "router.toml"
    path.write_text(TOML)
    file = read_portfolio_file(path)
    assert (file.names, file.budget, file.settings.rewards) == (tuple(QUALITY), 3, True)
    with pytest.raises(PickbestError, match="nothing to run"):
        file.open()
    path.write_text(TOML.replace(*change))
    with pytest.raises(PickbestError, match=message):
        AskTell((file := read_portfolio_file(path)).names, 3, settings=file.settings)


@pytest.fixture
def served_names(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """`pickbest serve router.toml`; the store is made by it."""
    (tmp_path / "router.toml").write_text(TOML)
    process, address = serve(tmp_path / "router.toml")
    try:
        yield address, tmp_path / "router.db"
    finally:
        process.terminate()
        process.wait(timeout=30.0)


def test_the_client_asks_tells_and_goes_on(served_names: tuple[str, Path]) -> None:
    address, store = served_names
    with Client(address) as client:
        ticket = client.ask("p", features={"words": 12, "language": "en"}, lifetime=60.0)
        client.tell(ticket, {ticket.arms[0]: 0.0}, answer={"text": "no"})
        second = ticket.more()
        assert second is not None
        client.tell(second, costs=[0.25], prices=[0.5])
        with pytest.raises(ClosedRoundError, match=r"409: .*told already"):
            client.tell(second, [0.75])
        with pytest.raises(ServiceError, match=r"422: .*either costs or rewards"):
            client.tell(ticket)
        with pytest.raises(ClosedRoundError, match="409: features must be the 2"):
            client.ask("q", features={"words": 12})
        tickets = client.ask_many(["a", "b"])
        client.tell_many([(each, [1.0]) for each in tickets])
        status = client.status()
        assert (status["problems"], status["rewards"]) == (3, True)
        assert status["spent"] > 0.5

    async def together() -> None:
        async with AsyncClient(address) as client:
            tickets = await asyncio.gather(*(client.ask(f"x{n}") for n in range(8)))
            assert len({each.round for each in tickets}) == 8
            await asyncio.gather(*(client.tell(each, [0.5]) for each in tickets))
            further = await tickets[0].more()
            assert further is None or further.problem == tickets[0].problem

    asyncio.run(together())
    with AskTell.reopened(store) as book:
        book.verify()


def test_pages_say_quality_and_price(tmp_path: Path) -> None:
    """status and report of names: no seconds, no PAR2."""
    with router(tmp_path / "r.db") as book:
        play(book, 30)
    command = [sys.executable, "-m", "pickbest.cli.main"]
    done = subprocess.run(
        [*command, "status", str(tmp_path / "r.db")], capture_output=True, text=True
    )
    shown = " ".join(done.stdout.split())
    assert "30 problems finished" in shown
    assert "fixed: choices in hindsight, estimated" in shown
    assert "seconds" not in shown
    out = tmp_path / "page"
    report = [*command, "report", str(tmp_path / "r.db"), "--out", str(out)]
    done = subprocess.run(report, capture_output=True, text=True)
    assert done.stdout.startswith("30 problems: "), done.stderr
    page = next(out.glob("*.html")).read_text()
    assert "Quality against money" in page
    assert "PAR2" not in page
    assert (out / "tables" / "money.csv").exists()


def test_http_says_what_is_wrong_with_a_request() -> None:
    testclient = pytest.importorskip("fastapi.testclient")
    from pickbest.portfolio.service.app import create_app

    with AskTell(["a", "b"], 1, rewards=True, learner="uniform") as book:
        client = testclient.TestClient(create_app(book))
        body = '{"problem": "p"}'
        answer = client.post("/api/ask", content=body, headers={"content-type": "text/plain"})
        assert (answer.status_code, "Content-Type: application/json" in answer.text) == (422, True)
        ticket = client.post("/api/ask", json={}).json()
        for told, code, message in (
            ({"rewards": {"z": 0.5}}, 400, "needs the rewards of"),
            ({"rewards": [0.5, 0.5]}, 400, "has 1 arms, got 2 rewards"),
            ({"costs": [0.5], "rewards": [0.5]}, 422, "either costs or rewards"),
            ({"rewards": [0.5], "prices": [-1.0]}, 422, "greater than or equal to 0"),
        ):
            answer = client.post("/api/tell", json={"round": 0, **told})
            assert (answer.status_code, message in answer.text) == (code, True), answer.text
        assert client.post(
            "/api/tell", json={"round": 0, "costs": {ticket["arms"][0]: 0.25}}
        ).is_success
        assert book.status().mean_cost == 0.25


def test_a_told_round_is_told_once_however_often_it_arrives() -> None:
    """The first answer is lost; the second attempt finds that the first had counted."""
    httpx = pytest.importorskip("httpx")
    testclient = pytest.importorskip("fastapi.testclient")
    from pickbest.portfolio.service.app import create_app

    with AskTell(["a", "b"], 1, rewards=True, learner="uniform") as book:
        client = Client("http://testserver", patience=(0.0, 0.0))
        inside = testclient.TestClient(create_app(book))
        lost = [1]

        def request(method: str, path: str, json: object) -> object:
            answer = inside.request(method, path, json=json)
            if path.endswith("tell") and lost:
                lost.clear()
                raise httpx.ReadTimeout("the answer was lost")
            return answer

        client._http = type("Http", (), {"request": staticmethod(request), "close": lambda s: 0})()
        client.tell(client.ask(), [0.75])
        assert (book.status().finished, book.status().mean_cost) == (1, 0.25)
        # Somebody else told one of a batch, and the first attempt never arrived: say so.
        both = client.ask_many(["p", "q"])
        book.tell(both[0], [0.5])

        def refused(method: str, path: str, json: object) -> object:
            client._http.request = request
            raise httpx.ConnectError("refused")

        client._http.request = refused
        with pytest.raises(ClosedRoundError, match=r"told already.*still open"):
            client.tell_many([(each, [1.0]) for each in both])
        assert book.status().finished == 2
        gone = Client("http://127.0.0.1:9", patience=())
        with pytest.raises(ServiceError, match="cannot be reached"):
            gone.ask()
        gone.close()


@pytest.mark.slow
def test_nothing_is_lost_when_the_server_is_killed(tmp_path: Path) -> None:
    """16 clients, batches with 384 features; the server is killed and started anew on its port."""
    config = tmp_path / "router.toml"
    config.write_text(TOML)
    process, address = serve(config)
    port = int(address.rstrip("/").rpartition(":")[2])
    told: list[int] = []
    lock = threading.Lock()

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        with Client(address, patience=(0.5,) * 40) as client:
            for _ in range(3):
                features = [list(map(float, row)) for row in rng.standard_normal((8, 384))]
                tickets = client.ask_many([f"{seed}"] * 8, features)
                client.tell_many([(each, [0.5]) for each in tickets])
                with lock:
                    told.extend(each.round for each in tickets)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
    for thread in threads:
        thread.start()
    while len(told) < 64:
        threads[0].join(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process, _ = serve(config, port)
    for thread in threads:
        thread.join()
    process.terminate()
    process.wait(timeout=30.0)
    assert len(told) == len(set(told)) == 16 * 3 * 8
    with AskTell.reopened(tmp_path / "router.db") as book:
        finished = {view.round for view in book.history() if view.state == "finished"}
        assert finished == set(told)
        book.verify()
