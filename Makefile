# `make figures` builds every figure, `make test` runs every check; both set up what they need.
# PROFILE=quick|full picks the grids, PYTHON=... the interpreter, -jN how many notebooks run at a time.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j2
endif

PROFILE ?= full
ifeq ($(filter full quick,$(PROFILE)),)
$(error PROFILE must be full or quick, got '$(PROFILE)')
endif

# The first interpreter that is new enough and can make a virtual environment; without the `:` make would ignore
# what the loop prints wherever its last command does not exist.
NEW_ENOUGH := import ensurepip, sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(firstword $(shell for python in python3 python3.13 python3.12 python3.11; do \
    $$python -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$python; done; :))

NEWEST = $(firstword $(shell for python in python3.14 python3.13 python3.12; do \
    $$python -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$python; done; :))

# Nothing of the reader's own machine reaches a notebook or a test: of the environment, only this is passed on.
KEPT := HOME USER LOGNAME SHELL PATH LD_LIBRARY_PATH PYENV_ROOT PYENV_VERSION TMPDIR TERM LANG LC_% MAKE% MFLAGS \
    DISPLAY WAYLAND_DISPLAY XAUTHORITY BROWSER XDG_% DBUS_% %_proxy %_PROXY %SSL_CERT_FILE %SSL_CERT_DIR %_CA_BUNDLE \
    PIP_CERT PIP_CLIENT_CERT PIP_CONFIG_FILE PIP_FIND_LINKS PIP_NO_INDEX PIP_TRUSTED_HOST PIP_DEFAULT_TIMEOUT PIP_%_URL \
    UV_INDEX% UV_DEFAULT_INDEX UV_EXTRA_INDEX_URL UV_FIND_LINKS UV_NATIVE_TLS UV_CONFIG_FILE %_CACHE_DIR \
    SHUFFLELIB_FUZZ SHUFFLELIB_SCHEDULER
unexport $(filter-out $(KEPT),$(.VARIABLES))
$(foreach setting,MPLBACKEND=agg JUPYTER_PREFER_ENV_PATH=1 PYTHONHASHSEED=0 PYTHONNOUSERSITE=1 PYTHONUTF8=1 PIP_USER=0 \
    SOURCE_DATE_EPOCH=0 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 UV_PYTHON_DOWNLOADS=never,$(eval export $(setting)))
BUILD := $(CURDIR)/build
export IPYTHONDIR := $(BUILD)/ipython
export JUPYTER_CONFIG_DIR := $(BUILD)/jupyter/config
export JUPYTER_DATA_DIR := $(BUILD)/jupyter/data
export JUPYTER_RUNTIME_DIR := $(BUILD)/jupyter/runtime
export HYPOTHESIS_STORAGE_DIRECTORY := $(BUILD)/hypothesis
export MPLCONFIGDIR := $(BUILD)/matplotlib
# Notebooks run in a folder of their own, so a relative folder of data is made absolute.
export SHUFFLELIB_DATA := $(if $(filter /% ~%,$(SHUFFLELIB_DATA)),$(SHUFFLELIB_DATA),$(CURDIR)/$(or $(SHUFFLELIB_DATA),data))

VENV := .venv/bin/python
# Nobody is still writing the list of fonts after a minute: a killed run left its lock.
UNLOCK := find build/matplotlib -name '*.matplotlib-lock' -mmin +1 -delete 2>/dev/null;
PYTEST := $(UNLOCK) $(VENV) -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal
UV := $(shell command -v uv 2>/dev/null)
INSTALL := $(if $(UV),'$(UV)' pip install --quiet --python $(VENV),$(VENV) -m pip install -qq --disable-pip-version-check)
# Its own script, lint-imports, would start the interpreter that a copied .venv came from.
LINT_IMPORTS := $(VENV) -c 'from importlinter.cli import lint_imports; \
    raise SystemExit(lint_imports(no_cache=True, no_logo=True))'
STRIP := $(VENV) -m nbstripout --extra-keys "metadata.language_info metadata.papermill \
    metadata.widgets cell.metadata.execution cell.metadata.papermill"

# Those that take a minute or more come first, or one core would wait for the last of them.
LONG := $(wildcard $(patsubst %,notebooks/papers/%.ipynb,claims wang24 ccg24 gspa24 sgd) notebooks/deployed.ipynb)
NOTEBOOKS := $(LONG) $(filter-out $(LONG),$(sort $(wildcard notebooks/*.ipynb notebooks/*/*.ipynb)))
TOOLS := tools/run_notebook.py tools/needs.py requirements.lock
FULL := $(NOTEBOOKS:notebooks/%=build/full/%)
QUICK := $(NOTEBOOKS:notebooks/%=build/quick/%)
CHECK := $(NOTEBOOKS:notebooks/%=build/check/%)
WANTED := $(if $(filter full,$(PROFILE)),$(FULL),$(QUICK))
LESSONS := $(filter build/$(PROFILE)/course/%,$(WANTED))
IDEAS := build/$(PROFILE)/ideas.drawn

