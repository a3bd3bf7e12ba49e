# h123: `make quick` measures something now, `make test` proves the tool works. `make help` lists the rest.
.DEFAULT_GOAL := help
SHELL := /bin/sh

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
# Empty if setting it up was interrupted, or if its Python was removed or replaced. Programs in it are run as modules,
# because their first lines contain the path that the checkout had when they were installed.
WHOLE := $(shell $(PY) -c 'import pip' 2>/dev/null && echo whole)
# Runs a module without a traceback if Ctrl-C ends it.
MODULE := -c 'import runpy, signal as s, sys; s.getsignal(2) is s.default_int_handler and s.signal(2, s.SIG_DFL); \
	runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)'
DOCS_VENV := .cache/docs
PACKAGING := .cache/packaging
VALE := .cache/vale/vale
VALE_MODULE := github.com/vale-cli/vale/v3/cmd/vale@v3.20.0
LAB := lab/target/release/h123-lab
LAB_SOURCES := $(shell find lab -path lab/target -prune -o \( -name '*.rs' -o -name 'Cargo.*' \) -print)
CRATES := $(patsubst %/Cargo.toml,%,$(wildcard subjects/*/Cargo.toml subjects/*/*/Cargo.toml))
# Separate from the subjects' own builds, which keep only their programs. `make test-all` checks crates that compile C++ for
# minutes (BoringSSL, MsQuic) if their subject is installed.
SUBJECTS_CARGO := CARGO_TARGET_DIR="$(CURDIR)/.cache/cargo" cargo
CLIPPY := $(SUBJECTS_CARGO) clippy --all-features --all-targets --locked --quiet -- -D warnings

# Tests wait for trials, timeouts and servers much of their time.
WORKERS := $(shell echo $$((2 * $$(nproc))))
# Many container images set it, but without compiled modules each of the hundreds of processes here compiles them again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup environment program quick test test-all torture bench lint docs wheel image clean

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: environment program ## Python environment and the lab (./h123 does this on first use)

environment: $(VENV)/run.stamp

program: $(LAB)

quick: ## compare HTTP/1.1, HTTP/2 and HTTP/3 on three networks: 2 to 3 minutes after the builds
	@./h123 run studies/quick.yaml

test: setup $(VENV)/dev.stamp ## all tests that fit in a few minutes
	@cd lab && cargo test --workspace --release --locked --quiet
	@cd subjects/go && go test ./...
	@PYTHONPATH=src $(PY) -m pytest -m "not heavy" --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder
	@PYTHONPATH=src $(PY) tools/torture --rounds 6

test-all: test ## also the heavy tests, verification of changed subjects and five others, and clippy for Rust subjects
	@cd subjects/go-rest && go vet ./... && go test ./...
	@cd subjects/rust-common && $(SUBJECTS_CARGO) test --all-features --locked --quiet && $(CLIPPY)
	@PYTHONPATH=src $(PY) -m pytest -m heavy -rs
	@for crate in $(filter-out subjects/rust-common,$(CRATES)); do \
		subject=$$(echo $$crate | cut -d/ -f1-2); \
		if test -e "$${H123_CACHE:-.cache}/$$subject"; then echo "clippy: $$crate" && (cd $$crate && $(CLIPPY)) || exit 1; \
		else echo "clippy: $$crate left out, $$subject is not installed"; fi; \
	done

torture: setup ## break campaigns 1000 times, and try special files and strange texts everywhere: about two hours
	@PYTHONPATH=src $(PY) tools/torture
	@PYTHONPATH=src $(PY) tools/strange
	@PYTHONPATH=src $(PY) tools/fuzz forged --cases 1000000

bench: setup ## measure what the documentation states: link accuracy, virtual clock, overhead, evidence, lanes, analysis, start-up
	@status=0; \
	./h123 lab bench || status=1; \
	./h123 install virtual-kernel && PYTHONPATH=src $(PY) bench/link_accuracy || status=1; \
	PYTHONPATH=src $(PY) bench/virtual.py || status=1; \
	PYTHONPATH=src $(PY) bench/calibration.py || status=1; \
	PYTHONPATH=src $(PY) bench/analyse.py || status=1; \
	PYTHONPATH=src $(PY) bench/startup.py || status=1; \
	$(MAKE) wheel && $(PY) bench/first_answer.py --clock virtual || status=1; \
	PYTHONPATH=src $(PY) bench/overhead.py || status=1; \
	PYTHONPATH=src $(PY) bench/evidence.py || status=1; \
	PYTHONPATH=src $(PY) bench/lanes.py || status=1; \
	PYTHONPATH=src $(PY) bench/noisy.py || status=1; \
	exit $$status

