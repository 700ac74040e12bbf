# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DATA   ?= ../shared/data
STAMP  := $(VENV)/installed
MODEL  := $(VENV)/models/installed
SEED   ?= 1
LANGUAGES := $(VENV)/models/use-multilingual.installed

.PHONY: help demo dist test lint style types gather npm chromium bench bench-tests bench-encoders bench-equality bench-gate bench-memory bench-scale bench-sessions bench-quality bench-quality-short bench-year faults mutants docs setup clean
.DEFAULT_GOAL := help
# Otherwise every process that starts would compile all of it anew.
unexport PYTHONDONTWRITEBYTECODE

help:                ## this list
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

setup: $(MODEL) $(LANGUAGES)  ## make .venv and install everything into it

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Commonplace needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ...")'
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV) || \
	{ rm -rf $(VENV); echo "python cannot make a virtual environment (Debian: apt-get install python3-venv)"; exit 1; }
	@echo "installing into $(VENV) ..."
	@if command -v uv >/dev/null 2>&1; then uv pip install --quiet --python $(BIN)/python -e '.[all,dev]'; \
	else $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[all,dev]'; fi
	@touch $@

# The encoder's weights, one copy for the tests, the demo and the benchmarks.
$(MODEL): $(STAMP)
	@echo "fetching the model ..."
	@$(BIN)/commonplace model install --quiet --set "embedding.model_folder=$(CURDIR)/$(VENV)/models/minilm-l6-v2"
	@touch $@

# The multilingual encoder, for its tests alone: 32 MB.
$(LANGUAGES): $(STAMP)
	@$(BIN)/commonplace model install use-multilingual --quiet --set "embedding.model_folder=$(CURDIR)/$(VENV)/models/minilm-l6-v2"
	@touch $@

demo: $(MODEL)       ## the main job on a sample vault
	@COMMONPLACE_EMBEDDING__MODEL_FOLDER="$(CURDIR)/$(VENV)/models/minilm-l6-v2" $(BIN)/commonplace demo

lint: types style    ## mypy --strict, ruff, import-linter

types: $(STAMP)
	@$(BIN)/mypy

style: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet . || { echo "ruff format: run .venv/bin/ruff format ."; exit 1; }
	@$(BIN)/lint-imports --no-cache

npm: $(STAMP)
	@$(BIN)/python -m tests.npm_packages

# The browser in which the page is tested, from Debian's packages; elsewhere the tests of the page say what is missing.
chromium:
	@command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	echo "installing chromium ..."; export DEBIAN_FRONTEND=noninteractive; \
	apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium >/dev/null; \
	else echo "the tests of the page need Chromium (Debian: sudo apt-get install chromium)"; fi

# Fetching waits for the network, so types are checked meanwhile.
# Many tests start the program anew: compiled once, each of them starts sooner.
# `make test SEED=7` runs the tests in another order, `make test CLOCK='2026-11-30 23:57:00'` from another moment on:
# that needs libfaketime (Debian: faketime).
# Tests that wait leave a core to others: three run at a time on two cores.
test: $(STAMP)       ## lint, then every test
	@$(MAKE) --no-print-directory --jobs 2 lint $(MODEL) $(LANGUAGES) npm chromium gather
	@$(BIN)/python -m compileall -q -j 2 src
	@$(if $(CLOCK),$(BIN)/python -m tools.clock '$(CLOCK)') $(BIN)/pytest -n 3 -q --seed $(SEED) --durations 10 --figures

# Compiles the tests while types are checked; what is wrong with one is told by the run.
gather: $(STAMP)
	@$(BIN)/pytest --collect-only -qq >/dev/null 2>&1 || true

bench-tests: $(MODEL)  ## tests that run a benchmark in short
	@$(BIN)/pytest -q -n 2 bench/tests