# All that follows only reads.  A copied checkout installs itself rather than the original it came from.
AT_HOME := [ "$$(cat .venv/home 2>/dev/null)" = "$$(pwd -P)" ]
# A notebook counts as not yet run if a figure of it was deleted, or its list, its needs or itself is not whole.
HASH := \#
BROKEN := $(shell for run in build/*/*.ipynb build/*/*/*.ipynb; do \
    ( [ "$$(tail -n 1 "$${run%.ipynb}.d")" = '$(HASH) whole' ] && [ "$$(tail -c 2 "$$run")" = "}" ] && \
    while read -r file || [ -n "$$file" ]; do [ -e "$$file" ] || exit 1; done <"$${run%.ipynb}.files" ) || \
    echo "$$run"; done 2>/dev/null)
HALF := $(filter-out $(shell grep -lx '$(HASH) whole' build/*/ideas.d 2>/dev/null),$(wildcard build/*/ideas.d))
# The files of MNIST that are there, and those that were when notebooks ran.
MNIST := $(shell cd '$(subst ','\'',$(SHUFFLELIB_DATA))/mnist' 2>/dev/null && ls *-ubyte.gz 2>/dev/null)
SEEN := $(shell cat build/data.seen 2>/dev/null)
# What each notebook imports and reads, written by its last run.
-include $(filter-out $(BROKEN:.ipynb=.d) $(HALF),$(patsubst %.ipynb,%.d,$(FULL) $(QUICK) $(CHECK)) $(wildcard build/*/ideas.d))

.PHONY: help figures test test-all versions lint tidy unit fuzz lesson lab app planner browser book slides class notes data lock licences bench \
    check-figures clean distclean FORCE

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-14s %s\n", $$1, $$2}' Makefile

figures: $(WANTED) $(IDEAS) figures/papers/index.csv $(if $(filter full,$(PROFILE)),figures/README.md) ## run every notebook and write figures/ (PROFILE=quick: build/quick/figures/)
	@echo '$(words $(WANTED)) notebooks, PROFILE=$(PROFILE); written anew since make figures ended last:'
	@cd build/$(PROFILE) && { [ -e listed ] || touch -t 197001020000 listed; } && \
	    find . -name '*.d' -newer listed -exec sed -n 's/^# anew /  /p' {} + | sort >listing && \
	    cat listing && { [ -s listing ] || echo '  nothing'; } && mv listing listed
	$(if $(MNIST),,@echo 'no MNIST here (make data): its figures are left as they are, the bundled digits stand in')

test: unit ## lint, the quick tests, then every notebook on coarse grids
	@$(MAKE) --no-print-directory figures PROFILE=quick
	@echo 'ok: lint, tests and $(words $(NOTEBOOKS)) notebooks passed'

test-all: test ## make test, then the tests that take minutes (random questions, faults, expensive profiles) and the book
	$(PYTEST) -m slow
	$(PYTEST) tests/fuzz -m 'not slow'
	@$(MAKE) --no-print-directory book PROFILE=quick
	@echo 'ok: the slow tests passed as well, and the book was built'

versions: .venv/installed ## the quick tests with the oldest packages on Python 3.11, the newest on the newest Python found
	@for which in 'oldest requirements-oldest.lock python3.11' 'newest requirements.lock $(NEWEST)'; do \
	    set -- $$which; echo "$$1 versions, $$3"; venv=build/$$1; \
	    "$${3:-none}" -c '$(NEW_ENOUGH)' 2>/dev/null || { echo "  no such Python here: left out"; continue; }; \
	    [ $$venv/installed -nt $$2 ] || { rm -rf $$venv && "$$3" -m venv $$venv && \
	        $(subst $(VENV),$$venv/bin/python,$(INSTALL)) --require-hashes -r $$2 && \
	        $(subst $(VENV),$$venv/bin/python,$(INSTALL)) --no-deps --no-build-isolation -e . && \
	        touch $$venv/installed; } || exit; \
	    $(subst $(VENV),$$venv/bin/python,$(PYTEST)) -o filterwarnings=default -m 'not slow' --ignore=tests/fuzz $(ONLY) || exit; \
	done

