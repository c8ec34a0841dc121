"""What is asserted and set in a session of SMT-LIB."""

import re

from pickbest.portfolio.run.answers.commands import head_of

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


def error(text: str) -> bytes:
    """An answer that says what is wrong.

    >>> error('say "please"')
    b'(error "say \\'please\\'")'
    """
    return b'(error "%s")' % text.replace('"', "'").encode(errors="replace")


class Command:
    """A command that changes the state.

    dialect: for solvers that speak it only; "": for all. is_global: it outlives its level.
    taken: some solver said success to it.
    """

    __slots__ = ("dialect", "is_global", "kind", "taken", "text")

    def __init__(self, text: bytes, kind: str, dialect: str, is_global: bool) -> None:
        self.text = text
        self.kind = kind
        self.dialect = dialect
        self.is_global = is_global
        self.taken = False


# What was said between a push and its pop.
Frame = list[Command]


class Stack:
    """What is asserted and set in a session.

    changes: counts them. options: as they were set. check_seconds: limit of a check; 0: none.
    """

    def __init__(self, check_seconds: float = 0.0) -> None:
        self.frames: list[Frame] = [[]]
        self.changes = 0
        self.logic = "ALL"
        self.options: dict[bytes, bytes] = {}
        self.check_seconds = self._first_check_seconds = check_seconds

    @property
    def is_loud(self) -> bool:
        """Whether commands that succeed are answered."""
        return self.options.get(b"print-success") == b"true"

    def add(self, text: bytes, head: str) -> Command:
        """Put a command where it belongs."""
        if head == "set-logic":
            text = text.replace(b"ALL_SUPPORTED", b"ALL")
            found = _LOGIC.match(text)
            self.logic = found[1].decode(errors="replace") if found else "ALL"
        keeps = self.options.get(b"global-declarations") == b"true"
        is_global = keeps and head in DECLARING
        command = Command(text, STATE, "z3" if head in Z3_STATE else "", is_global)
        self.frames[0 if is_global else -1].append(command)
        self.changes += 1
        return command

    def take_back(self, command: Command) -> None:
        """A command that no solver takes: as if it had never come."""
        for frame in self.frames:
            if command in frame:
                frame.remove(command)
        self.changes += 1

    def push(self, count: int) -> None:
        self.changes += 1
        self.frames += [[] for _ in range(count)]

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
            self.frames[0].append(Command(text, QUIET, dialect, True))
            self.changes += 1

    def reset(self, head: str) -> None:
        """`reset`, or `reset-assertions`, which keeps what was set."""
        kept: list[Command] = []
        if head == "reset-assertions":
            kept = [
                each
                for each in self.frames[0]
                if each.is_global or head_of(each.text) == "set-logic"
            ]
        else:
            self.options.clear()
            self.check_seconds = self._first_check_seconds
        self.frames = [kept]
        self.changes += 1

    def holds(self, command: Command) -> bool:
        """Whether a command is still in force."""
        return any(command in frame for frame in self.frames)
