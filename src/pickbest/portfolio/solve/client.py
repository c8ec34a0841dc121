#!/bin/sh
""":"
# To the shell this is a program: it starts Python without `site`, which pip's own scripts cannot,
# or what a daemon compiled from client.c, which starts ten times as quickly.
python="${0%/*}/python"
[ -x "$python" ] || python=python3
socket="${XDG_DATA_HOME:-$HOME/.local/share}/pickbest/solve/daemon.sock"
[ -z "$XDG_RUNTIME_DIR" ] || socket="$XDG_RUNTIME_DIR/pickbest-solve.sock"
[ -x "$socket.client" ] && exec "$socket.client" "$socket" "$python" "$0" "$@"
exec "$python" -IS "$0" "$@"
":"""

# A call for a daemon: hands it our words, folder and standard streams, and waits for the code.
# This file is also the program `pickbest-solve`. It imports next to nothing, because a Python that
# starts as usual takes longer than all the rest.

import _socket
import posix
import sys

# A daemon that has too much to do answers so, and the call is made without it.
BUSY = 255
LONGEST = 1 << 20
_FILE_NAMES = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()


def socket_path() -> bytes:
    """Where the daemon of this user listens."""
    if runtime := posix.environ.get(b"XDG_RUNTIME_DIR"):
        return runtime + b"/pickbest-solve.sock"
    home = posix.environ.get(b"XDG_DATA_HOME") or posix.environ.get(b"HOME", b"") + b"/.local/share"
    return home + b"/pickbest/solve/daemon.sock"


def forwarded(words: list[str]) -> int | None:
    """The exit code of a call that a daemon took; None where there is no daemon for it."""
    if any(word in ("--daemon", "--learn", "--help", "-h") for word in words):
        return None
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.connect(socket_path())
        credentials = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
        if int.from_bytes(credentials[4:8], sys.byteorder) != posix.getuid():
            return None
        text = b"\0".join([posix.getcwdb(), *(word.encode(*_FILE_NAMES) for word in words)])
        if len(text) > LONGEST:
            return None
        streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
        rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)]
        connection.sendmsg([len(text).to_bytes(4, "big")], rights)
        connection.sendall(text)
    except (OSError, AttributeError):  # nobody listens, or this system knows no credentials
        return None
    try:
        answer = connection.recv(1)
    except ConnectionError:
        answer = b""
    except KeyboardInterrupt:  # the daemon sees that we are gone
        return 130
    if not answer:
        posix.write(2, b"error: the daemon of pickbest solve ended during this call\n")
        return 1
    return None if answer[0] == BUSY else answer[0]


if __name__ == "__main__":
    code = forwarded(sys.argv[1:])
    if code is None:
        command = [sys.executable, "-m", "pickbest.cli.solve", *sys.argv[1:]]
        posix.execv(sys.executable, command)
    posix._exit(code)  # nothing is left to be tidied up, and that takes a while, too