lint: .venv/installed
	$(VENV) -m ruff check --quiet .
	$(VENV) -m ruff format --quiet --check .
	.venv/bin/typos --format brief
	$(VENV) -m mypy --no-error-summary
	said=$$($(LINT_IMPORTS)) || { echo "$$said"; exit 1; }
	$(if $(NOTEBOOKS),$(STRIP) --verify $(NOTEBOOKS))

tidy: .venv/installed ## format the code and strip outputs from the notebooks
	$(VENV) -m ruff check --fix --quiet .
	$(VENV) -m ruff format --quiet .
	$(if $(NOTEBOOKS),$(STRIP) $(NOTEBOOKS))

unit: .venv/installed | lint
	$(PYTEST) -m 'not slow' --ignore=tests/fuzz

fuzz: export SHUFFLELIB_FUZZ ?= 100000
fuzz: .venv/installed ## test every public function with 1e5 random questions (SHUFFLELIB_FUZZ=... for another number)
	$(VENV) -m pytest tests/fuzz

lesson: export SHUFFLELIB_FIGURES := $(BUILD)/lab/figures
lesson: .venv/installed ## open one lesson in JupyterLab: make lesson N=3
	$(JUPYTERLAB) $(or $(wildcard notebooks/course/$(shell printf %02d $(N))_*.ipynb), \
	    $(error say which lesson, from 1 to 16: make lesson N=3))

lab: export SHUFFLELIB_FIGURES := $(BUILD)/lab/figures
lab: .venv/installed ## open the notebooks in JupyterLab (figures go to build/lab/figures/)
	$(JUPYTERLAB) --notebook-dir=.

book: $(WANTED) $(IDEAS) .venv/book ## run the notebooks and build a website from them: build/book/index.html (works offline)
	@rm -rf build/book build/book-doctrees
	$(VENV) tools/book_source.py build/$(PROFILE) build/book-source
	$(VENV) -m sphinx -b html -q -W --keep-going -c book -d build/book-doctrees build/book-source build/book
	cp -R book/planner build/book/planner
	$(VENV) tools/check_book.py build/book

slides: $(LESSONS) .venv/book ## a deck for each lesson, which works offline, and its PDF: build/slides/
	$(VENV) tools/slides.py build/$(PROFILE)/course build/slides

class: .venv/book ## lessons without and with solutions, to be graded by nbgrader, and all quizzes: build/class/
	$(VENV) tools/class_copies.py build/class

notes: $(LESSONS) .venv/book ## all lessons as one PDF, and a cheat sheet of one page: build/notes/
	$(VENV) tools/notes.py build/$(PROFILE)/course build/notes

planner: .venv/installed ## recompute the table of the planner: book/planner/table.js (about an hour on one core)
	$(VENV) tools/planner_table.py

app: .venv/book ## open the explorer's notebook in the browser (on this machine only, works offline)
	$(VENV) -m voila notebooks/explorer.ipynb --Voila.config_file_paths=notebooks

browser: .venv/book ## test the explorer in Chromium: controls, numbers and pictures
	@command -v chromium || command -v chromium-browser || command -v google-chrome || { \
	    echo >&2 'error: no Chromium found; apt-get install chromium, or chromium-browser, or google-chrome'; exit 1; }
	$(VENV) -m pytest -s tests/viz/test_explorer_browser.py

data: .venv/installed ## download MNIST to data/ (or to SHUFFLELIB_DATA) and verify it; keeps files that are there
	@$(VENV) -m shufflelib.sgd.datasets

check-figures: $(CHECK) build/check/ideas.drawn ## rebuild the figures in another folder and compare their data with figures/
	$(VENV) tools/check_figures.py figures build/check/figures

bench: .venv/installed ## measure running times beside other implementations, or AGAINST=a commit: benchmarks/results.md
	$(VENV) -m benchmarks $(if $(AGAINST),--against $(AGAINST))

