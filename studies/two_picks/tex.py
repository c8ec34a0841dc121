"""A page of Markdown as a LaTeX article: headings, lists, tables, code, pictures, links."""

import re
from collections.abc import Sequence
from pathlib import Path

HEAD = r"""\documentclass[11pt]{article}
\usepackage[margin=25mm]{geometry}
\usepackage{fontspec,booktabs,longtable,graphicx,fancyvrb,hyperref}
\IfFontExistsTF{STIX Two Text}{\setmainfont{STIX Two Text}}{\setmainfont{DejaVu Serif}}
\setmonofont[Scale=0.85]{DejaVu Sans Mono}
\setlength{\parindent}{0pt}\setlength{\parskip}{4pt}\sloppy
"""
SPECIAL = {"∎": r"\hfill\rule{1ex}{1ex}",
           "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
           **{c: "\\" + c for c in "&%$#_{}"}}  # fmt: skip
SPANS = re.compile(
    r"!\[([^]]*)\]\(([^)]*)\)|\[([^]]*)\]\(([^)]*)\)|`([^`]*)`|\*\*(.+?)\*\*|\*([^*]+)\*"
)
# A hyphen that is a minus: before a term, between blanks, or between terms of one letter each.
MINUS = re.compile(r"(?<![\w)])-(?=[\w(])| - |(?<=[\w)])(?<![^\W\d]{2})-(?=[\w(])(?![^\W\d]{2})")
# x^(y), x^y, x_(y) and x_y, with one level of brackets inside y.
SCRIPTS = re.compile(r"([\^_])(?:\(((?:[^()]|\([^()]*\))*)\)|(\w+))")


def latex(markdown: str) -> str:
    """The page as a LaTeX article, for XeLaTeX, LuaLaTeX or Tectonic."""
    title, *blocks = [block for block in re.split(r"\n{2,}", _joined(markdown)) if block.strip()]
    body = "\n\n".join(_block(block) for block in blocks)
    heading = f"\\title{{{_inline(title.removeprefix('# '))}}}\\author{{}}\\date{{}}"
    return f"{HEAD}{heading}\n\\begin{{document}}\\maketitle\n\n{body}\n\n\\end{{document}}\n"


def _joined(markdown: str) -> str:
    """Blank lines inside fenced code would split it: a mark stands for them."""
    return re.sub(
        r"```.*?```", lambda code: code.group().replace("\n\n", "\n\0\n"), markdown, flags=re.S
    )


def _block(block: str) -> str:
    lines = block.replace("\0", "").split("\n")
    if lines[0].startswith("## "):
        rest = "\n".join(lines[1:])
        return f"\\section{{{_inline(lines[0][3:])}}}\n" + (_block(rest) if rest else "")
    if lines[0].startswith("```"):
        return _verbatim(lines[1:-1])
    if all(line.startswith("    ") for line in lines):
        return _verbatim([line[4:] for line in lines])
    if lines[0].startswith("|"):
        return _tabular(lines)
    if re.match(r"(- |\d\. )", lines[0]):
        items = re.split(r"\n(?=- |\d\. )", block)
        kind = "itemize" if block.startswith("- ") else "enumerate"
        texts = [_inline(" ".join(re.sub(r"^(- |\d\. )", "", item).split())) for item in items]
        inner = "\n".join(f"\\item {text}" for text in texts)
        return f"\\begin{{{kind}}}\n{inner}\n\\end{{{kind}}}"
    return _inline(" ".join(block.split()))


def _verbatim(lines: Sequence[str]) -> str:
    inner = "\n".join(lines)
    return f"\\begin{{Verbatim}}[fontsize=\\small]\n{inner}\n\\end{{Verbatim}}"


def _tabular(lines: Sequence[str]) -> str:
    rows = [[_inline(cell.strip()) for cell in line.strip("|").split("|")] for line in lines]
    head, _, *body = (" & ".join(row) + r" \\" for row in rows)
    columns = "l" + "r" * (len(rows[0]) - 1)
    inner = "\n".join(["\\toprule", head, "\\midrule", *body, "\\bottomrule"])
    return f"{{\\small\\begin{{longtable}}{{{columns}}}\n{inner}\n\\end{{longtable}}}}"


def _inline(text: str) -> str:
    """Escaped, with pictures, links, code, bold and italic text."""
    made, at = [], 0
    for span in SPANS.finditer(text):
        made.append(_raised(text[at : span.start()]))
        at = span.end()
        _, picture, words, target, code, bold, italic = span.groups()
        if picture is not None:
            made.append(f"\\includegraphics[width=\\linewidth]{{{Path(picture).stem}}}")
        elif words is not None:
            link = target.startswith("http")
            made.append(f"\\href{{{target}}}{{{_inline(words)}}}" if link else _inline(words))
        elif code is not None:
            made.append(f"\\texttt{{{_escaped(code)}}}")
        else:
            made.append(f"\\textbf{{{_inline(bold)}}}" if bold else f"\\emph{{{_inline(italic)}}}")
    return "".join(made) + _raised(text[at:])


def _escaped(text: str) -> str:
    return "".join(SPECIAL.get(letter, letter) for letter in text)


def _raised(text: str) -> str:
    """Escaped, with x^(y) and x_y as super- and subscripts, and minus signs for hyphens."""
    text = MINUS.sub(lambda minus: minus[0].replace("-", "−"), text)
    made, at = [], 0
    for script in SCRIPTS.finditer(text):
        inner = next(part for part in script.groups()[1:] if part is not None)
        kind = "super" if script[1] == "^" else "sub"
        made.append(_escaped(text[at : script.start()]) + f"\\text{kind}script{{{_raised(inner)}}}")
        at = script.end()
    return "".join(made) + _escaped(text[at:])
