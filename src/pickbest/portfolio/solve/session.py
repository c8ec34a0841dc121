"""`pickbest solve -in`: an SMT-LIB session that several solvers take part in.

One solver, the lead, is told every command as it comes, and answers alone as long as checks are as
quick as they usually are. When a check takes longer, others join: they are started, or brought up
to date with the frames that are still asserted, and race the lead. The first to say sat or unsat
wins, answers what is asked about that check, and is the lead from then on.
"""

from __future__ import annotations

import os
import random
import re
import select
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pickbest.portfolio.solve.script import Splitter, error, head_of
from pickbest.portfolio.solve.worker import (
    ASK,
    CHECK,
    QUIET,
    STATE,
    SUCCESS,
    Command,
    Frame,
    Worker,
)

# Seconds: how long the lead is alone at least and at most, where nothing else was learned, and how
# many times as long as its checks usually take.
SHORTEST_WAIT, LONGEST_WAIT, USUAL_TIMES = 0.05, 1.0, 3.0
# A first `unknown` waits so long for an answer, or as long as it took.
GRACE = 0.1
# After a check under assumptions that is unsat, yices 2.6.5 may call the next check sat although
# what is asserted alone is unsat: it is started anew before it is asked again.
FORGETFUL = "yices"
# So often the others may wait for an `unknown` in vain; then it is final at once.
VAIN = 3
# A rival is tried at check 2, 8, 32, …: it is started at one check and races the lead at the next
# ones, as long as that takes a small share of the session's time; a start is taken to cost so much.
FIRST_TRIAL, NEXT_TRIAL, TRIAL_RACES = 2, 4, 3
TRIAL_SHARE, TRIAL_SECONDS = 0.1, 0.03
START_SECONDS, MODULE_SECONDS = 0.02, 0.3
# Checks that tell how long checks usually take.
RECENT = 20
# Answers of the lead that may be outstanding before they are waited for.
MOST_OWED = 512
# Seconds for which a command that nobody waits for may wait for the next one.
BURST = 0.01
# Commands of one dialect: those that change the state, and those that ask.
Z3_STATE = {"assert-soft", "minimize", "maximize", "declare-rel", "declare-var", "rule"}
Z3_ASKS = {"eval", "labels", "simplify", "apply", "get-objectives", "display", "help", "query"}
DECLARING = (
    "declare-fun", "declare-const", "declare-sort", "declare-datatype", "declare-datatypes",
    "define-fun", "define-fun-rec", "define-funs-rec", "define-sort", "define-const",
)  # fmt: skip
CHANGING = {*DECLARING, "assert", "set-logic"}
_OPTION = re.compile(rb"\(\s*set-option\s+:([^\s()]+)\s+(.*?)\s*\)\s*$", re.S)
_KEYWORD = re.compile(rb":([^\s()]+)")
_NUMBER = re.compile(rb"\d+")
_LOGIC = re.compile(rb"\(\s*set-logic\s+([^\s()]+)")
_TEXT = re.compile(rb'"(?:[^"]|"")*"')
# Options that every solver knows; others are for z3, whose options they mostly are.
_STANDARD = re.compile(rb"produce-|global-decl|random-seed|reproducible|interactive-mode|verbosity")
_TIMEOUT = re.compile(rb"(?:smt\.|solver\.)?(?:soft_)?timeout|tlimit-per|time-limit-per", re.I)


class Settings(NamedTuple):
    """How a session goes.

    budget: solvers that run at a time. check_seconds, deadline: limits of a check, and of all; 0:
        none. name, version: who we say that we are. quotes: echo says its text in quotes, as the
        standard has it, and as z3 and yices do not.
    """

    budget: int = 2
    check_seconds: float = 0.0
    deadline: float = 0.0
    name: str = "pickbest"
    version: str = ""
    quotes: bool = False