lint: setup $(VENV)/dev.stamp docs $(VALE) ## ruff, mypy, clippy, rustfmt, gofmt, go vet, the documentation's links and prose
	@$(PY) -m ruff check . && $(PY) -m ruff format --check .
	@$(PY) tools/prose.py $(VALE)
	@$(PY) -m mypy
	@cd lab && cargo fmt --all --check && cargo clippy --workspace --all-targets --release --locked --quiet -- -D warnings
	@for crate in $(CRATES); do (cd $$crate && cargo fmt --check) || exit 1; done
	@cd subjects/rust-common && $(CLIPPY)
	@test -z "$$(gofmt -l subjects tests)" || { gofmt -l subjects tests && exit 1; }
	@cd subjects/go && go vet ./...
	@cd tests/adversary/peer && go vet ./...

docs: environment $(DOCS_VENV)/stamp ## the documentation as a web site: target/docs/index.html
	@PYTHONPATH=src $(PY) tools/result_pages.py target/results
	@PYTHONPATH=src $(PY) tools/atlas.py target/results
	@PYTHONPATH=src $(PY) tools/reference.py target/reference
	@PYTHONPATH=src $(PY) -m h123.json_schemas docs/schemas
	@NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/python -m mkdocs build --clean
	@echo "Documentation: $(CURDIR)/target/docs/index.html"

wheel: environment $(PACKAGING)/stamp ## the packages for pip: dist/h123-*.whl and dist/h123_virtual_kernel-*.whl
	@PYTHONPATH=src $(PY) packaging/build.py --kernel

image: wheel ## the container image localhost/h123, from the pip packages and Debian's
	@PYTHONPATH=src $(PY) packaging/image.py

clean: ## remove everything built (campaigns stay)
	rm -rf $(VENV) .cache dist lab/target target .mypy_cache .ruff_cache .pytest_cache .hypothesis

# A second make in this checkout waits for the first, and then has nothing to do if the first made the goal.
ALONE = mkdir -p .cache && exec 9>.cache/setup.lock && flock 9 || exit
MADE = test -e $@ && test -z "$$(find $^ -newer $@)"
INSTALL := $(MODULE) pip install --quiet --disable-pip-version-check --require-hashes -r

ifndef WHOLE
.PHONY: $(VENV)/run.stamp
endif

$(VENV)/run.stamp: requirements/run.txt
	@test ! -e $(VENV) || test -O $(VENV) || \
		{ echo "h123: $(VENV) belongs to $$(stat -Lc %U $(VENV)), and h123 does not change it: use a copy of this folder"; exit 1; }
	@$(ALONE); whole() { $(PY) -c 'import pip' 2>/dev/null; }; \
	if whole && $(MADE); then exit; fi; \
	echo "h123: setting up the Python environment (once; a minute, longer on a slow network)"; \
	if ! whole; then \
		"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
			{ echo "h123 needs Python 3.11 or newer: apt install python3 python3-venv"; exit 1; }; \
		"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || \
			{ echo "h123 needs Python's module venv, a separate package in Debian: apt install python3-venv"; exit 1; }; \
		test ! -e $(VENV) || echo "h123: $(VENV) is incomplete, or its Python was removed or replaced: creating it again"; \
		rm -rf $(VENV) && "$(PYTHON)" $(MODULE) venv $(VENV) || exit; \
	fi; \
	$(PY) $(INSTALL) $< && touch $@

$(VENV)/dev.stamp: requirements/dev.txt $(VENV)/run.stamp
	@$(ALONE); if $(MADE); then exit; fi; \
	echo "h123: adding the test tools"; \
	$(PY) $(INSTALL) $< && touch $@

$(DOCS_VENV)/stamp: requirements/docs.txt
	@$(ALONE); if $(MADE); then exit; fi; \
	echo "h123: setting up the tool that makes the site (once)"; \
	rm -rf $(DOCS_VENV) && "$(PYTHON)" $(MODULE) venv $(DOCS_VENV) && $(DOCS_VENV)/bin/python $(INSTALL) $< && touch $@

$(VALE):
	@echo "h123: building Vale, which checks prose (once, a few minutes)"
	@GOBIN="$(CURDIR)/$(dir $@)" go install $(VALE_MODULE)

$(PACKAGING)/stamp: requirements/packaging.txt
	@$(ALONE); if $(MADE); then exit; fi; \
	echo "h123: setting up the tools that make the wheels (once)"; \
	rm -rf $(PACKAGING) && "$(PYTHON)" $(MODULE) venv $(PACKAGING) && $(PACKAGING)/bin/python $(INSTALL) $< && touch $@

$(LAB): $(LAB_SOURCES)
	@command -v cargo >/dev/null || { echo "h123 needs Rust 1.89 or newer (cargo): https://rustup.rs (Debian's is older)"; exit 1; }
	@echo "h123: building the lab (once; about a minute if the machine is idle)"
	@cd lab && if test -t 2; then cargo build --release --locked; else \
		(s=0; while sleep 20 >/dev/null 2>&1 && kill -0 $$$$ 2>/dev/null; do \
		s=$$((s + 20)); echo "  still building, $$s s"; done) & beat=$$!; \
		cargo build --release --locked --quiet; built=$$?; kill $$beat; exit $$built; fi
	@touch $@
