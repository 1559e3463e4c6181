# Common commands; `.ci/run` is the complete check.

default: test

# Runs all tests, and prints the number of cases.
test *args:
    tests/run {{args}}

# Runs the checks of CI.
ci:
    .ci/run

# Updates expected compile errors and expansions; review the difference like code.
bless:
    TRYBUILD=overwrite cargo test -p toolkit-ui-tests
    UPDATE_EXPECT=1 cargo test

# Updates the lists of the public interface in `tests/api`.
api:
    cargo doc --no-deps --all-features
    UPDATE_API=1 cargo test --test api -- --ignored

# Formats and lints.
lint:
    cargo fmt --all
    cargo clippy --workspace --all-targets -- -D warnings

# Checks dependencies: licenses, duplicates, sources. Needs no network.
deny:
    cargo deny check bans licenses sources

# Checks advisories for dependencies. Downloads the RustSec database, so it is not part of `ci`.
advisories:
    cargo deny check advisories

# Measures the ratios to plain serde and to other libraries.
bench:
    cargo bench -p toolkit-benches --bench dispatch

# Measures what the plots show, on an idle machine, and makes the plots.
plots:
    BENCH_JSON={{justfile_directory()}}/benches/results/dispatch.json cargo bench -p toolkit-benches --bench dispatch
    BENCH_JSON={{justfile_directory()}}/benches/results/servers.json benches/benches/servers/run
    BENCH_JSON={{justfile_directory()}}/benches/results/servers-busy.json cargo bench -p toolkit-benches --bench servers -- --busy
    BENCH_JSON={{justfile_directory()}}/benches/results/servers-clients.json cargo bench -p toolkit-benches --bench servers -- --clients
    BENCH_JSON={{justfile_directory()}}/benches/results/growth.json cargo bench -p toolkit-benches --bench growth
    BENCH_JSON={{justfile_directory()}}/benches/results/search-quality.json cargo run --release -p toolkit-benches --bin retrieval
    BENCH_JSON={{justfile_directory()}}/benches/results/search-speed.json cargo run --release -p toolkit-search-bench
    cargo run -p toolkit-plot
