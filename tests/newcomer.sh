#!/usr/bin/env bash
# What someone who has never seen pickbest meets: a wheel, an empty folder, the README's install lines and
# its blocks, with the time that each takes. Usage: tests/newcomer.sh [WHEEL]; without one, it is built first.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset PYTHONPATH PICKBEST_CACHE
# Whatever it keeps, it keeps in folders of this run.
export HOME=$folder/home XDG_CACHE_HOME=$folder/home/.cache XDG_DATA_HOME=$folder/home/.local/share
export PIP_CACHE_DIR=${PIP_CACHE_DIR:-$("$python" -m pip cache dir)}
mkdir -p "$HOME"
cd "$folder"

step() { # what it is, then the command; it must succeed. Processor seconds hold on a busy machine, too
  local what=$1 wall user system TIMEFORMAT='%R %U %S'
  shift
  { time "$@" >step.log 2>&1; } 2>times.log || { echo "FAILED: $what" >&2; cat step.log >&2; exit 1; }
  read -r wall user system <times.log
  printf '%8.2f s, processor %6.2f s  %s\n' "$wall" "$(awk "BEGIN { print $user + $system }")" "$what"
}

blocks() { # the README's blocks of a language, as files python-1, python-2, …, and the files it shows
  "$python" - "$root/README.md" "$1" <<'PY'
import pathlib, re, sys
# The tests run the same blocks, perhaps at the same time: the service gets a port of its own.
text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").replace("8123", "8124")
for number, code in enumerate(re.findall(rf"^```{sys.argv[2]}\n(.*?)^```$", text, re.M | re.S), 1):
    kept = [line for line in code.splitlines() if not line.startswith(("pip ", "make "))]
    first = ["set -e", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"] * (sys.argv[2] == "sh")
    pathlib.Path(f"{sys.argv[2]}-{number}").write_text("\n".join([*first, *kept]))
for name, content in re.findall(r'^```\w+ title="(\S+)"\n(.*?)^```$', text, re.M | re.S):
    pathlib.Path(name).write_text(content)
PY
}

wheel=${1:-}
if [ -z "$wheel" ]; then
  # From a copy: building writes into the tree, where tests may run at the same time.
  mkdir tree && cp -r "$root"/{pyproject.toml,README.md,LICENSE,src} tree
  step "build the wheel" "$python" -m pip wheel --quiet --no-deps --wheel-dir dist ./tree
  wheel=$(ls dist/*.whl)
fi
step "an empty environment" "$python" -m venv venv
. venv/bin/activate
# The extras of the README's own install lines, so that what it shows needs nothing beyond them.
extras=$(sed -n "s/^ *pip install '[^[]*\[\([a-z,]*\)\]'.*/\1/p" "$root/README.md" | paste -sd,)
step "pip install 'pickbest[$extras]'" pip install --quiet --constraint "$root/constraints.txt" "$wheel[$extras]"
printf '%8s on disk\n' "$(du -sh venv | cut -f1)"
step "pickbest --help, the first time" pickbest --help
step "pickbest --help" pickbest --help
step "simulate task-1 --budget 3, compiling" pickbest simulate task-1 --budget 3
step "simulate task-1 --budget 3, again" pickbest simulate task-1 --budget 3
printf '(set-logic QF_LIA)(declare-const x Int)(assert (> (* 2 x) 7))(check-sat)' >problem.smt2
step "pickbest solve problem.smt2" pickbest solve problem.smt2
blocks python
blocks sh
for code in python-* sh-*; do
  step "README, $code: $(grep -m1 '^pickbest \|^from ' "$code" || echo only set-up)" \
    "$([ "${code%-*}" = sh ] && echo bash || echo python)" "$code"
done
step "pip uninstall" pip uninstall --yes pickbest
left=$(find venv -path '*site-packages/pickbest/*' | wc -l)
[ "$left" = 0 ] || { echo "FAILED: uninstalling left $left files" >&2; exit 1; }
echo "nothing is left of it"
