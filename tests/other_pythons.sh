#!/usr/bin/env bash
# The core's tests with every other Python that is claimed to work and is on this machine, each in an
# environment of its own. Usage: tests/other_pythons.sh [WHAT TO TEST …]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
own=$("${PYTHON:-python3}" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
tests=("$@")
[ "${#tests[@]}" -gt 0 ] || tests=(tests/core tests/catalog tests/environments tests/hindsight tests/theory tests/test_player.py)
unset PYTHONPATH
cd "$root"
for version in $(sed -n 's/.*Python :: \(3\.[0-9]*\)".*/\1/p' pyproject.toml); do
  [ "$version" != "$own" ] || continue
  python=$(ls -d "$HOME"/.pyenv/versions/"$version".*/bin/python 2>/dev/null | tail -1 || true)
  python=${python:-$(command -v "python$version" || true)}
  if ! "${python:-false}" -c 'import venv' 2>/dev/null; then
    echo "Python $version: not on this machine, skipped"
    continue
  fi
  environment=.cache/python-$version
  "$python" -m venv "$environment"
  "$environment/bin/python" -m pip install --quiet --disable-pip-version-check \
    --constraint constraints.txt --editable '.[report,data,lp,serve,aslib]' pytest hypothesis
  echo "Python $version: ${tests[*]}"
  "$environment/bin/python" -m pytest -q -p no:cacheprovider "${tests[@]}"
done
