"""Two picks are enough: what docs/two-picks.md measures, and the page itself."""
