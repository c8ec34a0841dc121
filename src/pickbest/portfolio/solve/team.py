"""The solvers of a session: one leads, others join when a check takes longer than usual.

The lead is told every command as it comes, and answers alone as long as checks are as quick as they
usually are. Others are started, or brought up to date with what is still asserted, when they are
needed. The first to say sat or unsat wins, answers what is asked about that check, and leads from
then on.
"""

from __future__ import annotations

import os
import select
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from pickbest.portfolio.run.answers.commands import Splitter
from pickbest.portfolio.solve.known import takes
from pickbest.portfolio.solve.script import ASK, CHECK, Stack, error
from pickbest.portfolio.solve.worker import Worker

# Seconds: how long the lead is alone at least and at most, where nothing else was learned, and how
# many times as long as its checks usually take.
SHORTEST_WAIT, LONGEST_WAIT, USUAL_TIMES = 0.05, 1.0, 3.0
# A first `unknown` waits so long for an answer, or as long as it took; so often the others may be
# waited for in vain, then it is final at once.
GRACE, VAIN = 0.1, 3
# A rival is started at one check and races the lead at the next ones: at check 2 at the earliest,
# then after four times as many checks, and as long as starting rivals takes a small share of the
# session's time; what a start costs in seconds is a guess.
FIRST_TRIAL, NEXT_TRIAL, TRIAL_RACES, TRIAL_SHARE = 2, 4, 3, 0.1
START_SECONDS, MODULE_SECONDS = 0.02, 0.3
# How much the last race says of a solver.
PACE = 0.2
# Checks that tell how long checks usually take.
RECENT = 20
INFINITE = float("inf")
NOBODY = error("no solver that is installed takes what is asserted")


class GoneError(Exception):
    """Nobody reads our answers any more."""


class Client:
    """Who talks to us, on two descriptors: commands that have come, and whether more may come."""

    def __init__(self, source: int, target: int) -> None:
        self.source, self.target = source, target
        self.commands: deque[bytes] = deque()
        self.at_end = False
        self._splitter = Splitter()

    def read(self) -> None:
        try:
            data = os.read(self.source, 1 << 16)
        except OSError:
            data = b""
        self.at_end = not data
        self.commands += self._splitter.feed(data or b"\n")

    def say(self, answer: bytes) -> None:
        data = answer + b"\n"
        try:
            while data:
                data = data[os.write(self.target, data) :]
        except OSError as problem:
            raise GoneError from problem


class Record:
    """What is known of sessions like this one: who wins, and how long the lead should be alone.

    scores: by solver, the share of races that it won; the last ones count most. wait: times the
    usual wait.
    """

    def __init__(self, known: Any = None) -> None:
        known = known if isinstance(known, dict) else {}
        scores, wait = known.get("scores"), known.get("wait")
        listed = scores.items() if isinstance(scores, dict) else ()
        self.scores = {name: score for name, score in listed if isinstance(score, float)}
        self.wait = min(max(wait, 0.1), 10.0) if isinstance(wait, float) else 1.0

    def told(self) -> dict[str, Any]:
        """As it is kept."""
        return {"scores": self.scores, "wait": self.wait}

    def score(self, name: str) -> float:
        """How good a solver is; whoever lost comes after those that have not raced yet."""
        return self.scores.get(name, 0.5)

    def raced(self, winner: str, racers: Sequence[str]) -> None:
        for name in racers:
            before = self.score(name)
            self.scores[name] = before + PACE * ((name == winner) - before)

    def joined(self, helped: bool) -> None:
        """Others that win should have come sooner; those that do not burn processor time."""
        self.wait = min(max(self.wait * (0.7 if helped else 1.2), 0.1), 10.0)


