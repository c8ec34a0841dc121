"""`pickbest solve`: the solvers that are installed, raced, with nothing to configure.

`known` is the table of solvers, `problem` what a call is about, `call` one call from the problem
to the answer. What to run next is learned in a journal, as in any portfolio; but opening that
takes longer than many a problem. So a call takes its ticket from a `stock` of tickets that were
asked for ahead, and leaves its result there; `learning`, a process in the background, takes the
results to the journal and fills the stock up. A `daemon` needs no stock: it holds the journal.
"""
