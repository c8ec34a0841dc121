"""A colour of its own for each curve of a picture, that colour-blind people can tell apart.

Okabe and Ito's colours, and grey; the paper's learners have theirs in every picture.
"""

from collections import Counter
from collections.abc import Iterable

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "#666666"
STYLES = ("-", "--", ":", "-.")

_USUAL = {
    "fpml": 0, "fpml-partial": 0, "og": 1, "exp3": 1, "og-hybrid": 2, "thompson": 3, "hedge": 4,
    "hedge-partial": 4, "leaders": 4, "fixed": 5, "top": 5, "auto": 6, "greedy": 6, "best": 6,
    "uniform": 7, "random": 7,
}  # fmt: skip


def styles_of(names: Iterable[str]) -> dict[str, tuple[str, str]]:
    """(colour, line style) of each curve of one picture: no two have the same colour.

    A name has its usual colour, unless a curve before it has that. Other colours go to those that
    are left; beyond eight curves colours come again, with another line style.

    >>> found = styles_of(["best", "greedy", "fpml", "og"])
    >>> found["og"], len({colour for colour, _ in found.values()})
    (('#D55E00', '-'), 4)
    """
    listed = list(dict.fromkeys(names))
    colours = (*OKABE_ITO, GREY)
    taken: dict[str, str] = {}
    for name in listed:
        family = name.split(":")[0].split(" ")[0].lower()
        if family in _USUAL:
            taken.setdefault(colours[_USUAL[family]], name)
    found = {name: (colour, STYLES[0]) for colour, name in taken.items()}
    for name in listed:
        if name not in found:
            used = Counter(colour for colour, _ in found.values())
            colour = min(colours, key=lambda each: used[each])
            found[name] = (colour, STYLES[used[colour] % len(STYLES)])
    return {name: found[name] for name in listed}
