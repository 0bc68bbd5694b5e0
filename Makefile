# One door: what is run here is what CI runs. `make` alone lists the targets.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
PEERS  := $(VENV)/.peers
WRITER := $(VENV)/.docs
FAST   := -m "not slow and not agreement"
PLAIN  := tests/kernels tests/losses tests/properties tests/notes tests/trees tests/data tests/ensembles
WORKERS ?= 2

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lint fix test-plain test-all docs bench bench-full bench-table clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(READY)  ## train, compare, save and explain on census data
	@$(BIN)/python examples/demo.py

test: $(READY)  ## the fast tests and the examples in docstrings
	@$(BIN)/hedgerow warmup
	$(BIN)/python -m pytest -n $(WORKERS) $(FAST)

lint: $(READY)  ## ruff, mypy, import contracts, spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/codespell

fix: $(READY)  ## format, and repair what ruff can repair
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test-plain: $(READY)  ## the kernels' tests with the JIT off, line by line
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n $(WORKERS) $(FAST) $(PLAIN) --cov

test-all: $(READY)  ## every test, with hypothesis trying harder
	HYPOTHESIS_PROFILE=search $(BIN)/python -m pytest -n $(WORKERS)

docs: $(WRITER)  ## the guide and the reference as a site, build/site/index.html; warnings are errors
	$(BIN)/python -m sphinx -b html -E -W --keep-going -q docs build/site
	@echo "build/site/index.html"

bench: $(PEERS)  ## a first look at every benchmark, ten minutes: one table, what is behind in red
	@PYTHONPATH=. $(BIN)/python benchmarks/bench.py

bench-full: $(PEERS)  ## every benchmark, 15 runs, in hours; appends to benchmarks/results
	@$(BIN)/hedgerow warmup
	@PYTHONPATH=. $(BIN)/python benchmarks/bench.py --full

bench-table: $(READY)  ## make the table of README.md of the results that are stored
	PYTHONPATH=. $(BIN)/python benchmarks/table.py

clean:  ## remove the environment, caches and what the demo wrote
	rm -rf $(VENV) build dist .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -rf docs/guide/pictures .import_linter_cache demo_tree.png demo.hedgerow demo_predictions.csv
	find hedgerow tests examples -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp is removed before the environment is touched and set when it is whole: after an
# interruption the next run starts from an empty one. Some systems have a venv without pip
# of its own; there the system's pip puts one in.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "hedgerow needs Python 3.11 or newer, and \`$(PYTHON)\` is not" \
	       "($$($(PYTHON) --version 2>&1)). Choose another: make $(MAKECMDGOALS) PYTHON=python3.12"; \
	  exit 1; }
	@echo "Preparing $(VENV) (a minute or two, once)"
	@test -f $@ || $(PYTHON) -m venv --clear $(VENV) || { \
	  $(PYTHON) -m venv --clear --without-pip $(VENV) && \
	  $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; }
	@rm -f $@ $(PEERS) $(WRITER)
	@$(BIN)/python -m pip install --quiet --upgrade pip
	@$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

$(PEERS): $(READY)
	@$(BIN)/python -m pip install --quiet --editable '.[bench]'
	@touch $@

$(WRITER): $(READY)
	@$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@
