"""Ask, tell and history over HTTP, and a page that shows a running portfolio (extra: serve)."""