class Team:
    """The solvers, in step with what is asserted.

    workers: in the order of preference where nothing is known. budget: how many run at a time.
    recall: from a logic to what is known of sessions like this one.
    answerer: whom questions about the last check go to. reason: why it has no answer.
    """

    def __init__(
        self,
        workers: Sequence[Worker],
        stack: Stack,
        client: Client,
        budget: int = 2,
        recall: Callable[[str], Record] = lambda logic: Record(),
    ) -> None:
        self.workers = list(workers)
        self.stack = stack
        self.answerer: Worker | None = None
        self.reason = b""
        self._client = client
        self._budget = budget
        self._recall = recall
        self._record: Record | None = None
        self._started = time.monotonic()
        self._lead: Worker | None = None
        self._only = ""
        self._checks = 0
        self._last_check = b""
        self._recent: deque[float] = deque(maxlen=RECENT)
        self._vain = 0
        self._rival: Worker | None = None
        self._races_left, self._next_trial, self._trials_seconds = 0, FIRST_TRIAL, 0.0

    def close(self) -> None:
        for worker in self.workers:
            worker.kill()

    @property
    def record(self) -> Record:
        """What is known of sessions like this one, once its logic is known."""
        if self._record is None:
            self._record = self._recall(self.stack.logic)
        return self._record

    # The lead

    def led(self) -> Worker | None:
        """The lead, told everything; another one where it cannot go on."""
        lead = self._lead
        goes_on = lead is not None and lead.process is not None and not self._only
        if lead and goes_on and lead.sync(self.stack) and not self._has_refused(lead):
            return lead
        for worker in self._fit():
            if worker.sync(self.stack) and not self._has_refused(worker):
                self._lead = worker
                return worker
        return None

    def changed(self) -> bool:
        """Hand on what was asserted; False where no solver takes it."""
        self.forget()
        return self.led() is not None

    def forget(self) -> None:
        """What was asked last is not what holds now."""
        self.answerer, self.reason = None, b""

    def restarted(self) -> None:
        """After a reset, whoever can may answer again."""
        self.forget()
        self._only = ""

    def _fit(self) -> list[Worker]:
        """Solvers that take all that is asserted: the lead first, then as they are preferred."""
        score = self.record.score
        fit = [
            each
            for each in self.workers
            if (not self._only or each.dialect == self._only)
            and not self._has_refused(each)
            and takes(each.solver, self.stack.logic)
        ]
        return sorted(fit, key=lambda each: (each is not self._lead, -score(each.name)))

    def _has_refused(self, worker: Worker) -> bool:
        """Whether it does not take something that is asserted."""
        return any(self.stack.holds(each) for each in worker.refused)

    # Checks

    def check(self, command: bytes) -> bytes:
        """Race the solvers on a check; the answer.

        What comes before it need not be acknowledged yet: whoever refuses some of it says nothing.
        """
        self._checks += 1
        self._last_check = command
        self.forget()
        for worker in self.workers:
            worker.give_up()
        lead = self.led()
        if lead is None:
            return NOBODY
        lead.send(command, CHECK, self._checks)
        began = time.monotonic()
        seconds = self.stack.check_seconds
        limit = began + seconds if seconds else INFINITE
        join, final = began + self._patience(), INFINITE
        rival = self._racing_along(lead)
        racers = [lead]
        if rival is not None:
            rival.send(command, CHECK, self._checks)
            racers.append(rival)
        winner, answer = None, b"unknown"
        while winner is None:
            now = time.monotonic()
            if now >= min(limit, final):
                self.reason = b'"timeout"' if now >= limit else b""
                break
            idle = not any(each.is_busy for each in racers)
            if now >= join or idle:
                join = INFINITE
                if not self._join(racers) and idle:
                    break
                continue
            for worker, said in self._said(min(join, limit, final) - now, racers):
                if said in (b"sat", b"unsat") and winner is None:
                    winner, answer = worker, said
                elif said == b"unknown" and self.answerer is None:
                    self.answerer = worker
                    grace = max(time.monotonic() - began, GRACE)
                    final = time.monotonic() + grace if self._vain < VAIN else 0.0
                    join = 0.0
                elif said.startswith(b"(error") and answer == b"unknown":
                    answer = said
        if winner is None and self.answerer is not None:
            answer = b"unknown"
        self._ended(winner, racers, time.monotonic() - began, rival is None)
        return answer

    def _racing_along(self, lead: Worker) -> Worker | None:
        """A rival that is on trial; it is got ready at one check, and races at the next ones."""
        rival = self._rival
        if rival is not None:
            self._races_left -= 1
            fits = self._races_left > 0 and rival is not lead and rival in self._fit()
            if fits and rival.sync(self.stack):
                return rival
            self._rival = None
            for worker in self.workers:  # whoever lost has had its chance
                if worker is not lead:
                    worker.kill()
        elif self._checks >= self._next_trial and self._budget > 1:
            left = TRIAL_SHARE * (time.monotonic() - self._started) - self._trials_seconds
            for each in self._fit() if left >= START_SECONDS else []:
                cost = MODULE_SECONDS if each.found.is_module else START_SECONDS
                if each is not lead and cost <= left:
                    self._next_trial = NEXT_TRIAL * self._checks
                    self._trials_seconds += cost
                    self._rival, self._races_left = each, TRIAL_RACES + 1
                    each.sync(self.stack)
                    break
        return None

    def _patience(self) -> float:
        usual = sorted(self._recent)[len(self._recent) // 2] if self._recent else 0.0
        wait = min(max(USUAL_TIMES * usual, SHORTEST_WAIT), LONGEST_WAIT)
        return wait * self.record.wait

    def _join(self, racers: list[Worker]) -> bool:
        """Let others race; whether any could."""
        joined = False
        for worker in self._fit():
            if sum(each.is_busy for each in racers) >= self._budget:
                break
            if worker in racers:
                continue
            if worker.sync(self.stack) and not self._has_refused(worker):
                worker.send(self._last_check, CHECK, self._checks)
                racers.append(worker)
                joined = True
        return joined

    def _said(self, seconds: float, racers: Sequence[Worker]) -> list[tuple[Worker, bytes]]:
        """What racers say within some time; one that refuses what is asserted says nothing."""
        return [
            (worker, answer)
            for worker, kind, about, answer in self.pump(None if seconds == INFINITE else seconds)
            if kind == CHECK and about == self._checks and worker in racers
            if not self._has_refused(worker)
        ]

    def _ended(
        self, winner: Worker | None, racers: Sequence[Worker], seconds: float, by_joining: bool
    ) -> None:
        if winner is not None:
            self._recent.append(seconds)
        racers = [each for each in racers if not self._has_refused(each)]
        if len(racers) > 1:
            if winner is not None:
                self.record.raced(winner.name, [each.name for each in racers])
            self._vain = 0 if winner is not None else self._vain + 1
            if by_joining:
                self.record.joined(winner not in (None, self._lead))
        for worker in self.workers:
            if worker is not winner:
                worker.give_up()
        if winner is not None:
            self.answerer = self._lead = winner

    # Questions

    def ask(self, command: bytes) -> bytes:
        """What the solver of the last check says, else the lead."""
        worker = self.answerer
        if worker is None or worker.process is None or worker.is_busy:
            worker = self.led()
        return NOBODY if worker is None else self._asked(worker, command)

    def ask_dialect(self, command: bytes, dialect: str) -> bytes:
        """Commands of one dialect; from now on, only who speaks it may answer checks."""
        before = self.answerer
        if before is None or before.dialect != dialect:
            self._only = dialect
            worker = self.led()
            if worker is None:
                self._only = ""
                return b"unsupported"
            if before is not None:
                self._asked(worker, self._last_check)
            self.answerer = before = worker
        self._only = dialect
        return self._asked(before, command)

    def _asked(self, worker: Worker, command: bytes) -> bytes:
        token = object()
        worker.send(command, ASK, token)
        while worker.process is not None:
            for _, _, about, answer in self.pump(None):
                if about is token:
                    return answer
        return error("the solver ended")

    # Waiting

    def pump(
        self, seconds: float | None, lazily: bool = False
    ) -> list[tuple[Worker, str, Any, bytes]]:
        """Wait for anything: what solvers said of checks and questions.

        lazily: what was not written to solvers yet may wait.
        """
        poll, asked = select.poll(), {}
        poll.register(self._client.target, 0)  # tells when nobody reads any more
        if not self._client.at_end:
            poll.register(self._client.source, select.POLLIN)
        for each in self.workers:
            if each.process is not None:
                asked[each.output] = each
                poll.register(each.output, select.POLLIN)
                if not lazily and not each.flush():
                    poll.register(each.input, select.POLLOUT)
        found = []
        for descriptor, _ in poll.poll(None if seconds is None else max(seconds, 0.0) * 1e3):
            if descriptor == self._client.source:
                self._client.read()
            elif descriptor == self._client.target:
                raise GoneError
            elif descriptor in asked and asked[descriptor].process is not None:
                found += [(asked[descriptor], *each) for each in asked[descriptor].read()]
        return found
