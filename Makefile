# Everything installs into .venv; the first target that needs it makes it.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: install reproduce test test-slow check bench clean

install: $(STAMP)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "driftbandit needs Python 3.11 or later; say which with: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[cluster]" --group dev
	@touch $(STAMP)

reproduce: $(STAMP)
	$(BIN)/driftbandit reproduce $(ARGS)

test: $(STAMP)
	$(BIN)/python -m pytest $(ARGS)

test-slow: $(STAMP)
	$(BIN)/python -m pytest -m slow $(ARGS)

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m benchmarks $(ARGS)

clean:
	rm -rf .venv build dist reproduction .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
