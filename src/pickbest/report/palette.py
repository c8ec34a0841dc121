"""A colour of its own for each curve of a picture, that colour-blind people can tell apart.

Okabe and Ito's colours, and grey; the paper's learners have theirs in every picture.
"""

from collections import Counter
from collections.abc import Iterable

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "#666666"
STYLES = ("-", "--", ":", "-.")

_FAMILIES = {
    "fpml": (0, 0), "fpml-partial": (0, 0), "auto": (6, 0), "og-hybrid": (2, 0), "og": (1, 0),
    "exp3": (1, 1), "hedge": (4, 0), "hedge-partial": (4, 0), "thompson": (3, 0),
    "leaders": (4, 0), "fixed": (5, 1), "top": (5, 0), "greedy": (6, 1),
    "best": (6, 0),
}  # fmt: skip


def styles_of(names: Iterable[str]) -> dict[str, tuple[str, str]]:
    """(colour, line style) of each curve of one picture: no two have the same colour.

    A name has its usual colour, unless a curve before it has that. Other colours go to those that
    are left; beyond eight curves colours come again, with another line style.

    >>> found = styles_of(["best", "greedy", "fpml", "og"])
    >>> found["og"], len({colour for colour, _ in found.values()})
    (('#D55E00', '-'), 4)
    """
    wanted = {name: _usual(name) for name in dict.fromkeys(names)}
    found: dict[str, tuple[str, str]] = {}
    for name, look in wanted.items():
        if look[0] not in {colour for colour, _ in found.values()}:
            found[name] = look
    colours = (*OKABE_ITO, GREY)
    for name, (colour, style) in wanted.items():
        if name not in found:
            used = Counter(taken for taken, _ in found.values())
            colour = min(colours, key=lambda each: used[each])
            taken = {line for each, line in found.values() if each == colour}
            found[name] = (
                colour,
                next((line for line in (style, *STYLES) if line not in taken), style),
            )
    return {name: found[name] for name in wanted}


def _usual(name: str) -> tuple[str, str]:
    """The look of a learner or benchmark where it stands alone."""
    family = name.split(":")[0].split(" ")[0].lower()
    if family in {"uniform", "random"}:
        return GREY, ":"
    colour, style = _FAMILIES.get(family, (0, 0))
    return OKABE_ITO[colour], STYLES[style]


def ink(colour: str) -> str:
    """The colour, darkened where text in it would be hard to read on white (contrast 4.5).

    >>> ink("#0072B2"), ink("#56B4E9")
    ('#0072b2', '#39779a')
    """
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    while 1.05 / (_luminance(channels) + 0.05) < 4.5:
        channels = [channel * 0.92 for channel in channels]
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in channels)


def _luminance(channels: list[float]) -> float:
    """Relative luminance as in the Web Content Accessibility Guidelines."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
