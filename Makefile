# Everything a contributor or a new user does. Each target makes what it needs.
PYTHON ?= python3
# An environment for each Python: .venv, or .venv-3.13 for PYTHON=python3.13.
VENV := .venv$(if $(filter file,$(origin PYTHON)),,-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])'))
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
INPUTS ?= 20000
KILLS ?= 1000
EFFORT ?= 10
CRASHES ?= 1000
MINUTES ?= 30
LOCKED := completion dev documents ontology parquet plot text topics

.DEFAULT_GOAL := help
.PHONY: help install demo test thorough check fix soak chaos fuzz floors profiles pictures validators bench contest package plain lock clean

help: ## list these targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

install: $(STAMP) ## make .venv with the spoor command and everything the other targets use

$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: install ## two live crawls side by side, focused and breadth-first, of a web served on this machine
	$(BIN)/spoor demo

test: install ## the whole test suite, in one process more than there are cores (another Python: PYTHON=python3.13)
	@echo "$$($(BIN)/python --version) in $(VENV)"
	$(BIN)/python -m pytest -n auto --dist worksteal $(if $(TENTH),--tenth)

thorough: install ## the tests with ten times as many random inputs (an hour; other than ten: make thorough EFFORT=3)
	SPOOR_EFFORT=$(EFFORT) $(BIN)/python -m pytest -n auto --dist worksteal

check: install ## formatter, linter, strict types, import layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

fix: install ## apply the fixes of the formatter and the linter
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

soak: install ## crash shards, kill a live crawl a thousand times: nothing is lost (half an hour; fewer: make soak KILLS=50)
	SPOOR_CRASHES=$(CRASHES) $(BIN)/python -m pytest -k "crashes_at_random or goes_back" tests/test_mail.py tests/test_copied_mail.py
	SPOOR_ACTOR_KILLS=40 RAY_raylet_start_wait_time_s=300 $(BIN)/python -m pytest tests/test_ray_shards.py
	SPOOR_KILLS=$(KILLS) $(BIN)/python -m pytest -k killed_at_random tests/test_live.py

chaos: install ## half an hour on hosts that do everything wrong, stopped and resumed at random (shorter: MINUTES=3)
	$(BIN)/python -m tests.chaos --minutes $(MINUTES)

fuzz: install ## fuzz everything that reads input (minutes; more: make fuzz INPUTS=1000000)
	$(BIN)/python -m tests.fuzz --inputs $(INPUTS)

floors: install ## raise the quality floors to what is measured now
	$(BIN)/python -m tests.floors

profiles: install ## retrain the shipped language profiles, if the texts are available
	$(BIN)/python scripts/build_profiles.py

pictures: install ## the pictures of the README and the dashboard, by the demo and a browser (chromium)
	PYTHONPATH=. $(BIN)/python scripts/pictures.py

validators: install ## axe-core, openapi-spec-validator and pywb, which three tests use if they are installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check openapi-spec-validator==0.9.0
	npm install --silent --no-save --no-audit --no-fund --prefix $(VENV)/axe axe-core@4.14.0
	$(PYTHON) -m venv $(VENV)/pywb
	$(VENV)/pywb/bin/python -m pip install --quiet --disable-pip-version-check pywb==2.10.0

bench: install ## speed, memory and quality, Scrapy and other libraries beside ours (half an hour)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check scrapy==2.19.0
	$(BIN)/python -m bench

contest: install ## every strategy on every row, field first, lab second, into docs/contest.md, if its data is available (hours)
	$(BIN)/spoor contest --conditions field,lab --orders 5 --ablate learned --per-host 100,10 --page docs/contest.md \
	    --out out/contest

package: install ## the sdist and the wheel, into dist/
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist

plain: install ## as people install it: the wheel, the newest of everything, the README's commands (the lowest: LOWEST=1)
	$(BIN)/python scripts/plain.py $(if $(LOWEST),--lowest) $(if $(FORGIVE),--forgive)

lock: install ## pin the newest versions that fit pyproject.toml, for every Python and machine; without Ray
	$(BIN)/uv pip compile --quiet --universal --fork-strategy fewest --generate-hashes $(LOCKED:%=--extra %) \
	    --custom-compile-command "make lock" --output-file requirements.lock pyproject.toml
	$(BIN)/python scripts/tested_versions.py

clean: ## remove what the other targets made
	rm -rf .venv .venv-* out build dist src/*.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
