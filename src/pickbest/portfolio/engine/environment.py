"""The environment of an arm: what a program needs to run, and none of the portfolio's secrets."""

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

# What programs look up to find their way, and what sets how they compute.
USUAL = re.compile(
    "PATH|HOME|USER|LOGNAME|SHELL|TERM|COLUMNS|LINES|TZ|TMPDIR|TMP|TEMP|LANG|LANGUAGE|JAVA_HOME|"
    "VIRTUAL_ENV|CONDA_PREFIX|LD_LIBRARY_PATH|LD_PRELOAD|PYTHON.*|"
    "(LC|XDG|DYLD|SSL_CERT|OMP|OPENBLAS|MKL|BLIS|GOTO|NUMEXPR|NUMBA|KMP|CUDA|NVIDIA|ROCR|HIP)_.*"
)
# Names under which secrets travel; such a variable reaches an arm only if it is asked for.
SECRET = re.compile(
    r"TOKEN|PASSW|PWD$|SECRET|CREDENTIAL|AUTH|_KEY$|^KEY|APIKEY|DATABASE_URL|_DSN$|COOKIE", re.I
)


def environment(
    ours: Mapping[str, str],
    passed: Iterable[str] = (),
    own: Mapping[str, str] | Iterable[tuple[str, str]] = (),
) -> dict[str, str]:
    """An arm's variables: the usual ones of ours, those that are passed on, and its own.

    passed: names, with * for any letters; "*" alone passes everything on.

    >>> ours = {"PATH": "/bin", "PGPASSWORD": "x", "LICENSE": "here", "CUDA_API_KEY": "x"}
    >>> environment(ours, ["LICENSE"], {"SEED": "1"})
    {'PATH': '/bin', 'LICENSE': 'here', 'SEED': '1'}
    """
    wanted = tuple(passed)
    found = {
        name: value
        for name, value in ours.items()
        if any(fnmatchcase(name, pattern) for pattern in wanted)
        or (USUAL.fullmatch(name) and not SECRET.search(name))
    }
    return {**found, **dict(own)}