class Record:
    """What is known of sessions like this one: who wins, and how long the lead should be alone.

    wins, losses: of races that a solver took part in. wait: times the usual wait.
    """

    def __init__(self, known: Any = None) -> None:
        known = known if isinstance(known, dict) else {}
        self.wins = _counts(known.get("wins"))
        self.losses = _counts(known.get("losses"))
        wait = known.get("wait")
        self.wait = min(max(wait, 0.1), 10.0) if isinstance(wait, float) else 1.0

    def told(self) -> dict[str, Any]:
        """As it is kept; what is old counts less."""
        return {
            "wins": {name: round(0.98 * count, 3) for name, count in self.wins.items()},
            "losses": {name: round(0.98 * count, 3) for name, count in self.losses.items()},
            "wait": self.wait,
        }

    def sample(self, name: str) -> float:
        """How good a solver may be (Thompson's rule)."""
        return random.betavariate(1.0 + self.wins.get(name, 0.0), 1.0 + self.losses.get(name, 0.0))

    def raced(self, winner: str, racers: Sequence[str]) -> None:
        for name in racers:
            counts = self.wins if name == winner else self.losses
            counts[name] = counts.get(name, 0.0) + 1.0

    def joined(self, helped: bool) -> None:
        """Others that win should have come sooner; those that do not burn processor time."""
        self.wait = min(max(self.wait * (0.7 if helped else 1.2), 0.1), 10.0)


