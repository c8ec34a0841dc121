"""`pickbest solve -in`: an SMT-LIB session that several solvers take part in; see `team`.

Answers come in order, one for each command, whatever pieces the commands come in.
"""

from __future__ import annotations

import os
import re
import signal
from collections import deque
from contextlib import suppress

from pickbest.core.errors import PickbestError
from pickbest.portfolio.run.answers.commands import as_asked, head_of
from pickbest.portfolio.solve.keep import Keep
from pickbest.portfolio.solve.known import SMTLIB, located, places, solver_table, version_said
from pickbest.portfolio.solve.script import CHANGING, Z3_ASKS, Command, Stack, error
from pickbest.portfolio.solve.team import Client, GoneError, Record, Team
from pickbest.portfolio.solve.words import Arguments
from pickbest.portfolio.solve.worker import Worker

# Answers of the lead that may be outstanding before they are waited for.
MOST_OWED = 512
# Each level is a command to every solver.
MOST_LEVELS = 10_000
# Seconds for which a command that nobody waits for may wait for the next one.
BURST = 0.01
# As solvers call themselves; who of them says the text of an echo in quotes, as the standard does.
CALLED = {"z3": "Z3", "yices-smt2": "Yices", "boolector": "Boolector", "bitwuzla": "Bitwuzla"}
QUOTING = ("cvc5", "cvc4", "bitwuzla")
_KEYWORD = re.compile(rb":([^\s()]+)")
_NUMBER = re.compile(rb"\d+")
_TEXT = re.compile(rb'"(?:[^"]|"")*"')


class Session:
    """What a client says, and what it is told. called: the solver whose name we answer to."""

    def __init__(self, team: Team, client: Client, called: str = "") -> None:
        self._team, self._stack, self._client = team, team.stack, client
        self._called = called
        # Answers that are still to be given, by their commands; None: it is success for certain.
        self._owed: deque[Command | None] = deque()

    def run(self) -> int:
        """Until the input ends; the exit code."""
        client = self._client
        try:
            while True:
                while not client.commands:
                    if not client.at_end and self._owed and not self._stack.is_loud:
                        # Nobody waits for these answers: most commands come in bursts, and are
                        # handed on together.
                        self._team.pump(BURST, lazily=True)
                        if client.commands:
                            break
                    self._settle()
                    if client.commands:  # they came meanwhile
                        break
                    if client.at_end:
                        return 0
                    self._team.pump(None)
                command = client.commands.popleft()
                head = head_of(command)
                if head == "exit":
                    self._settle()
                    if self._stack.is_loud:
                        client.say(b"success")
                    return 0
                self._one(command, head)
                if len(self._owed) > MOST_OWED:
                    self._settle()
        except GoneError:
            return 128 + signal.SIGPIPE
        finally:
            self._team.close()

    def _one(self, command: bytes, head: str) -> None:
        if head in CHANGING:
            self._change(command, head)
        elif head in ("push", "pop"):
            self._level(command, head)
        elif head == "set-info":
            self._owed.append(None)
        elif head == "set-option":
            self._settle()
            self._stack.set_option(command)
            self._owed.append(None)
        elif head in ("reset", "reset-assertions"):
            self._settle()
            self._stack.reset(head)
            self._team.restarted()
            self._owed.append(None)
        elif head in ("check-sat", "check-sat-assuming"):
            answer = self._team.check(command)
            if self._settle():  # not all that came before it stays
                answer = self._team.check(command)
            self._client.say(answer)
        else:
            self._settle()
            self._client.say(self._answered(command, head))

    def _answered(self, command: bytes, head: str) -> bytes:
        """The answer to a command that changes nothing."""
        keyword = _KEYWORD.search(command)
        about = keyword[1] if keyword else b""
        if head == "echo":
            text = _TEXT.search(command)
            shown = text[0] if text else b'""'
            quotes = self._called in QUOTING
            return shown if quotes else shown[1:-1].replace(b'""', b'"')
        if head == "get-info" and (known := self._info(about)):
            return b"(:%s %s)" % (about, known)
        if head == "get-option":
            options = {b"print-success": b"false", **self._stack.options}
            if about in options:
                return options[about]
        if not head:
            return error(f"a command is expected, got {command[:80].decode(errors='replace')}")
        if head in Z3_ASKS:
            return self._team.ask_dialect(command, "z3")
        said = self._team.ask(command)
        return as_asked(command, said) if head == "get-value" else said

    def _info(self, about: bytes) -> bytes:
        """What is known of ourselves; b"": solvers know more."""
        if about == b"version":
            found = re.search(r"\d+(\.\d+)+", version_said(self._called))
            return b'"%s"' % (found[0] if found else "1.0").encode()
        return {
            b"name": b'"%s"' % CALLED.get(self._called, self._called or "pickbest").encode(),
            b"authors": b'"the authors of the solvers that pickbest runs"',
            b"error-behavior": b"continued-execution",
            b"assertion-stack-levels": b"%d" % (len(self._stack.frames) - 1),
            b"reason-unknown": self._team.reason,
        }.get(about, b"")

    def _change(self, text: bytes, head: str) -> None:
        command = self._stack.add(text, head)
        if self._team.changed():
            self._owed.append(command)
        else:
            self._stack.take_back(command)
            self._settle()
            self._client.say(error("no solver that is installed takes this"))

    def _level(self, command: bytes, head: str) -> None:
        found = _NUMBER.search(command)
        count = int(found[0][:6]) if found else 1
        levels = len(self._stack.frames) - 1
        if head == "push" and levels + count > MOST_LEVELS:
            self._settle()
            self._client.say(error(f"push {count}: at most {MOST_LEVELS} levels can be pushed"))
            return
        if head == "push":
            self._stack.push(count)
        else:
            # What was asked of the levels that go must be answered before.
            self._settle()
            if count > levels:
                self._client.say(error(f"pop {count}: only {levels} levels were pushed"))
                return
            self._stack.pop(count)
        self._team.forget()  # solvers hear of it with what comes next
        self._owed.append(None)

    def _settle(self) -> bool:
        """Say what is owed, in order: `success` where that is wanted, and what is wrong.

        Whether a command was taken back, which no solver takes.
        """
        one_is_wrong = False
        while self._owed:
            command = self._owed.popleft()
            answer = b"success" if command is None else self._acknowledged(command)
            one_is_wrong = one_is_wrong or answer != b"success"
            if answer != b"success" or self._stack.is_loud:
                self._client.say(answer)
        return one_is_wrong

    def _acknowledged(self, command: Command) -> bytes:
        """Whether the lead takes a command, or else another solver; what the first says if not."""
        first = b""
        ended: list[Worker] = []
        while not command.taken and (lead := self._team.led()) is not None:
            while not command.taken and command not in lead.refused and lead.process is not None:
                self._team.pump(None)
            if command.taken:
                break
            if command in lead.refused:
                first = first or lead.refused[command]
            elif lead in ended:
                lead.refused[command] = b""
            else:  # it may have ended for another reason
                ended.append(lead)
        if command.taken:
            return b"success"
        # Nobody takes it: it is as if it had never come, and those that live go on.
        self._stack.take_back(command)
        for worker in self._team.workers:
            worker.take_back(command)
        return first or error("every solver that is installed ends at this")


