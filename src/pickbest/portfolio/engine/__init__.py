"""The processes that start arms and end them; only the standard library is used here.

    portfolio ─ keeper ─ guard ─ arm ─ whatever the arm starts

The keeper (`keeper`) is one small process with one thread, so that forking is cheap and safe
whatever the portfolio's own process holds. It forks a guard (`guard`) for each run, which starts
the arm (`arm`), reports, and leaves no process of it behind. Keeper and guards
are child subreapers: what loses its parent becomes theirs (`tree`). Both watch the portfolio
through a socket and a pidfd, which the kernel closes whatever happens.

Who ends what is left when one of them is killed:

- the arm: its guard.
- the guard: the keeper, to which everything below the guard falls.
- the portfolio: every guard for itself, and then the keeper.
- the keeper: the guards live on, and the portfolio starts another keeper for its next race.
- portfolio and keeper, or portfolio and guard: the one that is left.

If a guard and the keeper are killed in one instant, the kernel ends the arm itself with its guard
(PR_SET_PDEATHSIG), but nobody knows any more what the arm has started. That runs on until it ends
on its own, exceeds its limit of processor time, or writes to its output, which nobody reads any
more (SIGPIPE).

Messages (`messages`) are JSON over sockets that have no name and that no arm inherits. What an arm
itself says is text: its output, and what a function returns as JSON.

Subreapers, pidfds and /proc exist on Linux only, and so does the local engine.
"""
