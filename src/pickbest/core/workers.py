"""Work spread over processes, given back as it finishes."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any, TypeVar

import cloudpickle

Item = TypeVar("Item")
Done = TypeVar("Done")


def each_finished(
    work: Callable[[Item], Done],
    items: Sequence[Item],
    workers: int,
    length: Callable[[Item], float],
) -> Iterator[tuple[Item, Done]]:
    """(item, work(item)) as they finish; several processes begin with the longest.

    Items and work may be of classes and functions that stand in no module (a notebook's).
    Whoever stops asking ends the processes: nothing that runs is worth waiting for.
    """
    if workers == 1 or len(items) < 2:
        for item in items:
            yield item, work(item)
        return
    # Spawned, not forked: a fork would copy locks that other threads may hold.
    context = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    count = min(workers, len(items))
    with ProcessPoolExecutor(count, mp_context=context, initializer=_follow_parent) as pool:
        try:
            futures = {
                pool.submit(_unpack_and_work, cloudpickle.dumps((work, item))): item
                for item in sorted(items, key=length, reverse=True)
            }
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            # The pool takes it for a crash and drops the rest; leaving `with` waits for its thread,
            # which must not close its pipe while the interpreter ends.
            for child in set(multiprocessing.active_children()) - before:
                child.terminate()
            raise


def _unpack_and_work(packed: bytes) -> Any:
    work, item = cloudpickle.loads(packed)
    return work(item)


def _follow_parent() -> None:
    """Workers leave Ctrl-C to the main process, and end with it even where it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
