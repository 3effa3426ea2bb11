# The same variables everywhere, on the command line or in the environment:
#   UPSTREAM  release:VERSION, git:PATH_OR_URL@COMMIT, submodule or path:DIR (default: the submodule
#             when it is checked out, else the release named in shrinker/upstream.toml)
#   PROFILE   which rules (rules/profiles/)
#   OUT       where the generated tree goes
#   JOBS      worker processes (default: one a core)
#   FORCE     1: what somebody added to OUT is moved to OUT.backup-…; without it nothing is generated there
#   STRICT    1: a rule that matches nothing and a predicate that no rule names are errors
PROFILE ?= deepseek
OUT ?= dist/sglang_$(subst -,_,$(PROFILE))
UPSTREAM ?=
JOBS ?=
STRICT ?=
FORCE ?=
LEVEL ?=
NAME ?=
GPU ?=

BIN := .venv/bin
READY := .venv/.ready
BENCH_READY := .venv/.ready-bench
SIMULATION := .venv-simulate/.ready

.DEFAULT_GOAL := help
.PHONY: help shrink test readme simulation simulation-where-it-can-be verify verify-gpu leftovers cross-check why diff bump publish sweep pairs review comment propose workflows check-upstream doctor survivors bench lint upstream clean clean-cache

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@awk '!/^#/ { exit } /^#  / { sub(/^# /, ""); print }' $(firstword $(MAKEFILE_LIST))

shrink: $(READY) ## generate OUT from UPSTREAM by the rules of PROFILE, with lock, reports and evidence
	$(BIN)/shrinker shrink --profile '$(PROFILE)' --out '$(OUT)' $(if $(UPSTREAM),--upstream '$(UPSTREAM)') $(if $(JOBS),--jobs '$(JOBS)') $(if $(filter-out 0,$(STRICT)),--strict) $(if $(filter-out 0,$(FORCE)),--force)

# pytest last: its closing line says how many tests ran. Where PyTorch cannot be had, the tests that need it are skipped and say so.
test: $(READY) ## checks of style, types and layers, then all tests (the real release included)
	$(MAKE) --no-print-directory -j2 lint simulation-where-it-can-be
	$(BIN)/python -m pytest -n '$(or $(JOBS),auto)'

readme: $(READY) $(SIMULATION) ## every command of README in a clone of this checkout (an hour or two); the log is dist/readme.log; ONLY=text for some
	$(BIN)/python -m tests.clones $(if $(ONLY),--only '$(ONLY)')

simulation-where-it-can-be: $(READY)
	-$(MAKE) --no-print-directory simulation

lint: $(READY) ## style, types, layers, workflows
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/zizmor --quiet --offline .github/workflows

