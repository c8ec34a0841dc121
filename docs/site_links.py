"""MkDocs: a link into the repository is a name on the site, which holds the docs only."""

import re
from typing import Any

OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]*\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page's text; pages in folders link to their neighbours by ../, and stay as they are."""
    return markdown if "/" in page.file.src_uri else OUTSIDE.sub(r"`\1`", markdown)
