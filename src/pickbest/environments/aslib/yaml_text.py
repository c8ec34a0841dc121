"""The YAML of ASlib's descriptions, without a YAML package.

Maps, lists, quoted and folded text, flow lists, anchors and comments; every scalar stays text,
so that an algorithm may be called 1e5 or no.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from pickbest.core import PickbestError

SINGLE, DOUBLE = r"'(?:[^']|'')*'", r'"(?:[^"\\]|\\.)*"'
KEY = re.compile(rf"({SINGLE}|{DOUBLE}|[^\s'\"\[{{#&*!|>].*?)\s*:(?:\s+(.*)|$)")
CLOSED = re.compile(rf"({SINGLE}|{DOUBLE})\s*(?:#.*)?$")
PROPERTIES = re.compile(r"(?:[&!]\S*(?:\s+|$))+")
FLOW_PART = re.compile(rf"{SINGLE}|{DOUBLE}|[\[\]{{}},]|[^'\"\[\]{{}},]+|.")


@dataclass(frozen=True)
class _Line:
    number: int
    indent: int
    text: str


def parse_yaml(text: str, source: str = "text") -> dict[str, Any]:
    """A map of text, lists and maps; None where a key has no value.

    >>> parse_yaml("a: [x, 'y, z']\\nb:\\n- 1.0e+08\\n- '?'\\nc:  # none")
    {'a': ['x', 'y, z'], 'b': ['1.0e+08', '?'], 'c': None}
    """
    parser = _Parser(_lines(text), source)
    entries = parser.mapping(parser.lines[0].indent) if parser.lines else {}
    if parser.at < len(parser.lines):
        raise parser.error("expected 'key: value'")
    return entries


def _lines(text: str) -> list[_Line]:
    lines = []
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.expandtabs().rstrip()
        content = line.lstrip(" ")
        indent = len(line) - len(content)
        if not content or content[0] == "#" or content in {"---", "..."}:
            continue
        # "? key" and ": value" on two lines is how long keys are written.
        if content.startswith("? "):
            content = f"{content[2:].strip()}:"
        elif content.startswith(": "):
            indent, content = indent + 2, content[2:].strip()
        lines.append(_Line(number, indent, content))
    return lines


def _is_item(line: _Line) -> bool:
    return line.text == "-" or line.text.startswith("- ")


@dataclass
class _Parser:
    """Reads blocks by their indentation. at: the next line."""

    lines: list[_Line]
    source: str
    at: int = 0
    anchors: dict[str, Any] = field(default_factory=dict)

    def mapping(self, indent: int) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        while (line := self.next_at(indent)) and not _is_item(line):
            match = KEY.match(line.text)
            if match is None:
                raise self.error("expected 'key: value'")
            self.at += 1
            entries[scalar(match[1])] = self.value(match[2] or "", indent, flush_items=True)
        return entries

    def sequence(self, indent: int) -> list[Any]:
        items: list[Any] = []
        while (line := self.next_at(indent)) and _is_item(line):
            content = line.text[1:].lstrip()
            inner = _Line(line.number, indent + len(line.text) - len(content), content)
            if _is_item(inner) or KEY.match(content):
                self.lines[self.at] = inner
                items.append(self.block(indent))
            else:
                self.at += 1
                items.append(self.value(content, indent))
        return items

    def value(self, text: str, indent: int, flush_items: bool = False) -> Any:
        """What follows a key or a dash that stands at `indent`."""
        properties = PROPERTIES.match(text)
        anchor = re.search(r"&(\S+)", properties[0]) if properties else None
        text = text[properties.end() :] if properties else text
        if not text or text[0] == "#":
            value = self.block(indent, flush_items)
        elif re.match(r"[|>][-+\d]*$", text):
            value = "\n".join(self.deeper(indent))
        elif text[0] == "*" and text[1:] in self.anchors:
            value = self.anchors[text[1:]]
        else:
            value = inline(self.whole(text, indent))
        if anchor:
            self.anchors[anchor[1]] = value
        return value

    def block(self, indent: int, flush_items: bool = False) -> Any:
        if self.at == len(self.lines):
            return None
        line = self.lines[self.at]
        flush = flush_items and line.indent == indent and _is_item(line)
        if line.indent <= indent and not flush:
            return None
        if _is_item(line):
            return self.sequence(line.indent)
        if KEY.match(line.text):
            return self.mapping(line.indent)
        self.at += 1
        return inline(self.whole(line.text, indent))

    def whole(self, text: str, indent: int) -> str:
        """A scalar or flow list with the lines on which it goes on."""
        if CLOSED.match(text):
            return text
        opener, first, parts = text[0], self.at - 1, [text]
        depth = _depth(text, opener)
        while _is_open(depth, opener):
            if self.at == len(self.lines):
                self.at = first
                raise self.error(f"{opener} is opened here and never closed")
            parts.append(self.lines[self.at].text)
            depth += _depth(parts[-1], opener)
            self.at += 1
        if opener not in "'\"[{":
            parts += self.deeper(indent)
        return " ".join(parts)

    def deeper(self, indent: int) -> list[str]:
        texts = []
        while self.at < len(self.lines) and self.lines[self.at].indent > indent:
            texts.append(self.lines[self.at].text)
            self.at += 1
        return texts

    def next_at(self, indent: int) -> _Line | None:
        line = self.lines[self.at] if self.at < len(self.lines) else None
        if line is not None and line.indent > indent:
            raise self.error("unexpected indentation")
        return line if line is not None and line.indent == indent else None

    def error(self, problem: str) -> PickbestError:
        line = self.lines[self.at]
        return PickbestError(f"{self.source}, line {line.number}: {problem}, got {line.text!r}")


def _depth(text: str, opener: str) -> int:
    if opener == "'":
        return text.count("'")
    if opener == '"':
        return re.sub(r"\\.", "", text).count('"')
    if opener in "[{":
        bare = re.sub(f"{SINGLE}|{DOUBLE}", "", text)
        return sum((char in "[{") - (char in "]}") for char in bare)
    return 0


def _is_open(depth: int, opener: str) -> bool:
    return bool(depth % 2) if opener in "'\"" else depth > 0


def inline(text: str) -> Any:
    """A scalar, a flow list or a flow map that stands on one line."""
    if text[0] not in "[{":
        return scalar(text)
    end = max(text.rfind("]"), text.rfind("}"))
    parts = [part for part in split_flow(text[1:end]) if part]
    if text[0] == "[":
        return [inline(part) for part in parts]
    pairs = (re.match(rf"({SINGLE}|{DOUBLE}|.*?)\s*(?::\s*(.*))?$", part) for part in parts)
    return {scalar(pair[1]): inline(pair[2]) if pair[2] else None for pair in pairs if pair}


def split_flow(text: str) -> list[str]:
    """Split at the commas that stand in no quotes and no brackets."""
    parts, depth = [""], 0
    for token in FLOW_PART.findall(text):
        depth += (token in ("[", "{")) - (token in ("]", "}"))
        if token == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return [part.strip() for part in parts]


def scalar(text: str) -> str:
    """What quoted or plain text says, without its comment."""
    closed = CLOSED.match(text)
    if closed is None:
        return re.split(r"\s#", text, maxsplit=1)[0].strip()
    body = closed[1][1:-1]
    if text[0] == "'":
        return body.replace("''", "'")
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), body)
