# make serve    a virtual environment, the broker on 127.0.0.1:9092, and what to try next
# make test     installs whatever the tests need, then lint, types, unit and client tests
# make bench    kproto and Apache Kafka under every suite, short runs (90 minutes), one page: out/bench/report.html
# make test-long, flights, bench-full, bench-recovery, failover: the longer runs
# make simulate  whole clusters on virtual time: SEEDS=1000 of them, or SEED=17 to see one, or MUTATE=1;
#                with UNIT_TESTS=1 the coverage of the unit tests, too
# make simulate-storage  one broker's storage, killed at any operation of its disk: SEEDS=1000, or SEED=17
#
# Every install step leaves a stamp, so that the next call starts at once. PYTHON, LISTEN and DATA_DIR can be set.

# The distribution's Python first: it is built with all optimisations and a quarter faster than many others.
PYTHON ?= $(shell for p in /usr/bin/python3 python3.11 python3; do \
	"$$p" -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && \
	{ command -v "$$p"; exit; }; done; command -v python3.11 || command -v python3)
LISTEN ?= 127.0.0.1:9092
DATA_DIR ?= ./kproto-data
CRASH_ROUNDS ?= 50
ROUNDS ?= 100
ALL_AT_ONCE ?= 20
PAUSES ?= 10
RESTARTS ?= 3

VENV := .venv
BIN := $(VENV)/bin
BUILD := build/compat
PYTEST := $(BIN)/python -m pytest -o addopts= --timeout 600

.DELETE_ON_ERROR:
.PHONY: serve simulate simulate-storage test test-long lint flights bench bench-full bench-recovery failover tools clean

serve: $(VENV)/.serve
	@$(BIN)/kproto serve --listen $(LISTEN) --data-dir $(DATA_DIR)

test: tools
	$(PYTEST) tests -n 3 --dist loadfile -m "not long"
	$(PYTEST) compat_tests -n 3 --dist loadfile -m "not long"

test-long: tools
	KPROTO_CRASH_ROUNDS=$(CRASH_ROUNDS) KPROTO_CLUSTER_ROUNDS=$(CRASH_ROUNDS) $(PYTEST) tests compat_tests -m "long or crash"

simulate: $(VENV)/.dev
	$(BIN)/python -m tests.sim.simulate $(SEEDS) $(if $(SEED),--seed $(SEED)) $(if $(MUTATE),--mutate) $(if $(UNIT_TESTS),--unit-tests)

simulate-storage: $(VENV)/.dev
	$(BIN)/python -m tests.storage.simulate $(SEEDS) $(if $(FIRST),--first $(FIRST)) $(if $(SEED),--seed $(SEED))

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/mypy

flights: $(VENV)/.dev $(BUILD)/debian
	$(BIN)/python -m demos.flights

bench: $(VENV)/.dev $(BUILD)/debian
	$(BIN)/kproto bench all --quick --out out/bench

# The same with runs long enough to publish: hours. SUITES="single omb" for some of them. Published is what they wrote.
bench-full: $(VENV)/.dev $(BUILD)/debian
	mkdir -p out/bench-full && touch out/bench-full/.began
	-$(BIN)/kproto bench all --out out/bench-full $(addprefix --only ,$(SUITES))
	find out/bench-full -maxdepth 1 -name '*.json' -newer out/bench-full/.began -exec cp {} docs/benchmarks/results/ \;
	$(BIN)/kproto bench report docs/benchmarks/results --markdown docs/benchmarks.md --plots docs/benchmarks

# A lost broker's data comes back: time and speed by the number of backups, idle use of a cluster, a stopped backup.
bench-recovery: $(VENV)/.dev
	$(BIN)/kproto bench recovery
	$(BIN)/kproto bench idle --only kproto
	$(BIN)/kproto bench stall

failover: $(VENV)/.dev $(BUILD)/debian
	$(BIN)/kproto bench failover --only kproto --rounds $(ROUNDS) --all-at-once $(ALL_AT_ONCE) --pause $(PAUSES) \
		--restart $(RESTARTS)

# Everything the tests need: Python packages, Debian packages, Kafka's jars, our Java classes, the franz-go program.
tools: $(VENV)/.dev $(BUILD)/debian $(BUILD)/java/compiled $(BUILD)/go/compat

$(VENV)/bin/python:
	@compat_tests/setup/venv.sh "$(PYTHON)" $(VENV)

$(VENV)/.serve: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e '.[uvloop]'
	@$(BIN)/python -m compileall -q kproto
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e '.[dev]'
	@$(BIN)/python -m compileall -q kproto
	@touch $@ $(VENV)/.serve

$(BUILD)/debian: compat_tests/setup/debian.sh
	@compat_tests/setup/debian.sh
	@mkdir -p $(@D) && touch $@

$(BUILD)/java/libs/resolved: compat_tests/java/pom.xml | $(BUILD)/debian
	rm -rf $(@D)
	mvn -q -B -f compat_tests/java/pom.xml dependency:copy-dependencies -DoutputDirectory=$(abspath $(@D))
	@touch $@

JAVA_SOURCES := $(wildcard compat_tests/java/src/*.java)
$(BUILD)/java/compiled: $(JAVA_SOURCES) $(BUILD)/java/libs/resolved
	rm -rf $(BUILD)/java/classes
	javac -nowarn -proc:none --release 17 -cp '$(BUILD)/java/libs/*' -d $(BUILD)/java/classes $(JAVA_SOURCES)
	@touch $@

GO_SOURCES := $(wildcard compat_tests/go/*.go) compat_tests/go/go.mod compat_tests/go/go.sum
$(BUILD)/go/compat: $(GO_SOURCES) | $(BUILD)/debian
	cd compat_tests/go && GOTOOLCHAIN=local go vet . && GOTOOLCHAIN=local go build -o $(abspath $@) .

clean:
	rm -rf build .pytest_cache .mypy_cache .ruff_cache
