# Every target makes the virtual environment first when it is missing or out of date.
# DATA: folder of the files that config/sources.yaml calls local (make real). PIP_FLAGS: further options of pip install.
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
DATA ?= ../shared/data
PIP_FLAGS ?=
SOURCES := src tests bench workflow/scripts

.PHONY: demo real test slow slurm lint format clean
.DEFAULT_GOAL := demo

$(VENV)/installed: envs/local.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(None if (3, 11) <= sys.version_info[:2] < (3, 13) else "Python 3.11 or 3.12 is needed, this is " + sys.version.split()[0] + "; set PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	@echo "installing about 2 GB of packages into $(VENV); this takes some minutes"
	$(BIN)/pip install --quiet --disable-pip-version-check $(PIP_FLAGS) -r envs/local.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

# The whole chain on two cores: results/demo/report.html
demo: $(VENV)/installed
	$(BIN)/snakemake --config scale=demo

# The same chain on real problems, a few training steps: results/real/report.html
real: $(VENV)/installed
	$(BIN)/snakemake --config scale=real data_dir="$(DATA)"

test: $(VENV)/installed
	$(BIN)/python -m pytest -m "not slow"

# Minutes each, and more than the laptop set-up: Chromium for the browser test, root for SLURM
slow: $(VENV)/installed slurm
	$(BIN)/python -m pytest -m slow

# SLURM on this machine, with pretended GPUs, and the chain through it (Debian, root)
slurm: $(VENV)/installed
	tests/slurm/run.sh

lint: $(VENV)/installed
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/snakefmt --check workflow
	$(BIN)/python -m pytest -q tests/workflow/test_lint.py

format: $(VENV)/installed
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/snakefmt workflow

clean:
	rm -rf results logs benchmarks .snakemake