class Session:
    """One session, on two descriptors.

    workers: in the order of preference where nothing is known. recall: from a logic to what is
    known of sessions like this one.
    """

    def __init__(
        self,
        workers: Sequence[Worker],
        settings: Settings,
        recall: Callable[[str], Record] = lambda logic: Record(),
        streams: tuple[int, int] = (0, 1),
    ) -> None:
        self.workers = list(workers)
        self.settings = settings
        self.record: Record | None = None
        self.logic = "ALL"
        self._recall = recall
        self.checks = 0
        self._input, self._output = streams
        self._frames = [Frame()]
        self._generation = 0
        self._is_loud = False
        self._keeps_declarations = False
        self._options: dict[bytes, bytes] = {}
        self._check_seconds = settings.check_seconds
        self._started = time.monotonic()
        self._lead: Worker | None = None
        # Whom questions about the last check go to; why there was no answer to it.
        self._answerer: Worker | None = None
        self._reason = b""
        self._last_check = b""
        self._only = ""
        self._owed: deque[tuple[Command | None, Frame, bool]] = deque()
        self._recent: deque[float] = deque(maxlen=RECENT)
        self._vain = 0
        self._rival: Worker | None = None
        self._races_left = 0
        self._next_trial = FIRST_TRIAL
        self._trials_seconds = 0.0
        self._commands: deque[bytes] = deque()
        self._splitter = Splitter()
        self._at_end = False
        self._poll = select.poll()
        self._poll.register(self._input, select.POLLIN)
        self._poll.register(self._output, 0)  # tells when nobody reads any more
        self._polled: dict[int, Worker] = {}

    # Commands

    def run(self) -> int:
        """Until the input ends; the exit code."""
        try:
            while True:
                while not self._commands:
                    if not self._at_end and self._owed and not self._is_loud:
                        # Nobody waits for these answers: most commands come in bursts, and are
                        # handed on together.
                        self._pump(BURST, lazily=True)
                        if self._commands:
                            break
                    self._settle()
                    if self._commands:  # they came meanwhile
                        break
                    if self._at_end:
                        return 0
                    self._pump(None)
                command = self._commands.popleft()
                if head_of(command) == "exit":
                    self._settle()
                    self._say_success()
                    return 0
                self._one(command, head_of(command))
                if len(self._owed) > MOST_OWED:
                    self._settle()
        except _GoneError:
            return 128 + signal.SIGPIPE
        except _LateError:
            self._say(b"timeout")
            return 0
        finally:
            for worker in self.workers:
                worker.kill()

    def _one(self, command: bytes, head: str) -> None:
        if head in CHANGING or head in Z3_STATE:
            self._change(command, head)
        elif head in ("push", "pop"):
            self._level(command, head)
        elif head in ("check-sat", "check-sat-assuming"):
            self._settle()
            self._say(self._check(command))
        elif head == "set-option":
            self._set_option(command)
        elif head == "set-info":
            self._owe(None)
        elif head in ("reset", "reset-assertions"):
            self._reset(head)
        else:
            self._settle()
            self._say(self._answered(command, head))

    def _answered(self, command: bytes, head: str) -> bytes:
        """The answer to a command that changes nothing."""
        keyword = _KEYWORD.search(command)
        about = keyword[1] if keyword else b""
        if head == "echo":
            text = _TEXT.search(command)
            shown = text[0] if text else b'""'
            return shown if self.settings.quotes else shown[1:-1].replace(b'""', b'"')
        if head == "get-info":
            ours = {
                b"name": b'"%s"' % self.settings.name.encode(),
                b"version": b'"%s"' % self.settings.version.encode(),
                b"authors": b'"the authors of the solvers that pickbest runs"',
                b"error-behavior": b"continued-execution",
                b"assertion-stack-levels": b"%d" % (len(self._frames) - 1),
                **({b"reason-unknown": self._reason} if self._reason else {}),
            }
            if about in ours:
                return b"(:%s %s)" % (about, ours[about])
        if head == "get-option":
            known = {b"print-success": b"true" if self._is_loud else b"false", **self._options}
            if about in known:
                return known[about]
        if not head:
            return error(f"a command is expected, got {command[:80].decode(errors='replace')}")
        if head in Z3_ASKS:
            return self._ask_dialect(command, "z3")
        return self._ask(command)

    def _change(self, command: bytes, head: str) -> None:
        dialect = "z3" if head in Z3_STATE else ""
        if head == "set-logic":
            command = command.replace(b"ALL_SUPPORTED", b"ALL")
            found = _LOGIC.match(command)
            self.logic = found[1].decode(errors="replace") if found else "ALL"
        is_global = self._keeps_declarations and head in DECLARING
        frame = self._frames[0] if is_global else self._frames[-1]
        said = Command(command, STATE, dialect, is_global)
        frame.commands.append(said)
        self._answerer, self._reason = None, b""
        lead = self._led()
        if lead is None:
            frame.commands.pop()
            self._settle()
            self._say(error("no solver that is installed takes this"))
            return
        self._owed.append((said, frame, self._is_loud))

    def _level(self, command: bytes, head: str) -> None:
        found = _NUMBER.search(command)
        count = int(found[0][:6]) if found else 1
        if head == "pop" and count >= len(self._frames):
            self._settle()
            self._say(error(f"pop {count}: only {len(self._frames) - 1} levels were pushed"))
            return
        if head == "pop":
            # What was asked of the levels that go must be answered before.
            self._settle()
            del self._frames[len(self._frames) - count :]
        else:
            self._frames += [Frame() for _ in range(count)]
        self._answerer, self._reason = None, b""
        self._led()
        self._owe(None)

    def _set_option(self, command: bytes) -> None:
        found = _OPTION.match(command)
        name, value = (found[1], found[2]) if found else (b"", b"")
        self._settle()
        if name == b"print-success":
            self._is_loud = value == b"true"
        elif _TIMEOUT.fullmatch(name):
            number = _NUMBER.match(value)
            self._check_seconds = int(number[0]) / 1e3 if number else 0.0
        elif name.endswith(b"output-channel"):
            pass  # there is one channel here
        else:
            self._options[name] = value
            if name == b"global-declarations":
                self._keeps_declarations = value == b"true"
            dialect = "" if _STANDARD.match(name) else "z3"
            self._frames[0].commands.append(Command(command, QUIET, dialect, True))
        self._owe(None)

    def _reset(self, head: str) -> None:
        self._settle()
        kept: list[Command] = []
        if head == "reset-assertions":
            kept = [
                each
                for each in self._frames[0].commands
                if each.kind == QUIET or each.is_global or head_of(each.text) == "set-logic"
            ]
        else:
            self._options.clear()
            self._is_loud = self._keeps_declarations = False
            self._check_seconds = self.settings.check_seconds
        self._frames = [Frame(kept)]
        self._generation += 1
        self._answerer, self._reason, self._only = None, b"", ""
        self._owe(None)

    # The lead, and what it owes

    def _led(self) -> Worker | None:
        """The lead, told everything; another one where it cannot go on."""
        if self.record is None:
            self.record = self._recall(self.logic)
            if self.record.wins:
                self.workers.sort(key=lambda each: -self.record_of(each))
        lead = self._lead
        known = lead is not None and lead.process is not None and not self._only
        if lead is not None and known and not self._has_refused(lead):
            lead.sync(self._frames, self._generation, self.logic)
            if lead.process is not None:
                return lead
        for worker in self._fit():
            if worker.sync(self._frames, self._generation, self.logic):
                self._lead = worker
                return worker
        return None

    def record_of(self, worker: Worker) -> float:
        """How good a solver may be."""
        return self.record.sample(worker.name) if self.record else 0.5

    def _fit(self) -> list[Worker]:
        """Solvers that take all that is asserted: the lead first, then as they are preferred."""
        live = [
            each
            for each in self.workers
            if not self._has_refused(each) and each.command(self.logic) is not None
        ]
        if self._only:
            live = [each for each in live if each.dialect == self._only]
        return sorted(live, key=lambda each: each is not self._lead)

    def _has_refused(self, worker: Worker) -> bool:
        """Whether it does not take something that is asserted.

        What is not settled yet does not count: it may be taken back.
        """
        owed = {command for command, _, _ in self._owed} if worker.refused else ()
        return any(
            command not in owed and any(command in each.commands for each in self._frames)
            for command in worker.refused
        )

    def _owe(self, command: Command | None) -> None:
        self._owed.append((command, self._frames[-1], self._is_loud))

    def _settle(self) -> None:
        """Say what is owed, in order: `success` where that is wanted, and what is wrong."""
        while self._owed:
            command, frame, is_loud = self._owed.popleft()
            if command is None or command.kind == QUIET:
                answer = b"success"
            else:
                answer = self._acknowledged(command, frame)
            if answer not in SUCCESS or is_loud or self._is_loud:
                self._say(answer)

    def _acknowledged(self, command: Command, frame: Frame) -> bytes:
        """Whether the lead takes a command, or else another solver; what the first says if not."""
        first = b""
        ended: list[Worker] = []
        while not command.taken and (lead := self._led()) is not None:
            said = self._wait_for(lead, command)
            if not said and lead not in ended:  # it may have ended for another reason
                ended.append(lead)
            elif not command.taken:
                first = first or said
                lead.refused[command] = said
        if command.taken:
            return b"success"
        # Nobody takes it: it is as if it had never come, and those that live go on.
        frame.commands.remove(command)
        for worker in self.workers:
            if worker.refused.pop(command, None) is not None:
                worker.forget(frame) if worker.goes_on else worker.kill()
        return first or error("every solver that is installed ends at this")

    def _wait_for(self, lead: Worker, command: Command) -> bytes:
        """Until a solver took a command, or refused it: what it says then; b"": it ended."""
        while not command.taken and command not in lead.refused:
            if lead.process is None:
                return b""
            self._pump(None)
        return lead.refused.get(command, b"success")

    # Checks

    def _check(self, command: bytes) -> bytes:
        """Race the solvers on a check; the answer."""
        self.checks += 1
        self._last_check = command
        self._answerer, self._reason = None, b""
        for worker in self.workers:
            if worker.is_doubtful:
                worker.kill()
        lead = self._led()
        if lead is None:
            return error("no solver that is installed takes what is asserted")
        began = time.monotonic()
        racers: list[Worker] = []
        limit = began + self._check_seconds if self._check_seconds else float("inf")
        join = began + self._patience()
        final, answer = float("inf"), b"unknown"
        winner: Worker | None = None
        self._try_rival(lead)
        self._enter(lead, racers)
        rival = self._rival if self._races_left <= TRIAL_RACES else None
        if rival is not None and rival is not lead and not self._has_refused(rival):
            self._enter(rival, racers)
        on_trial = len(racers) > 1
        while winner is None:
            now = time.monotonic()
            if now >= min(limit, final):
                self._reason = self._reason or (b'"timeout"' if now >= limit else b"")
                break
            if now >= join or not any(each.is_busy for each in racers):
                join = float("inf")
                if not self._join(racers) and not any(each.is_busy for each in racers):
                    break
                continue
            for worker, said in self._raced(min(join, limit, final) - now, racers):
                if said in (b"sat", b"unsat") and winner is None:
                    winner, answer = worker, said
                elif self._answerer is None and said == b"unknown":
                    self._answerer = worker
                    passed = time.monotonic() - began
                    final = time.monotonic() + max(passed, GRACE)
                    join = 0.0 if self._vain < VAIN else join
                    final = final if self._vain < VAIN else 0.0
                elif said.startswith(b"(error") and answer == b"unknown":
                    answer = said
        if self._answerer is not None and winner is None:
            answer = b"unknown"
        self._ended(winner, racers, time.monotonic() - began)
        if b"check-sat-assuming" in command:
            for each in racers:
                each.is_doubtful = each.name.startswith(FORGETFUL)
        if len(racers) > 1 and not on_trial and self.record is not None:
            self.record.joined(winner is not None and winner is not lead)
        return answer

    def _try_rival(self, lead: Worker) -> None:
        """Get a rival ready, or up to date, if it is time to try one."""
        rival = self._rival
        if rival is not None:
            self._races_left -= 1
            if self._races_left > 0 and rival in self._fit():
                if rival is not lead:
                    rival.sync(self._frames, self._generation, self.logic)
                return
            self._rival = None
            for worker in self.workers:  # whoever lost has had its chance
                if worker is not lead and not worker.is_busy:
                    worker.kill()
            return
        if self.checks < self._next_trial or self.settings.budget < 2:
            return
        self._next_trial *= NEXT_TRIAL
        allowed = TRIAL_SHARE * (time.monotonic() - self._started) + TRIAL_SECONDS
        for each in sorted(self._fit(), key=lambda each: -self.record_of(each)):
            cost = MODULE_SECONDS if each.is_module(self.logic) else START_SECONDS
            if each is not lead and self._trials_seconds + cost <= allowed:
                self._trials_seconds += cost
                self._rival, self._races_left = each, TRIAL_RACES + 1
                each.sync(self._frames, self._generation, self.logic)
                return

    def _patience(self) -> float:
        usual = sorted(self._recent)[len(self._recent) // 2] if self._recent else 0.0
        wait = min(max(USUAL_TIMES * usual, SHORTEST_WAIT), LONGEST_WAIT)
        return wait * (self.record.wait if self.record else 1.0)

    def _enter(self, worker: Worker, racers: list[Worker]) -> None:
        worker.send(self._last_check, CHECK, self.checks)
        racers.append(worker)

    def _join(self, racers: list[Worker]) -> bool:
        """Let others race; whether any could."""
        others = [each for each in self._fit() if each not in racers]
        others.sort(key=lambda each: -self.record_of(each))
        joined = False
        for worker in others:
            if sum(each.is_busy for each in racers) >= self.settings.budget:
                break
            in_step = worker.sync(self._frames, self._generation, self.logic)
            if in_step and not self._has_refused(worker):
                self._enter(worker, racers)
                joined = True
        return joined

    def _raced(self, seconds: float, racers: Sequence[Worker]) -> list[tuple[Worker, bytes]]:
        """What racers say within some time; one that refuses what is asserted says nothing."""
        found = []
        for worker, kind, about, answer in self._pump(None if seconds == float("inf") else seconds):
            valid = kind == CHECK and about == self.checks and worker in racers
            if valid and not self._has_refused(worker):
                found.append((worker, answer))
        return found

    def _ended(self, winner: Worker | None, racers: Sequence[Worker], seconds: float) -> None:
        if winner is not None:
            self._answerer = self._lead = winner
            self._recent.append(seconds)
        if len(racers) > 1:
            names = [each.name for each in racers]
            if winner is not None and self.record is not None:
                self.record.raced(winner.name, names)
            self._vain = 0 if winner is not None else self._vain + 1
        for worker in racers:
            if worker is not winner:
                worker.give_up()

    # Questions

    def _ask(self, command: bytes) -> bytes:
        """What the solver of the last check says, else the lead."""
        worker = self._answerer
        if worker is None or worker.process is None or worker.is_busy:
            worker = self._led()
        if worker is None:
            return error("no solver that is installed takes what is asserted")
        return self._asked(worker, command)

    def _ask_dialect(self, command: bytes, dialect: str) -> bytes:
        """Commands of one dialect; from now on, only who speaks it may answer checks."""
        if self._answerer is None or self._answerer.dialect != dialect:
            self._only = dialect
            worker = self._led()
            if worker is None:
                self._only = ""
                return b"unsupported"
            if self._answerer is not None:
                self._asked(worker, self._last_check)
            self._answerer = worker
        self._only = dialect
        return self._asked(self._answerer, command)

    def _asked(self, worker: Worker, command: bytes) -> bytes:
        token = object()
        worker.send(command, ASK, token)
        while worker.process is not None:
            for who, _, about, answer in self._pump(None):
                if who is worker and about is token:
                    return answer
        return error("the solver ended")

    # Input and output

    def _say(self, answer: bytes) -> None:
        data = answer + b"\n"
        try:
            while data:
                data = data[os.write(self._output, data) :]
        except OSError as problem:
            raise _GoneError from problem

    def _say_success(self) -> None:
        if self._is_loud:
            self._say(b"success")

    def _pump(
        self, seconds: float | None, lazily: bool = False
    ) -> list[tuple[Worker, str, Any, bytes]]:
        """Wait for anything: what solvers said of checks and questions.

        lazily: what was not written to solvers yet may wait.
        """
        if not lazily:
            for each in self.workers:
                each.flush()
        self._watch_workers(lazily)
        if self.settings.deadline:
            left = self._started + self.settings.deadline - time.monotonic()
            if left <= 0.0:
                raise _LateError
            seconds = left if seconds is None else min(seconds, left)
        ready = self._poll.poll(None if seconds is None else max(seconds, 0.0) * 1e3)
        found = []
        for descriptor, event in ready:
            if descriptor == self._input and not self._at_end:
                self._take_input()
            elif descriptor == self._output:
                raise _GoneError
            elif (worker := self._polled.get(descriptor)) is not None and worker.process:
                if event & select.POLLOUT and descriptor == worker.input:
                    worker.flush()
                elif descriptor == worker.output:
                    found += [(worker, *each) for each in self._heard(worker)]
        return found

    def _watch_workers(self, lazily: bool) -> None:
        wanted: dict[int, tuple[Worker, int]] = {}
        for worker in self.workers:
            if worker.process is not None:
                wanted[worker.output] = worker, select.POLLIN
                if worker.has_pending and not lazily:
                    wanted[worker.input] = worker, select.POLLOUT
        for descriptor in self._polled.keys() - wanted.keys():
            self._poll.unregister(descriptor)
        for descriptor in wanted.keys() - self._polled.keys():
            self._poll.register(descriptor, wanted[descriptor][1])
        self._polled = {descriptor: worker for descriptor, (worker, _) in wanted.items()}

    def _heard(self, worker: Worker) -> list[tuple[str, Any, bytes]]:
        said = worker.read()
        if said is None:
            lost = [(kind, about) for kind, about in worker.answers if kind == CHECK]
            worker.kill()
            return [(kind, about, b"ended") for kind, about in lost]
        found = []
        for kind, about, answer in said:
            if kind == STATE and answer not in SUCCESS:
                worker.refused[about] = answer
            elif kind == STATE:
                about.taken = True
            elif kind in (CHECK, ASK):
                found.append((kind, about, answer))
        return found

    def _take_input(self) -> None:
        try:
            data = os.read(self._input, 1 << 16)
        except OSError:
            data = b""
        if not data:
            self._at_end = True
            self._poll.unregister(self._input)
            data = b"\n"
        self._commands += self._splitter.feed(data)


class _GoneError(Exception):
    """Nobody reads our answers any more."""


class _LateError(Exception):
    """The time of the whole session is over."""


def _counts(found: Any) -> dict[str, float]:
    listed = found.items() if isinstance(found, dict) else ()
    return {str(name): float(n) for name, n in listed if isinstance(n, int | float) and n >= 0}
