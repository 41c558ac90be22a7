# Two commands set everything up: git clone, then make lab. `make help` lists the rest.
# Works with GNU make 3.81 (macOS). Every path is quoted: the folder's name may hold spaces.

VENV = .venv
PORT = 8888
# Empty: tools/install.sh takes the first of python3, python3.13, python3.12, python3.11 that will do.
PYTHON =
ARGS =

BIN = $(VENV)/bin
FIRST = notebooks/00_start_here.ipynb
NBVAL = "$(BIN)/python" -m pytest --nbval --nbval-cell-timeout=120

.PHONY: help install lab test lint notebooks bench lock clean

help:
	@echo 'make lab         install what is needed into .venv, then open the course in JupyterLab'
	@echo '                 PORT=9000  BROWSER=none (open no browser)  PYTHON=python3.12  ARGS=--ip=0.0.0.0'
	@echo 'make test        lint, unit and contract tests, every notebook compared, JupyterLab in a browser'
	@echo 'make notebooks   execute all notebooks in place and normalise them'
	@echo 'make bench       the cost of the boundary, side by side, as a table'
	@echo 'make lint        ruff: check and format'
	@echo 'make lock        pin all dependencies again, newest versions that pyproject.toml allows'
	@echo 'make clean       remove .venv and what tests leave behind'

install:
	@VENV="$(VENV)" PYTHON="$(PYTHON)" sh tools/install.sh

lab: install
	@JUPYTER_CONFIG_PATH="$(CURDIR)/jupyter$${JUPYTER_CONFIG_PATH:+:$$JUPYTER_CONFIG_PATH}"; \
	export JUPYTER_CONFIG_PATH; \
	set -- --ServerApp.root_dir="$(CURDIR)" --LabApp.default_url=/lab/tree/$(FIRST) --port="$(PORT)" $(ARGS); \
	if [ "$$(id -u)" = 0 ]; then set -- "$$@" --allow-root; fi; \
	if [ "$(BROWSER)" = none ]; then set -- "$$@" --no-browser; fi; \
	exec "$(BIN)/python" -m jupyterlab "$(FIRST)" "$$@"

lint: install
	"$(BIN)/python" -m ruff check .
	"$(BIN)/python" -m ruff format --check .

test: lint
	"$(BIN)/python" -m pytest tests --ignore=tests/lab
	$(NBVAL) notebooks
	"$(BIN)/python" -m pytest tests/lab

notebooks: install
	@"$(BIN)/python" -m tools.notebooks

bench: install
	@"$(BIN)/python" -m benchmarks.dispatch

lock: install
	"$(BIN)/python" -m uv pip compile --universal --python-version 3.11 --extra test --upgrade \
	    --no-annotate --custom-compile-command 'make lock' --no-emit-index-url --no-emit-find-links --quiet \
	    --output-file requirements.lock pyproject.toml

clean:
	rm -rf "$(VENV)" .pytest_cache .ruff_cache .hypothesis build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find . -name .ipynb_checkpoints -type d -prune -exec rm -rf {} +
