"""One colour per learner, the same everywhere, from a palette that colour-blind people can read.

Okabe and Ito's eight colours; learners beyond them are told apart by their line style too.
"""

import hashlib

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "#666666"
STYLES = ("-", "--", ":", "-.")

_FAMILIES = {
    "fpml": (0, 0), "fpml-partial": (0, 0), "og-hybrid": (2, 0), "og": (1, 0), "exp3": (1, 1),
    "hedge": (1, 2), "exp3-ix": (1, 3), "exp3-m": (4, 1), "thompson": (3, 0), "ucb": (3, 1),
    "leaders": (4, 0), "fixed": (5, 1), "top": (5, 0), "greedy": (6, 1), "best": (6, 0),
}  # fmt: skip


def look(name: str) -> tuple[str, str]:
    """(colour, line style) of a learner or benchmark; variants share their family's colour.

    >>> look("fpml")
    ('#0072B2', '-')
    """
    family = name.split(":")[0].split(" ")[0].lower()
    if family in {"uniform", "random"}:
        return GREY, ":"
    if family in _FAMILIES:
        colour, style = _FAMILIES[family]
        # Variants of one family (after a colon) differ by line style.
        shift = _stable(name) % (len(STYLES) - 1) + 1 if ":" in name else 0
        return OKABE_ITO[colour], STYLES[(style + shift) % len(STYLES)]
    index = _stable(family)
    return OKABE_ITO[index % len(OKABE_ITO)], STYLES[index % len(STYLES)]


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


def _stable(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
