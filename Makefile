# make run: the whole arena on this machine.   make test: everything that shows it works.
PYTHON ?= python3
PORT ?= 7860
HUB_PORT ?= 7861
PYTEST_ARGS ?=
BIN := .venv/bin

.PHONY: setup run test lint format lock clean

# What runs: the arena's set and the trainer's, and the `arena` command.
setup: .venv/.ready

.venv/.ready: requirements-check.txt requirements.txt requirements-posttrain.txt pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; this is " + sys.version.split()[0] + ". Try: make run PYTHON=python3.11") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get -q update && \
	    DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends python3-venv; } || \
	  { echo "Python's venv is missing: install the package python3-venv." >&2; exit 1; }
	@echo 'Installing what the arena and its trainer need (about 1.5 GB, once) …'
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --disable-pip-version-check -q -c constraints.txt -r requirements-posttrain.txt
	@$(BIN)/pip install --disable-pip-version-check -q --no-deps -e .
	@touch $@

# What tests and lint need beside it.
.venv/.dev: .venv/.ready requirements-dev.txt
	@$(BIN)/pip install --disable-pip-version-check -q -c constraints.txt -r requirements-dev.txt
	@touch $@

run: setup
	@exec $(BIN)/python -m local.stack --port $(PORT) --hub-port $(HUB_PORT)

test: lint
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Writes down every version that is installed, after the requirements were changed and tested.
lock: .venv/.dev
	@{ sed -n '/^#/p' constraints.txt; \
	   $(BIN)/pip list --format=freeze --exclude-editable --exclude pip --exclude setuptools | \
	   sed 's/+cpu$$//'; } > constraints.new && mv constraints.new constraints.txt

# Takes away what `make` made: the environment, and what was entered on this machine.
clean:
	-$(BIN)/python -m local.engine stop
	rm -rf .venv .local .pytest_cache .mypy_cache .ruff_cache *.egg-info
