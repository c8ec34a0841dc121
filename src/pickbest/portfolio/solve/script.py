"""SMT-LIB over a pipe: commands, whatever pieces they come in, and what they leave asserted."""

import re
from collections.abc import Iterator, Sequence

_BLANK = re.compile(rb"\s*")
_ATOM = re.compile(rb'"(?:[^"]|"")*"(?=[^"])|\|[^|]*\||[^\s()";|]+(?=[\s()";|])')
_MARK = re.compile(rb'[()"|;]')
_HEAD = re.compile(rb"\(\s*([^\s()\"|;]+)")
_CLOSED_BY = {ord('"'): b'"', ord("|"): b"|", ord(";"): b"\n"}
_OPEN, _CLOSE, _COMMENT = ord("("), ord(")"), ord(";")
# What an answer is to: nobody cares; a command that changes the state; a check; a question.
QUIET, STATE, CHECK, ASK = "quiet", "state", "check", "ask"
SUCCESS = (b"success", b"unsupported")
# Commands of one dialect: those that change the state, and those that ask.
Z3_STATE = {"assert-soft", "minimize", "maximize", "declare-rel", "declare-var", "rule"}
Z3_ASKS = {"eval", "labels", "simplify", "apply", "get-objectives", "display", "help", "query"}
DECLARING = {
    "declare-fun", "declare-const", "declare-sort", "declare-datatype", "declare-datatypes",
    "define-fun", "define-fun-rec", "define-funs-rec", "define-sort", "define-const",
}  # fmt: skip
CHANGING = DECLARING | Z3_STATE | {"assert", "set-logic"}
_OPTION = re.compile(rb"\(\s*set-option\s+:([^\s()]+)\s+(.*?)\s*\)\s*$", re.S)
_LOGIC = re.compile(rb"\(\s*set-logic\s+([^\s()]+)")
# Options that every solver knows; others are for z3, whose options they mostly are.
_STANDARD = re.compile(rb"produce-|global-decl|random-seed|reproducible|interactive-mode|verbosity")
_TIMEOUT = re.compile(rb"(?:smt\.|solver\.)?(?:soft_)?timeout|tlimit-per|time-limit-per", re.I)