workflows: $(READY) ## actionlint on the workflows; its package downloads it from GitHub
	sh .ci/environment --group workflows
	$(BIN)/actionlint .github/workflows/*.yml

# The levels that run the trees need an environment of their own; one static level alone does not.
verify: $(READY) $(if $(filter form references embedders,$(LEVEL)),,$(SIMULATION)) ## all evidence without a GPU for OUT; LEVEL=form, references, embedders, imports, model, server or trace for one level
	$(BIN)/shrinker verify --out '$(OUT)' $(if $(UPSTREAM),--upstream '$(UPSTREAM)') $(if $(LEVEL),--level '$(LEVEL)',--all)

simulation: $(SIMULATION) ## the environment in which trees run without a GPU (2 GB; TORCH_INDEX: an index with PyTorch's CPU build)

verify-gpu: $(READY) ## both servers on this machine's GPUs; GPU="--checkpoints DIR --python ENVIRONMENT/bin/python ..."
	$(BIN)/shrinker verify --out '$(OUT)' $(if $(UPSTREAM),--upstream '$(UPSTREAM)') --level gpu -- $(GPU)

leftovers: $(READY) ## what of other platforms is left in the kept Python of OUT, and why; fails when something has no reason
	$(BIN)/shrinker leftovers --out '$(OUT)' $(if $(UPSTREAM),--upstream '$(UPSTREAM)') $(if $(JOBS),--jobs '$(JOBS)')

cross-check: $(READY) ## what ruff, vulture, pyrefly and pydeps see of OUT and not of upstream; fails when a finding has no reason
	$(BIN)/shrinker cross-check --out '$(OUT)' $(if $(UPSTREAM),--upstream '$(UPSTREAM)') $(if $(JOBS),--jobs '$(JOBS)')

why: $(READY) ## NAME=module-or-file: the shortest chain from a root that keeps it in OUT
	$(BIN)/shrinker why '$(NAME)' --out '$(OUT)'

diff: $(READY) ## OLD=… NEW=… (trees, locks or upstreams): what a reviewer must know; PAGES=folder for diff.md, diff.html, diff.json
	$(if $(PAGES),mkdir -p '$(PAGES)' && rm -f '$(PAGES)/diff.md' '$(PAGES)/diff.html' '$(PAGES)/diff.json')
	sh .ci/answer $(BIN)/shrinker diff '$(OLD)' '$(NEW)' --profile '$(PROFILE)' $(if $(JOBS),--jobs '$(JOBS)') $(if $(HISTORY),--history '$(HISTORY)') \
	  $(if $(PAGES),--markdown '$(PAGES)/diff.md' --html '$(PAGES)/diff.html' --json > '$(PAGES)/diff.json')
	$(if $(PAGES),@echo 'pages: $(PAGES)/diff.md $(PAGES)/diff.html $(PAGES)/diff.json')

check-upstream: $(READY) ## what the rules do not know of UPSTREAM, with sites and rules to paste; SINCE=upstream that they know
	sh .ci/answer $(BIN)/shrinker check-upstream '$(UPSTREAM)' --profile '$(PROFILE)' $(if $(SINCE),--since '$(SINCE)') $(if $(JOBS),--jobs '$(JOBS)')

doctor:
	@echo 'make doctor is now make check-upstream' >&2; exit 2

survivors:
	@echo 'make survivors is now make leftovers' >&2; exit 2

# README's figures are part of what a bump rewrites.
bump: $(READY) ## RELEASE=… or COMMIT=… (SOURCE=repository): move the pin, regenerate, verify, rewrite lock and reports; SUMMARY=file
	$(BIN)/shrinker bump --profile '$(PROFILE)' $(if $(RELEASE),--release '$(RELEASE)') $(if $(COMMIT),--commit '$(COMMIT)') \
	  $(if $(SOURCE),--source '$(SOURCE)') $(if $(JOBS),--jobs '$(JOBS)') $(if $(filter-out 0,$(STRICT)),--strict) \
	  $(if $(HISTORY),--history '$(HISTORY)') $(if $(SUMMARY),--summary '$(SUMMARY)')
	$(BIN)/python -m benchmarks.readme
	$(if $(SUMMARY),@echo 'page: $(SUMMARY)')

review: $(READY) ## BASE=commit: what this checkout generates otherwise than that commit did; PAGES=folder (default dist/review)
	BASE='$(BASE)' OUT=dist/base sh .ci/base-tree
	$(MAKE) --no-print-directory diff OLD=dist/base NEW='$(OUT)' PAGES='$(or $(PAGES),dist/review)'

comment: ## NUMBER=… PAGES=folder: put the page of `make review` into a comment of a pull request (needs gh and its token)
	NUMBER='$(NUMBER)' PAGES='$(PAGES)' sh .ci/comment

propose: ## SUMMARY=file: open a pull request with what `make bump` left (needs gh and its token)
	SUMMARY='$(SUMMARY)' sh .ci/propose

publish: $(READY) ## REMOTE=… BRANCH=…: commit OUT on top of a branch and push it, never by force
	$(BIN)/shrinker publish --out '$(OUT)' --remote '$(REMOTE)' --branch '$(BRANCH)'

sweep: $(READY) ## UPSTREAM="…" (several) or benchmarks/sweep.txt, or COMMITS=50 SOURCE=repository: all of them with the rules as they are
	$(BIN)/python -m benchmarks.sweep $(if $(filter-out file,$(origin PROFILE)),--profile '$(PROFILE)') $(if $(JOBS),--jobs '$(JOBS)') $(if $(COMMITS),--commits '$(COMMITS)') \
	  $(if $(SOURCE),--repository '$(SOURCE)') $(UPSTREAM)

pairs: $(READY) ## SOURCE=repository PAIRS=10: consecutive commits, what the second run takes (benchmarks/PAIRS.md)
	$(BIN)/python -m benchmarks.pairs --profile '$(PROFILE)' $(if $(JOBS),--jobs '$(JOBS)') $(if $(PAIRS),--pairs '$(PAIRS)') \
	  $(if $(SOURCE),--repository '$(SOURCE)')

bench: $(BENCH_READY) ## time and memory of every phase, against other tools on the same tree; what folding tools leave of it
	@# A missed budget (1) is told at the end; what cannot be measured (2) ends at once.
	status=0; $(BIN)/python -m benchmarks $(if $(UPSTREAM),--upstream '$(UPSTREAM)') $(if $(JOBS),--jobs '$(JOBS)') || status=$$?; \
	test $$status -le 1 || exit $$status; \
	$(BIN)/python -m benchmarks.compare $(if $(UPSTREAM),--upstream '$(UPSTREAM)') $(if $(PROFILE),--profile '$(PROFILE)') $(if $(JOBS),--jobs '$(JOBS)') && exit $$status

upstream: ## check the submodule upstream/ out at its commit
	git submodule update --init --depth 1 upstream

clean: $(READY) ## remove generated trees and what the checks leave; the environment stays, and a tree with work of yours in it
	$(BIN)/python -c 'from pathlib import Path; from shrinker.emit.staging import remove_trees; [print(f"{tree} stays: it holds what shrinker did not write") for tree in remove_trees(Path("dist"))]'
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find shrinker equivalence tools tests benchmarks -type d -name __pycache__ -prune -exec rm -rf {} +

clean-cache: $(READY) ## remove downloads and unpacked upstream trees ($SHRINKER_CACHE or ~/.cache/shrinker)
	$(BIN)/python -c 'from shrinker.source.cache import clear, default_folder; clear(default_folder())'

$(READY): uv.lock pyproject.toml .ci/environment
	sh .ci/environment
	@touch $@

# After READY: preparing the environment takes the bench group out again.
$(BENCH_READY): $(READY)
	sh .ci/environment --group bench
	@touch $@

$(SIMULATION): equivalence/simulation/requirements.txt .ci/simulation
	sh .ci/simulation
	@touch $@