# `make bench KEEP=--save` keeps the figures in bench/results.
bench: $(MODEL) bench-tests  ## speed, on generated notes and on the vaults in $(DATA)
	@$(BIN)/python bench/parse.py --data "$(DATA)/vaults"
	@$(BIN)/python bench/vaults.py --data "$(DATA)/vaults"
	@$(BIN)/python bench/writes.py
	@$(BIN)/python bench/growth.py
	@$(BIN)/python bench/waits.py $(KEEP)
	@$(BIN)/python bench/search.py --data "$(DATA)" $(KEEP)
	@$(BIN)/python bench/cold.py --data "$(DATA)" $(KEEP)
	@$(BIN)/python bench/first_hour.py --data "$(DATA)" $(KEEP)
	@$(BIN)/python bench/index.py --data "$(DATA)" $(KEEP)
	@$(BIN)/python bench/entries.py --entries 1000 10000 100000 $(KEEP)
	@$(BIN)/python bench/gate.py $(KEEP)
	@$(BIN)/python bench/context.py --data "$(DATA)" $(KEEP)
	@$(BIN)/python bench/first_answer.py $(KEEP)
	@$(BIN)/python bench/answers.py $(KEEP)
	@$(BIN)/python bench/clients.py $(KEEP)
	@$(BIN)/python bench/hooks.py $(KEEP)
	@$(BIN)/python bench/browser.py $(KEEP)
	@$(BIN)/python bench/year.py $(KEEP)

bench-equality: $(MODEL)  ## step by step beside rebuild, on the vaults in $(DATA)
	@$(BIN)/python bench/equality.py --data "$(DATA)" $(KEEP)

bench-gate: $(MODEL)  ## the gate at the door of memory, on its labelled examples; only the blind half counts
	@$(BIN)/python bench/gate.py $(KEEP)

bench-memory: $(MODEL)  ## whether memory reaches the prompt, on the labelled sets in $(DATA)
	@$(BIN)/python bench/memory.py --data "$(DATA)" $(KEEP)

bench-sessions: $(MODEL)  ## what a working day puts before the model, through the daemon and its hooks
	@$(BIN)/python bench/sessions.py --data "$(DATA)" $(KEEP)

bench-quality: $(MODEL)  ## recall on the public sets in $(DATA), with what each part of the ranking is worth
	@$(BIN)/python bench/quality.py --data "$(DATA)" --ablate $(KEEP)
	@$(BIN)/python bench/pool.py --data "$(DATA)" $(KEEP)
	@$(BIN)/python bench/updates.py --data "$(DATA)" $(KEEP)

bench-quality-short: $(MODEL)  ## the same on 20 questions of each set
	@$(BIN)/python bench/quality.py --data "$(DATA)" --questions 20 --ablate

bench-year: $(STAMP)  ## a simulated year with a scripted model, and one without: is memory small, current and revertable?
	@$(BIN)/python bench/year.py $(KEEP)

# `make bench-scale SIZES='--tenants 1000 --chunks 2000000 --folder /var/tmp/scale'`: 20 GB, and half an hour.
bench-scale: $(STAMP)  ## many tenants in one PostgreSQL: search, writes, isolation, disk
	@$(BIN)/python bench/scale.py $(SIZES) $(KEEP)

bench-encoders: $(MODEL) $(LANGUAGES)  ## the installed encoders side by side
	@$(BIN)/python bench/encoders.py --data "$(DATA)" $(KEEP)

# Two runs beside each other, in memory where that can be: a killed process leaves the same files there, only sooner.
faults: export FAULTS = long
faults: export FAULTS_FIGURES = $(CURDIR)/.faults/figures.jsonl
faults: export TMPDIR = $(or $(wildcard /dev/shm),/tmp)
faults: $(MODEL)     ## the long fault runs; prints a table, whose figures stay in .faults
	@rm -rf .faults && mkdir .faults
	@$(BIN)/pytest -q -s -n 0 --timeout 7200 --basetemp=$$TMPDIR/commonplace-faults tests/faults & faults=$$!; \
	$(BIN)/pytest -q -s -n 0 --timeout 7200 --basetemp=$$TMPDIR/commonplace-laws tests/property tests/e2e/test_api_fuzz.py; laws=$$?; \
	wait $$faults && test $$laws = 0; ended=$$?; $(BIN)/python -m tests.faults.figures $$FAULTS_FIGURES; exit $$ended

# `make mutants SEED=7 COUNT=20` runs random ones, `make mutants ROWS="A-37 I-66"` those of two rows; MORE="--all --json" adds options.
mutants: $(MODEL)    ## break the program line by line, and print which test notices; not part of CI
	@nice -n 10 $(BIN)/python -m tools.mutants $(if $(ROWS),--rows $(ROWS)) $(if $(SEED),--seed $(SEED)) $(if $(COUNT),--count $(COUNT)) $(MORE)

dist: $(STAMP)       ## a wheel and a source distribution in dist/
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation --outdir dist . >/dev/null
	@ls -1 dist

docs: $(STAMP)       ## write the generated docs anew
	@$(BIN)/python tools/docs.py

clean:               ## remove what make made
	rm -rf $(VENV) dist .faults .bench-venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
