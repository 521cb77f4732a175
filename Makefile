# Everything installs into .venv; the first target that needs it makes it.
PYTHON ?= python3
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
STAMP := .venv/.installed

.PHONY: install reproduce arena test test-slow test-lowest browser check docs docs-serve dist bench peers clean

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

# A short part of the suite, in an environment with the lowest versions that pyproject.toml allows.
LOWEST := .venv-lowest
EXTRAS := cluster logs serve client
COMMA := ,
SPACE := $(subst ,, )
SHORT := tests/test_public_api.py tests/test_contract.py tests/test_files.py tests/engine/test_exactness.py \
	tests/exact/test_reference.py tests/online/test_rewards.py tests/logs/test_reading.py tests/service/test_security.py

test-lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/driftbandit simulate slow --policy ts --policy drift-filter --horizon 100 --runs 2 --json
	$(LOWEST)/bin/python -m pytest -p no:cacheprovider $(or $(ARGS),$(SHORT))

$(LOWEST)/.installed: pyproject.toml tools/lowest.py
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python tools/lowest.py $(EXTRAS) > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(LOWEST)/bin/python -m pip install --quiet --constraint $(LOWEST)/constraints.txt \
	    --editable ".[$(subst $(SPACE),$(COMMA),$(EXTRAS))]" hypothesis mpmath pytest pytest-xdist
	@touch $@

# The documentation site, in the folder site.
DOCS := .venv/.docs-installed
docs: $(DOCS)
	$(BIN)/python docs/site/build.py site

docs-serve: docs
	@echo "http://127.0.0.1:8000/"
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory site 8000

$(DOCS): $(STAMP)
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@

# What a release consists of, in dist, checked.
dist: $(STAMP)
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*

bench: $(STAMP)
	$(BIN)/python -m benchmarks $(ARGS)

# Other libraries, for `make bench` to measure beside this one.
peers: .venv-peers/.installed

.venv-peers/.installed:
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet "river>=0.21" "mabwiser>=2.7" "pymab>=2.0"
	@touch $@

clean:
	rm -rf .venv .venv-lowest .venv-peers build dist site reproduction arena .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