lock: ## pin every dependency again in requirements.lock, for Python 3.11 and later
	@mkdir -p build
	@uv=$$(command -v uv) || { uv=build/uv/bin/uv; python='$(PYTHON)'; \
	    "$$python" -m venv build/uv && build/uv/bin/python -m pip install -qq uv; }; \
	compile() { "$$uv" pip compile --quiet --universal --fork-strategy requires-python --python-version 3.11 \
	    --generate-hashes --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' \
	    pyproject.toml "$$@" >/dev/null; }; \
	echo 'flit_core >=3.11,<4' | compile - --extra notebooks --extra test --extra cluster --extra sweeps \
	    --extra interop --output-file build/requirements.lock && \
	compile --extra app --extra book --extra browser --constraint build/requirements.lock \
	    --output-file build/requirements-book.lock && \
	echo 'flit_core >=3.11,<4' | compile - --resolution lowest-direct --extra notebooks --extra test --extra cluster \
	    --extra sweeps --extra interop --output-file build/requirements-oldest.lock
	@mv build/requirements.lock requirements.lock
	@sed 's|build/requirements.lock|requirements.lock|' build/requirements-book.lock >requirements-book.lock
	@mv build/requirements-oldest.lock requirements-oldest.lock

licences: .venv/book ## list the licence of every locked package in LICENSES-THIRD-PARTY.md
	@mkdir -p build; $(VENV) tools/licences.py >build/licences && mv build/licences LICENSES-THIRD-PARTY.md

clean: ## remove everything built, except figures/ and .venv
	rm -rf build

distclean: clean ## remove .venv as well
	rm -rf .venv

# JupyterLab refuses to serve an administrator unless told to; in a container there may be no other user.
JUPYTERLAB := $(VENV) -m jupyterlab $(if $(filter 0,$(shell id -u)),--allow-root)

# Two `make` that set up at once take turns; the second finds it done.
TAKE_TURNS = exec 9<requirements.lock; "$$python" -c 'import fcntl; fcntl.flock(0, fcntl.LOCK_EX)' <&9; \
    [ $@ -nt $(firstword $^) ] && [ $@ -nt $(lastword $(filter-out FORCE,$^)) ] && exit

.venv/locked: requirements.lock
	@python='$(PYTHON)'; "$$python" -c '$(NEW_ENOUGH)' 2>/dev/null || { echo >&2 \
	    "error: Python 3.11 or later with the venv module is needed, found '$$python'; try make PYTHON=..."; exit 1; }; \
	$(TAKE_TURNS); \
	rm -rf .venv; echo "installing into .venv, which takes about a minute"; "$$python" -m venv .venv && \
	$(INSTALL) --require-hashes -r requirements.lock && touch $@

.venv/installed: .venv/locked pyproject.toml $(shell $(AT_HOME) || echo FORCE)
	@python=$(VENV); $(AT_HOME) || rm -f $@; $(TAKE_TURNS); \
	$(INSTALL) --no-deps --no-build-isolation -e . && pwd -P >.venv/home && touch $@

.venv/book: .venv/installed requirements-book.lock
	@python=$(VENV); $(TAKE_TURNS); \
	$(INSTALL) --require-hashes -r requirements-book.lock && touch $@

# Figures of notebooks/course go to figures/course.
RUN = @$(UNLOCK) $(VENV) tools/run_notebook.py $< $@
PLACE = $(filter-out ./,$(dir $*))
NEEDS := $(TOOLS) | .venv/installed build/data.seen

$(FULL): build/full/%.ipynb: notebooks/%.ipynb $(NEEDS)
	$(RUN) --profile full --figures figures/$(PLACE)

$(QUICK): build/quick/%.ipynb: notebooks/%.ipynb notebooks/params/quick.yaml $(NEEDS)
	$(RUN) --profile quick --figures build/quick/figures/$(PLACE)

$(CHECK): build/check/%.ipynb: notebooks/%.ipynb $(NEEDS)
	$(RUN) --profile full --figures build/check/figures/$(PLACE)

$(BROKEN) $(HALF:.d=.drawn): FORCE

build/data.seen: $(if $(subst x$(MNIST)x,,x$(SEEN)x),FORCE)
	@mkdir -p build; echo '$(MNIST)' >$@

figures/papers/index.csv: claims/items.toml claims/ledger.toml | .venv/installed
	@mkdir -p $(@D) build && $(VENV) -m claims --index >build/index.csv && mv build/index.csv $@

figures/README.md: $(FULL) build/full/ideas.drawn tools/figures_page.py
	@$(VENV) tools/figures_page.py figures

build/full/ideas.drawn: FOLDER := figures
build/quick/ideas.drawn build/check/ideas.drawn: FOLDER = $(@D)/figures

build/full/ideas.drawn build/quick/ideas.drawn build/check/ideas.drawn: tools/draw_ideas.py tools/publish.py $(NEEDS)
	@$(UNLOCK) rm -rf $(@D)/ideas; $(VENV) tools/draw_ideas.py $(@D)/ideas && \
	    $(VENV) tools/publish.py $(@D)/ideas $(FOLDER)/ideas $@ $< && rm -rf $(@D)/ideas && touch $@
