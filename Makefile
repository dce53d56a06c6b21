# make demo        sets itself up and shows the main job end to end
# make test        sets itself up, checks style and types, runs all tests this machine can run and says what it left out
#                  ALL=1: everything must run; a missing component is a failure
# make test-learn  the tests with PyTorch, Flower and scikit-learn, in an environment of their own (a download of 1 GB)
# make bench       our speed beside the peers' (NAMES="direct unary/count" for some)
# make docs        the documentation as pages in site/
# make js          the JavaScript client anew, from js/ (needs Node)

PYTHON ?= python3
VENV ?= .venv
LEARN := $(VENV)-learn
# spark needs Java: only where asked for
EXTRAS ?= all
export ALL

.PHONY: env env-learn demo test test-learn bench docs js clean
.DELETE_ON_ERROR:

env: $(VENV)/.installed
env-learn: $(LEARN)/.installed

# $(call environment,folder,constraints,packages)
define environment
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "deniable needs Python 3.11 or later: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(1)
	$(1)/bin/python -m pip install --quiet --disable-pip-version-check -c $(2) uv
	$(1)/bin/uv pip install --quiet --python $(1)/bin/python -c $(2) --compile-bytecode $(3)
	touch $(1)/.installed
endef

$(VENV)/.installed: pyproject.toml constraints.txt $(wildcard packages/*/pyproject.toml) research/pyproject.toml
	$(call environment,$(VENV),constraints.txt,--group dev --group docs \
	  -e 'packages/deniable[$(EXTRAS)]' -e packages/deniable-learn -e research)

# The frameworks pin older releases of packages that the product uses, so they live apart from it.
FRAMEWORKS := packages/deniable-learn/constraints.txt
$(LEARN)/.installed: pyproject.toml $(FRAMEWORKS) $(wildcard packages/*/pyproject.toml) research/pyproject.toml
	$(PYTHON) -m venv $(LEARN)
	$(LEARN)/bin/python -m pip install --quiet --disable-pip-version-check -c $(FRAMEWORKS) torch
	$(call environment,$(LEARN),$(FRAMEWORKS),--group learn \
	  -e packages/deniable -e 'packages/deniable-learn[all]' -e research)

demo: env
	$(VENV)/bin/deniable demo --picture demo.png --survey

test: env $(if $(ALL),env-learn)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/python -m pytest -n auto --dist loadgroup -m 'not frameworks'
	$(if $(ALL),$(MAKE) test-learn,@echo 'Left out: the tests with PyTorch, Flower and scikit-learn. To run them: make test-learn')

test-learn: env-learn
	$(LEARN)/bin/python -m pytest -n auto --dist loadgroup packages/deniable-learn tests/learn tests/research tests/test_examples.py \
	  -m 'frameworks or learn'

bench: env
	$(VENV)/bin/python -m benchmarks $(NAMES)

docs: env
	$(VENV)/bin/mkdocs build --strict --quiet

js:
	cd js && npm ci --no-audit --no-fund --ignore-scripts && node build.mjs

clean:
	rm -rf $(VENV) $(LEARN) .venv-peers site demo.png js/node_modules
