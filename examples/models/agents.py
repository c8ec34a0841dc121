"""A race of coding agents, each in a git worktree of its own; a command judges what they leave.

    python agents.py REPOSITORY "TASK" --judge "pytest -q" --agent "one=agent-a -p {task}" \
        --agent "two=agent-b {task}" --budget 1

An agent is any command line; {task} is replaced, and it runs in its worktree. The judge runs there,
too: exit code 0 is quality 1, anything else 0. What the best agent left is committed on a branch
`agent/NAME/ROUND`. The journal lies in REPOSITORY/.git/agents.db, so that the next task is given to
those who did well.
"""

import argparse
import shlex
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pickbest import AskTell

MINUTES = 60.0
# Git cannot make two worktrees of one repository at the same time.
ONE_BY_ONE = threading.Lock()


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def attempt(repository: Path, branch: str, command: str, task: str, judge: str) -> float:
    """Let an agent work on a branch of its own; the quality of what it leaves."""
    with tempfile.TemporaryDirectory(prefix="agent-") as folder:
        tree = Path(folder) / "tree"
        with ONE_BY_ONE:
            git(repository, "worktree", "add", "-q", "-b", branch, str(tree))
        try:
            words = [word.replace("{task}", task) for word in shlex.split(command)]
            try:
                subprocess.run(words, cwd=tree, timeout=60 * MINUTES, check=True)
                judged = subprocess.run(shlex.split(judge), cwd=tree, timeout=60 * MINUTES)
            except (OSError, subprocess.SubprocessError) as error:
                print(f"{branch}: {error}", file=sys.stderr)
                return 0.0
            git(tree, "add", "-A")
            git(tree, "commit", "-q", "--allow-empty", "-m", task)
            return float(judged.returncode == 0)
        finally:
            with ONE_BY_ONE:
                git(repository, "worktree", "remove", "--force", str(tree))


def race(
    repository: Path, task: str, judge: str, agents: dict[str, str], budget: int
) -> str | None:
    """The branch of the best attempt, or None where none is good; it is learned who did well."""
    store = Path(git(repository, "rev-parse", "--absolute-git-dir")) / "agents.db"
    with AskTell(list(agents), budget, store, rewards=True) as book:
        ticket = book.ask(task)
        branches = {name: f"agent/{name}/{ticket.round}" for name in ticket.arms}
        with ThreadPoolExecutor(len(branches)) as pool:
            found = pool.map(
                lambda name: attempt(repository, branches[name], agents[name], task, judge),
                branches,
            )
            quality = dict(zip(branches, found, strict=True))
        book.tell(ticket, quality)
    best = max(quality, key=lambda name: quality[name])
    for name, branch in branches.items():
        if name != best or not quality[best]:
            git(repository, "branch", "-q", "-D", branch)
    return branches[best] if quality[best] else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("task")
    parser.add_argument("--judge", required=True, help="command that says whether it is done")
    parser.add_argument("--agent", action="append", required=True, metavar="NAME=COMMAND")
    parser.add_argument("--budget", type=int, default=1, help="agents that work at the same time")
    given = parser.parse_args()
    agents = dict(each.split("=", 1) for each in given.agent)
    branch = race(given.repository, given.task, given.judge, agents, given.budget)
    print(branch or "no agent did it")
    sys.exit(branch is None)


if __name__ == "__main__":
    main()
