# Each command sets up what it needs; `make reproduce` and `make test` are those of the README.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
TEST := $(VENV)/installed-test
REPRODUCE := $(VENV)/installed-reproduce
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
WORKERS ?= 2
# Each worker begins with a half of its own, so that what a file sets up is set up once.
PYTEST := $(BIN)/pytest -n $(WORKERS) --dist worksteal
# The marks that pyproject.toml explains: `make test` leaves these out, `make test-all` runs only them.
MORE := ray or postgres or browser or slow
# Tests that need no compiler, no process and no server.
FAST := tests/core tests/catalog tests/environments tests/hindsight tests/theory/test_theory.py tests/test_package.py

.PHONY: help install reproduce check test test-all lint docs paper bench clean
help:
	@echo "make reproduce   rebuild the paper's tables and figures into out/ (main job)"
	@echo "make check       a verdict in about a minute: lint, types, layers, fast tests"
	@echo "make test        lint, types, layers, doctests, the README's blocks, the tests: 7 minutes"
	@echo "make test-all    all that make test leaves out: Ray, PostgreSQL, browser, docs, fuzz, wheel, …"
	@echo "make docs        the documentation as a site, out/site/index.html"
	@echo "make paper       docs/two-picks.md as a PDF, out/paper/, where pandoc and TeX are installed"
	@echo "make bench       measure speed against reference implementations and peers"
	@echo "make install     only prepare the environment in $(VENV), with everything"
	@echo "make clean       remove the environment and everything that was built"

install: $(STAMP)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "pickbest needs Python 3.11 or newer; set PYTHON=python3.x" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable '.[dev]'
	@touch $(STAMP) $(TEST) $(REPRODUCE)

$(REPRODUCE): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable '.[reproduce]'
	@touch $(REPRODUCE)

$(TEST): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable '.[test]'
	@touch $(TEST) $(REPRODUCE)

reproduce: $(REPRODUCE)
	$(BIN)/python -m studies reproduce --workers $(WORKERS) $(ARGS)

lint: $(TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint
	$(PYTEST) $(FAST) $(ARGS)

test: lint
	$(PYTEST) -m "not ($(MORE))" $(ARGS)

test-all: $(STAMP)
	$(PYTEST) -m "$(MORE)" $(ARGS)
	tests/other_pythons.sh
	tests/newcomer.sh

docs: $(STAMP)
	$(BIN)/mkdocs build --strict

paper:
	@command -v pandoc >/dev/null && command -v xelatex >/dev/null || { echo "make paper needs pandoc and xelatex (Debian: pandoc,"  \
	  "texlive-xetex, texlive-latex-recommended, texlive-fonts-recommended, librsvg2-bin)" >&2; exit 2; }
	mkdir -p out/paper
	pandoc docs/two-picks.md --from gfm --resource-path docs --pdf-engine xelatex -V geometry:margin=25mm \
	  -V mainfont="DejaVu Serif" -V monofont="DejaVu Sans Mono" -o out/paper/two-picks.pdf

bench: $(STAMP)
	PYTHONPATH=. $(BIN)/python benchmarks/run.py $(ARGS)

clean:
	rm -rf $(VENV) .cache build out src/pickbest.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
