# make demo        sets itself up and shows the main job end to end
# make test        sets itself up, checks style and types, runs all tests this machine can run and says what it left out
#                  ALL=1: everything must run; a missing component is a failure
# make check       style and types only
# make test-learn  the tests with PyTorch, Flower, NVFLARE and scikit-learn, in an environment of their own (a download of 1 GB)
# make bench       our speed beside the peers' (NAMES="direct unary/count" for some)
# make docs        the documentation as pages in site/
# make release     what could be published, checked: wheels, source distributions and an npm package in dist/ (needs Node)
# make image       an OCI image in dist/deniable-image.tar, from Debian's packages (needs mmdebstrap and buildah, and root)
# make js          the JavaScript client anew, from js/ (needs Node)

PYTHON ?= python3
VENV ?= .venv
LEARN := $(VENV)-learn
EXTRAS ?= all
export ALL
# The tests start hundreds of processes, which would compile our modules anew each time if nobody kept what is compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: env env-spark env-learn env-peers check kernels demo test test-product test-learn bench docs release image js clean
.DELETE_ON_ERROR:

env: $(VENV)/.installed
env-spark: $(VENV)/.spark
env-learn: $(LEARN)/.installed
env-peers: env
	$(VENV)/bin/python -m benchmarks.peers.environment

# $(call venv,folder)
define venv
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "deniable needs Python 3.11 or later: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(1)
endef

# $(call packages,folder,constraints,packages). What is imported is compiled then, and kept: a part of what is installed.
define packages
	$(1)/bin/python -m pip install --quiet --disable-pip-version-check -c $(2) uv
	$(1)/bin/uv pip install --quiet --python $(1)/bin/python -c $(2) $(3)
	touch $(1)/.installed
endef

$(VENV)/.installed: pyproject.toml constraints.txt $(wildcard packages/*/pyproject.toml) research/pyproject.toml
	$(call venv,$(VENV))
	$(call packages,$(VENV),constraints.txt,--group dev --group docs \
	  -e 'packages/deniable[$(EXTRAS)]' -e packages/deniable-learn -e research)

# Spark needs Java and is built from source, which takes a while: only where everything must run. What is in it is compressed already.
$(VENV)/.spark: $(VENV)/.installed
	$(VENV)/bin/uv pip install --quiet --python $(VENV)/bin/python -c constraints.txt 'deniable[spark]' \
	  --config-setting=--build-option=--compression=stored
	touch $@

# The frameworks pin older releases of packages that the product uses, so they live apart from it.
FRAMEWORKS := packages/deniable-learn/constraints.txt
$(LEARN)/.installed: pyproject.toml $(FRAMEWORKS) $(wildcard packages/*/pyproject.toml) research/pyproject.toml
	$(call venv,$(LEARN))
	$(LEARN)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check -c $(FRAMEWORKS) torch
	$(call packages,$(LEARN),$(FRAMEWORKS),--group learn \
	  -e packages/deniable -e 'packages/deniable-learn[all]' -e research)

demo: env $(if $(ALL),kernels)
	$(VENV)/bin/deniable demo --picture demo.png --survey

check: env
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

# numba keeps what it compiles beside the source: once, before processes that start together all compile the same.
# Where everything is made at once, that is also the demonstration and the benchmarks.
kernels: env
	$(VENV)/bin/python -m tests.kernels

# A process for each core, each with one thread for its matrices. conftest.py says which tests stay together and which come first.
test-product test-learn: export OPENBLAS_NUM_THREADS = 1
test-product test-learn: export OMP_NUM_THREADS = 1
PYTEST := python -m pytest -n auto --dist loadgroup --no-loadscope-reorder --durations 20 --durations-min 5

test: test-product $(if $(ALL),test-learn)
	$(if $(ALL),,@echo 'Left out: the tests with PyTorch, Flower, NVFLARE and scikit-learn. To run them: make test-learn')

test-product: check kernels $(if $(ALL),env-spark)
	$(VENV)/bin/$(PYTEST) -m 'not frameworks'

test-learn: env-learn
	$(LEARN)/bin/$(PYTEST) packages/deniable-learn tests/learn tests/research tests/test_examples.py \
	  -m 'frameworks or learn'

bench: env $(if $(ALL),kernels env-peers)
	$(VENV)/bin/python -m benchmarks $(NAMES)

docs: env
	$(VENV)/bin/mkdocs build --strict --quiet

release: env
	rm -rf dist
	$(VENV)/bin/python -m release

image: release
	deploy/image/build.sh dist
	$(VENV)/bin/python -m deploy.image.test

js:
	cd js && npm ci --no-audit --no-fund --ignore-scripts && node build.mjs

clean:
	rm -rf $(VENV) $(LEARN) .venv-peers dist site demo.png js/node_modules
