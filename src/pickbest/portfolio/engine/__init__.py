"""The processes that start arms and end them; nothing but the standard library is used here.

    portfolio ─ keeper ─ guard ─ arm ─ whatever the arm starts

The keeper (`keeper`) is one small process with one thread, so that forking is cheap and safe
whatever the portfolio's own process holds. It forks guards (`guard`), each of which runs one arm
at a time (`arm`), leaves no process of it behind, and then waits for the next. Keeper and guards
are child subreapers: what loses its parent becomes theirs (`tree`). Both watch the portfolio
through a socket and a pidfd, which the kernel closes whatever happens.

Who ends what is left when one of them dies:

- the arm: its guard. - the guard: the keeper, to which everything below it falls.
- the portfolio: every guard for itself, and the keeper. - the keeper: the guards live on; if one
  of them dies as well, the portfolio looks for the mark that every process of an arm carries.

Messages (`wire`) are JSON and bytes with their lengths before them, over sockets that have no
name and that no arm inherits. What an arm itself says is bytes: its output is text, and what
a function returns is read as data (`values`).

Subreapers, pidfds and /proc exist on Linux only; elsewhere the arm's process group is killed,
and a daemon that left the group may survive.
"""
