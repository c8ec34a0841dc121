"""`pickbest solve`: the solvers that are installed, raced, with nothing to configure.

`known` is the table of solvers, `problem` what a call is about, `call` one call from the problem to
the answer. What to run next is learned in a journal, as in any portfolio; but opening that takes
longer than many a problem. So a call takes one of several sets of solvers that were picked ahead
(see `keep`) and leaves its result there; `learning`, a process in the background, takes the results
to the journal and picks anew. `session` serves programs that talk to their solver.
"""
