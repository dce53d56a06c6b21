# make demo    sets itself up and shows the main job end to end
# make test    sets itself up, checks style and types, runs all tests this machine can run and says what it left out
#              ALL=1: everything must run; a missing component is a failure
# make bench   our speed beside the peers' (NAMES="direct unary/count" for some)
# make docs    the documentation as pages in site/
# make js      the JavaScript client anew, from js/ (needs Node)

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# learn brings PyTorch and Flower (1 GB), spark needs Java: both only where asked for
EXTRAS ?= all,dev,docs
export ALL

.PHONY: env demo test bench docs js clean
.DELETE_ON_ERROR:

env: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "deniable needs Python 3.11 or later: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt uv
	case ",$(EXTRAS)," in *,learn,*) $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch;; esac
	$(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt --compile-bytecode -e '.[$(EXTRAS)]'
	touch $@

demo: $(STAMP)
	$(BIN)/deniable demo --picture demo.png --survey

test: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n auto --dist loadgroup

bench: $(STAMP)
	$(BIN)/python -m benchmarks $(NAMES)

docs: $(STAMP)
	$(BIN)/mkdocs build --strict --quiet

js:
	cd js && npm ci --no-audit --no-fund --ignore-scripts && node build.mjs

clean:
	rm -rf $(VENV) .venv-peers site demo.png js/node_modules
