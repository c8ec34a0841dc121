"""SMT-LIB as a stream: its commands and answers, whatever pieces they come in."""

import re
from collections.abc import Iterator

_BLANK = re.compile(rb"\s*")
_ATOM = re.compile(rb'"(?:[^"]|"")*"(?=[^"])|\|[^|]*\||[^\s()";|]+(?=[\s()";|])')
_MARK = re.compile(rb'[()"|;]')
_HEAD = re.compile(rb"\(\s*([^\s()\"|;]+)")
_CLOSED_BY = {ord('"'): b'"', ord("|"): b"|", ord(";"): b"\n"}
_OPEN, _CLOSE, _COMMENT = ord("("), ord(")"), ord(";")


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

    @property
    def is_done(self) -> bool:
        """Whether no list is open."""
        return self._depth == 0

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


def as_asked(command: bytes, said: bytes) -> bytes:
    """The answer to a get-value, with the terms as they were asked: some solvers rewrite them.

    >>> as_asked(b"(get-value (|a| (f (_ bv7 8))))", b"((a true) ((f #x07) #x01))")
    b'((|a| true) ((f (_ bv7 8)) #x01))'
    """
    terms = [term for each in _inside(command)[1:] for term in _inside(each)]
    pairs = [_inside(each) for each in _inside(said)]
    if len(terms) != len(pairs) or any(len(pair) != 2 for pair in pairs):
        return said
    told = (b"(%s %s)" % (term, value) for term, (_, value) in zip(terms, pairs, strict=True))
    return b"(%s)" % b" ".join(told)


def answers_as_asked(script: bytes, said: bytes) -> bytes:
    """All that a solver says to a script, as `as_asked` where it is asked for values."""
    commands = [
        command
        for command in Splitter().feed(script + b"\n")
        if head_of(command).startswith(("check-sat", "get-", "echo"))
    ]
    answers = Splitter().feed(said + b"\n")
    if len(commands) != len(answers):
        return said
    told = (
        as_asked(command, answer) if head_of(command) == "get-value" else answer
        for command, answer in zip(commands, answers, strict=True)
    )
    return b"\n".join(told)


def _inside(expression: bytes) -> list[bytes]:
    return Splitter().feed(expression[1:-1] + b"\n") if expression[:1] == b"(" else []
