# Two commands do all of their own set-up: `make reproduce` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
REPRODUCE := $(VENV)/installed-reproduce
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
WORKERS ?= 2
# Each worker begins with a half of its own, so that what a file sets up is set up once.
PYTEST := $(BIN)/pytest -n $(WORKERS) --dist worksteal
# Tests that need no compiler, no process and no server.
FAST := tests/core tests/catalog tests/environments tests/hindsight tests/theory/test_theory.py tests/test_package.py

.PHONY: help install reproduce check test lint docs bench mutants clean
help:
	@echo "make reproduce   rebuild the paper's tables and figures into out/ (main job)"
	@echo "make check       a verdict in about a minute: lint, types, layers, fast tests"
	@echo "make test        lint, types, layers, doctests, README and the whole test suite"
	@echo "make docs        the documentation as a site, out/site/index.html"
	@echo "make bench       measure speed beside reference implementations and peers"
	@echo "make mutants     break the code in 300 places and see whether the tests notice"
	@echo "make install     only prepare the environment in $(VENV), with everything"
	@echo "make clean       remove the environment and everything that was built"

install: $(STAMP)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "pickbest needs Python 3.11 or newer; set PYTHON=python3.x" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable '.[dev]'
	@touch $(STAMP) $(REPRODUCE)

$(REPRODUCE): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable '.[reproduce]'
	@touch $(REPRODUCE)

reproduce: $(REPRODUCE)
	$(BIN)/python -m studies reproduce --workers $(WORKERS) $(ARGS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint
	$(PYTEST) $(FAST) $(ARGS)

test: lint
	$(PYTEST) $(ARGS)

docs: $(STAMP)
	$(BIN)/mkdocs build --strict

bench: $(STAMP)
	$(BIN)/python benchmarks/run.py $(ARGS)

mutants: $(STAMP)
	$(BIN)/python tests/mutants.py --workers $(WORKERS) $(ARGS)

clean:
	rm -rf $(VENV) .cache build out src/pickbest.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
