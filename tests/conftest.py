"""What tests share: where the unshipped data lies, and why a test is skipped without it."""

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture(scope="session")
def paper_rewards() -> Path:
    """The paper's recorded rewards, which are not part of the product."""
    path = SHARED / "data" / "paper_rewards" / "rewards.csv"
    if not path.exists():
        pytest.skip(f"the paper's recorded rewards are not shipped; looked for {path}")
    return path
