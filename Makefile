# Every target sets up what it needs: a virtual environment with pinned packages, and for demo and test the Uno's tools.
#   make demo                      what smidgen does, on data it brings along
#   make test                      every test and check        (make test ROOM=program: one room of it)
#   make lint  make bench  make docs                           (make bench PART=ground: one part of it)
#   make test PYTHON=python3.13    with another Python, in an environment of its own
PYTHON ?= python3
KEY := $(shell $(PYTHON) tools/set_up.py --key 2>/dev/null)
VENV := .venv$(if $(filter-out python3,$(PYTHON)),-$(firstword $(subst -, ,$(KEY))))
READY := $(VENV)/ready-$(KEY)
BENCH_READY := $(VENV)/bench-$(KEY)
BIN := $(VENV)/bin

.PHONY: demo test lint bench docs dist pins clean system-packages
.DEFAULT_GOAL := demo

demo: $(READY) system-packages
	@$(BIN)/smidgen demo

test: $(READY) system-packages
	@$(BIN)/python tools/run_tests.py $(ROOM)

lint: $(READY)
	@$(BIN)/python tools/run_tests.py checks

bench: $(READY) $(BENCH_READY)
	@$(BIN)/python benchmarks/run.py $(PART)

docs: $(READY)
	@$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build/html
	@echo "open docs/_build/html/index.html"

# what is uploaded at a release, once tests/test_wheel.py has found it good
dist: $(READY)
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation --outdir dist . >/dev/null
	@$(BIN)/python -m pytest -q --no-header tests/test_wheel.py
	@ls dist/*

pins: $(READY)
	@$(BIN)/python tools/pins.py

clean:
	rm -rf .venv .venv-* build dist docs/_build .cache .*_cache .hypothesis

system-packages:
	@sh tools/system_packages.sh

$(READY): pyproject.toml constraints.txt tools/set_up.py
	@command -v $(firstword $(PYTHON)) >/dev/null || { echo "there is no $(PYTHON) here: install Python 3.11 or later, or name yours, as in \`make $(MAKECMDGOALS) PYTHON=python3.12\`"; exit 1; }
	@$(PYTHON) tools/set_up.py $(VENV) $@

# what only the benchmarks need: PyTorch, and peers to be compared with
$(BENCH_READY): $(READY)
	@$(PYTHON) tools/set_up.py $(VENV) $@ bench