def talk(call: Arguments, folder: str | None) -> int:
    """Run a session on standard input and output; its exit code."""
    keep = Keep(folder)
    kind = f"session {_client(call)} "
    client = Client(0, 1)
    team = Team(
        workers_for(call, watcher()),
        Stack(call.check_seconds or call.deadline),
        client,
        call.budget,
        lambda logic: Record(keep.read(kind + logic)),
    )
    code = Session(team, client, call.called).run()
    if team.record.scores and not call.frozen:
        keep.write({kind + team.stack.logic: team.record.told()})
    return code


def workers_for(call: Arguments, group: int = 0) -> list[Worker]:
    """The solvers that are here and talk; group: the process group that they are to belong to."""
    path = places()
    table = solver_table(call.tables, call.solvers)
    # yices starts in no time, and is the quickest on small checks.
    wanted = dict.fromkeys(call.solvers or [name for name in ("yices", *table) if name in table])
    fit = [table[name] for name in wanted if table[name].format == SMTLIB]
    here = [each for each in (located(one, path, session=True) for one in fit) if each is not None]
    if not here:
        raise PickbestError("no solver for a session is installed; install one of z3, cvc5, yices")
    return [
        Worker(each, call.passed_to(each.solver.programs), call.memory_bytes, group)
        for each in here
    ]


def _client(call: Arguments) -> str:
    """Who talks to us: sessions of one program are alike."""
    with suppress(OSError), open(f"/proc/{os.getppid()}/comm") as file:
        return file.read().strip()
    return call.called


def watcher() -> int:
    """Start a process that ends its process group, our solvers, when we are gone: its number."""
    read, _ = os.pipe()  # what is written to it: nothing, but it ends with us
    pid = os.fork()
    if pid == 0:
        try:
            os.setpgid(0, 0)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            os.dup2(read, 3)
            os.closerange(0, 3)
            os.closerange(4, 1024)
            os.read(3, 1)
            os.killpg(0, signal.SIGKILL)
        finally:
            os._exit(0)
    with suppress(OSError):  # it was quicker
        os.setpgid(pid, pid)
    os.close(read)
    return pid
