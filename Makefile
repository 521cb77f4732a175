# Everything installs into .venv; the first target that needs it makes it.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: install reproduce arena test test-slow browser check bench peers clean

install: $(STAMP)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "driftbandit needs Python 3.11 or later; say which with: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[cluster,serve,postgres,gym]" --group dev
	@touch $(STAMP)

reproduce: $(STAMP)
	$(BIN)/driftbandit reproduce $(ARGS)

arena: $(STAMP)
	$(BIN)/driftbandit arena $(ARGS)

test: $(STAMP) browser
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile $(ARGS)

test-slow: $(STAMP) browser
	$(BIN)/python -m pytest -m slow $(ARGS)

# The report is tested in a real browser: the system's, or else one that Playwright brings.
browser: $(STAMP)
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	|| $(BIN)/playwright install chromium >/dev/null 2>&1 \
	|| echo "note: browser tests are skipped; to run them install Chromium, e.g. apt-get install chromium"

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m benchmarks $(ARGS)

# Other libraries, for `make bench` to measure beside this one.
peers: .venv-peers/.installed

.venv-peers/.installed:
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet "river>=0.21" "mabwiser>=2.7" "pymab>=2.0"
	@touch $@

clean:
	rm -rf .venv .venv-peers build dist reproduction arena .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
