# Every target sets up what it needs in .venv; nothing else on the machine is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo demo-google test test-all test-live test-oldest soak check bench clean

help:
	@echo "make demo    a study with simulated raters in ./demo-study, all the way to the report"
	@echo "make demo-google  the same in files and on an emulated Google, compared"
	@echo "make test    every test but the slow ones, in minutes"
	@echo "make test-all   every test"
	@echo "make test-live  tests against your own Google account, in a throw-away folder (CONTRIBUTING.md)"
	@echo "make soak    200 nights on an emulated Google in which everything goes wrong; takes minutes"
	@echo "make check   formatting, lint and types"
	@echo "make bench   speed, as ratios against named peers"

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(VENV)/.installed
	rm -rf demo-study
	$(BIN)/sheetsync demo demo-study

demo-google: $(VENV)/.installed
	$(BIN)/python -m tests.demo_google

test: $(VENV)/.installed
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not slow"

test-all: $(VENV)/.installed
	$(BIN)/python -m pytest -n auto --dist loadfile

test-live: $(VENV)/.installed # one after the other, at a terminal: somebody may have to sign in
	$(BIN)/python -m pytest tests/live -s -n 0

soak: $(VENV)/.installed
	$(BIN)/python -m tests.soak --nights 200

test-oldest: # on exactly the floors of pyproject.toml
	$(PYTHON) -m venv --clear .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -c tests/oldest.txt -e '.[dev]'
	.venv-oldest/bin/python -m pytest -n auto --dist loadfile

check: $(VENV)/.installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE $(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .venv-oldest demo-study build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
