"""Text of others, as it may be shown, and tables as text."""

from collections.abc import Iterable


def printable(text: object) -> str:
    r"""Text in which nothing acts on a terminal: what cannot be printed is escaped, as in Python.

    Escape sequences, line ends, marks that turn the direction of writing, and the bytes of names
    that are not UTF-8 (lone surrogates) are all shown, and none of them works.

    >>> printable("a\x1b[31mb\n\udcff ä")
    'a\\x1b[31mb\\n\\udcff ä'
    """
    given = str(text)
    if given.isprintable():
        return given
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in given
    )


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows as CSV, all digits of their numbers kept."""
    import csv
    import io

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
