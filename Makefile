# Everything a person or CI does here. Each target does its own set-up, once; it needs Python 3.12, Node 20 and make.

.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory

# The first that is a Python 3.12 and not a shim without one.
PYTHON ?= $(shell for p in python3.12 "$$(pyenv prefix 2>/dev/null)/bin/python3" python3 python; do \
	"$$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, 12))' 2>/dev/null && { echo "$$p"; break; }; done)

VENV := .venv/bin
PY := $(VENV)/python
UV := $(VENV)/uv --quiet --no-config
SAM := .tools/sam/bin/sam
ENVIRONMENT := .venv/.ready
TOOLS := .tools/sam/.ready .tools/ministack/.ready
VIEWER := layers/engine/stepweave/api/ui/index.html
NODE := $(shell node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' \
	2>/dev/null && command -v npm)
ARGS ?=

export PATH := $(CURDIR)/$(VENV):$(PATH)
export SAM_CLI_TELEMETRY := 0
export AWS_DEFAULT_REGION ?= us-east-1

.PHONY: help up test test-fast coverage check format build bench openapi lock upgrade setup viewer clean

help: ## show this
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "make %-10s %s\n", $$1, $$2}'

up: setup viewer ## the whole stack on this machine: emulator, deployed template, API and events (ARGS="--port 2438")
	@$(VENV)/stepweave up $(ARGS)

test: setup $(VIEWER) ## all tests; quiet when green
	@$(PY) -m pytest -q --ignore=tests/e2e --ignore=tests/browser -n auto --dist loadgroup $(ARGS)
	@$(PY) -m pytest -q tests/browser $(ARGS) # in a process of its own: Playwright keeps an event loop running in it
	@$(PY) -m pytest -q tests/e2e $(ARGS)

test-fast: $(ENVIRONMENT) ## the tests that take no emulator and no more than seconds
	@$(PY) -m pytest -q --ignore=tests/e2e --ignore=tests/browser -m "not slow" -n auto --dist loadgroup $(ARGS)

coverage: $(ENVIRONMENT) ## the tests in process, with the lines and branches that none of them takes
	@$(PY) -m pytest -q --ignore=tests/e2e --ignore=tests/browser -m "not slow" -n auto --dist loadgroup --cov --cov-report=term-missing:skip-covered $(ARGS)

check: setup $(VIEWER) ## everything CI checks before the tests
	@$(VENV)/ruff check --quiet .
	@$(VENV)/ruff format --quiet --check .
	@$(VENV)/mypy --no-error-summary
	@$(VENV)/lint-imports --no-logo >.tools/lint-imports.log || { cat .tools/lint-imports.log; exit 1; }
	@$(SAM) validate --lint >.tools/sam-validate.log 2>&1 || { cat .tools/sam-validate.log; exit 1; }
	@$(VENV)/cfn-lint template.yaml
	@$(PY) requirements/lock.py --check
	@printf '%s\0' clients/js/src/*.js | xargs -0 -n 1 node --check
	@echo "check: all good"

format: $(ENVIRONMENT) ## mends what the linter can mend, and formats
	@$(VENV)/ruff check --quiet --fix .
	@$(VENV)/ruff format --quiet .

build: setup viewer ## the deployable artefacts in .aws-sam/build
	@$(PY) -m stepweave_local.build

bench: setup $(VIEWER) .tools/bench/.ready ## the benchmarks, each against a peer in the same run
	@PYTHONPATH=layers/engine:local .tools/bench/bin/python bench/run.py $(ARGS)

openapi: $(ENVIRONMENT) ## writes docs/openapi.json, the description of the API
	@PYTHONPATH=layers/engine $(PY) docs/openapi.py

lock: $(ENVIRONMENT) ## compiles requirements/*.in; versions already locked stay
	@$(PY) requirements/lock.py

upgrade: $(ENVIRONMENT) ## as lock, with the newest versions
	@$(PY) requirements/lock.py --upgrade

setup: $(ENVIRONMENT) $(TOOLS) ## the environments, without doing anything in them
	@:

viewer: $(if $(NODE),$(VIEWER)) ## the run viewer, built into the API
	@$(if $(NODE),:,echo "make: no Node.js 20.19 or later with npm: the run viewer is left out, /ui says how to get it" >&2)

clean: ## removes what make has made; keeps the data of the local stack in .stepweave
	@rm -rf web/node_modules web/dist $(dir $(VIEWER)) .venv .tools .aws-sam dist .coverage* .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	@find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

# Environments. pip installs uv, uv installs the rest; a stamp tells that the environment matches its lock.

$(VENV)/python3.12:
	@[ -n "$(PYTHON)" ] || { echo "make: no Python 3.12 found: install it (with its venv module), or run make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@echo "make: setting up .venv" >&2
	@"$(PYTHON)" -m venv --clear .venv

$(VENV)/uv: requirements/dev.txt | $(VENV)/python3.12
	@$(PY) -m pip install --quiet --disable-pip-version-check "$$(grep -oE '^uv==[0-9.]+' requirements/dev.txt)"
	@touch $@

$(ENVIRONMENT): requirements/dev.txt pyproject.toml $(VENV)/uv
	@$(UV) pip sync --python $(PY) requirements/dev.txt
	@$(UV) pip install --python $(PY) --no-deps --no-build-isolation --editable .
	@touch $@

.tools/%/.ready: requirements/%.txt | $(VENV)/uv
	@echo "make: setting up .tools/$*" >&2
	@$(UV) venv --clear --python $(PY) .tools/$*
	@$(UV) pip sync --python .tools/$*/bin/python requirements/$*.txt
	@touch $@

$(VIEWER): web/node_modules/.ready $(shell find web/src clients/js/src -type f) $(addprefix web/,index.html vite.config.ts)
	@echo "make: building the run viewer" >&2
	@mkdir -p .tools
	@cd web && npm run --silent build >../.tools/viewer-build.log 2>&1 || { cat ../.tools/viewer-build.log; exit 1; }

web/node_modules/.ready: web/package-lock.json
	@[ -n "$(NODE)" ] || { echo "make: the run viewer needs Node.js 20.19 or later with npm: install it" >&2; exit 1; }
	@echo "make: setting up web/node_modules" >&2
	@cd web && npm ci --silent
	@touch $@
