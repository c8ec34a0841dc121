"""What MkDocs needs to show pages and docstrings that were written for the repository."""

import json
import re
from pathlib import Path
from typing import Any

import griffe

OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]*\)")
EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.M)
PARAMETER = re.compile(r"^(\w+(?:, \w+)*): ", re.M)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A link into the repository is a name: the site holds the docs only.

    Pages in folders link to their neighbours by ../, and stay as they are.
    """
    return markdown if "/" in page.file.src_uri else OUTSIDE.sub(r"`\1`", markdown)


def on_post_page(output: str, **_: Any) -> str:
    """The theme's switch of colours fails without the style sheets of its highlighter, which we
    do not use: empty elements stand for them."""
    return output.replace("</head>", '<meta id="hljs-light"><meta id="hljs-dark"></head>')


def on_post_build(config: Any, **_: Any) -> None:
    """The search index as a script: a page that was opened from a file may load no JSON."""
    folder = Path(config.site_dir) / "search"
    index = json.loads((folder / "search_index.json").read_text(encoding="utf-8"))["docs"]
    text = f"window.searchPages = {json.dumps(index)};\n"
    (folder / "pages.js").write_text(text, encoding="utf-8")


class Docstrings(griffe.Extension):
    """Doctests are code, and parameters are a list."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            text = PARAMETER.sub(r"\n- **\1**: ", obj.docstring.value)
            obj.docstring.value = EXAMPLE.sub(
                lambda found: f"\n```pycon\n{found[0].rstrip()}\n```\n", text
            )