class Splitter:
    """Top-level expressions of a stream: lists, words and strings, without comments between them.

    >>> splitter = Splitter()
    >>> splitter.feed(b"(assert |a)|) sa")
    [b'(assert |a)|)']
    >>> splitter.feed(b't ; not yet)' + bytes([10]) + b'(check-sat)')
    [b'sat', b'(check-sat)']
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._place = self._start = self._depth = 0
        # What ends the string, quoted name or comment that is being read.
        self._closing = b""

    def feed(self, data: bytes) -> list[bytes]:
        """The expressions that are whole now."""
        self._buffer += data
        found = list(self._whole())
        done = self._start if self._depth else self._place
        if done > 1 << 16 or not self._depth:
            del self._buffer[:done]
            self._place -= done
            self._start = 0
        return found

    def _whole(self) -> Iterator[bytes]:
        buffer = self._buffer
        while True:
            if self._closing:
                end = buffer.find(self._closing, self._place)
                if end < 0:
                    self._place = len(buffer)
                    return
                self._place, self._closing = end + 1, b""
            elif self._depth == 0:
                blank = _BLANK.match(buffer, self._place)
                self._place = blank.end() if blank else self._place
                if self._place == len(buffer):
                    return
                first = buffer[self._place]
                if first == _COMMENT:
                    self._closing = b"\n"
                elif first == _OPEN:
                    self._start, self._depth = self._place, 1
                    self._place += 1
                elif first == _CLOSE:
                    self._place += 1
                    yield b")"
                elif atom := _ATOM.match(buffer, self._place):
                    self._place = atom.end()
                    yield bytes(atom[0])
                else:
                    return
            else:
                mark = _MARK.search(buffer, self._place)
                if mark is None:
                    self._place = len(buffer)
                    return
                self._place = mark.end()
                letter = buffer[mark.start()]
                if letter == _OPEN:
                    self._depth += 1
                elif letter == _CLOSE:
                    self._depth -= 1
                    if self._depth == 0:
                        yield bytes(buffer[self._start : self._place])
                else:
                    self._closing = _CLOSED_BY[letter]


def head_of(command: bytes) -> str:
    """The name of a command; "": it is none.

    >>> head_of(b"( check-sat-assuming (a))")
    'check-sat-assuming'
    """
    found = _HEAD.match(command)
    return found[1].decode(errors="replace") if found else ""


def error(text: str) -> bytes:
    """An answer that says what is wrong.

    >>> error('say "please"')
    b'(error "say \\'please\\'")'
    """
    return b'(error "%s")' % text.replace('"', "'").encode(errors="replace")


class Command:
    """A command that changes the state.

    dialect: for solvers that speak it only; "": for all. is_global: it outlives its level.
    taken: some solver said success to it. settled: it was answered, and stays.
    """

    __slots__ = ("dialect", "is_global", "kind", "settled", "taken", "text")

    def __init__(self, text: bytes, kind: str, dialect: str, is_global: bool) -> None:
        self.text = text
        self.kind = kind
        self.dialect = dialect
        self.is_global = is_global
        self.taken = self.settled = False


class Frame:
    """What was said between a push and its pop; two are the same only if they are one."""

    __slots__ = ("commands",)

    def __init__(self, commands: Sequence[Command] = ()) -> None:
        self.commands = list(commands)


class Stack:
    """What is asserted and set in a session.

    generation: counts the resets. changes: counts all changes. options: as they were set.
    check_seconds: limit of a check; 0: none, or what it was at the start.
    """

    def __init__(self, check_seconds: float = 0.0) -> None:
        self.frames = [Frame()]
        self.generation = self.changes = 0
        self.logic = "ALL"
        self.options: dict[bytes, bytes] = {}
        self.check_seconds = self._first_check_seconds = check_seconds

    @property
    def is_loud(self) -> bool:
        """Whether commands that succeed are answered."""
        return self.options.get(b"print-success") == b"true"

    def add(self, text: bytes, head: str) -> tuple[Command, Frame]:
        """Put a command where it belongs."""
        if head == "set-logic":
            text = text.replace(b"ALL_SUPPORTED", b"ALL")
            found = _LOGIC.match(text)
            self.logic = found[1].decode(errors="replace") if found else "ALL"
        keeps = self.options.get(b"global-declarations") == b"true"
        is_global = keeps and head in DECLARING
        frame = self.frames[0 if is_global else -1]
        command = Command(text, STATE, "z3" if head in Z3_STATE else "", is_global)
        frame.commands.append(command)
        self.changes += 1
        return command, frame

    def take_back(self, command: Command, frame: Frame) -> None:
        """A command that no solver takes: as if it had never come."""
        frame.commands.remove(command)
        self.changes += 1

    def push(self, count: int) -> None:
        self.changes += 1
        self.frames += [Frame() for _ in range(count)]

    def pop(self, count: int) -> None:
        self.changes += 1
        del self.frames[len(self.frames) - count :]

    def set_option(self, text: bytes) -> None:
        found = _OPTION.match(text)
        name, value = (found[1], found[2]) if found else (b"", b"")
        if name.endswith(b"output-channel"):
            return  # there is one channel here
        self.options[name] = value
        if _TIMEOUT.fullmatch(name):
            self.check_seconds = int(value[:12]) / 1e3 if value.isdigit() else 0.0
        elif name != b"print-success":
            dialect = "" if _STANDARD.match(name) else "z3"
            self.frames[0].commands.append(Command(text, QUIET, dialect, True))
            self.changes += 1

    def reset(self, head: str) -> None:
        """`reset`, or `reset-assertions`, which keeps what was set."""
        kept: list[Command] = []
        if head == "reset-assertions":
            kept = [
                each
                for each in self.frames[0].commands
                if each.is_global or head_of(each.text) == "set-logic"
            ]
        else:
            self.options.clear()
            self.check_seconds = self._first_check_seconds
        self.frames = [Frame(kept)]
        self.generation += 1
        self.changes += 1

    def holds(self, command: Command) -> bool:
        """Whether a command is still in force."""
        return any(command in frame.commands for frame in self.frames)
