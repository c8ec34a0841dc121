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
    """Rows as CSV, all digits of their numbers kept.

    No spreadsheet takes a cell for a formula: names and answers may be anybody's.

    >>> csv_text([["=cmd|' /C calc'!A0", -1.5, "p1.cnf"]])
    "'=cmd|' /C calc'!A0,-1.5,p1.cnf\\n"
    """
    import csv
    import io

    risky = ("=", "+", "-", "@", "\t", "\r")
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [f"'{cell}" if isinstance(cell, str) and cell.startswith(risky) else cell for cell in row]
        for row in rows
    )
    return text.getvalue()
