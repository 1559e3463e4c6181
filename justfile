# The commands of a day's work; `.ci/run` is what must pass.

default: test

# All tests, and how many cases they ran.
test *args:
    tests/run {{args}}

# What CI runs.
ci:
    .ci/run

# Writes expected compile errors and expansions anew; review the difference like code.
bless:
    TRYBUILD=overwrite cargo test -p toolkit-tests --test ui
    UPDATE_EXPECT=1 cargo test -p toolkit-derive
    UPDATE_EXPECT=1 cargo test -p toolkit-tests

# Formatting and lints.
lint:
    cargo fmt --all
    cargo clippy --workspace --all-targets -- -D warnings

# Dependencies: licences, duplicates, sources. Needs no network.
deny:
    cargo deny check bans licenses sources

# Advisories for dependencies. Downloads the RustSec database, so it is not part of `ci`.
advisories:
    cargo deny check advisories

# Ratios to plain serde and to other libraries.
bench:
    cargo bench -p toolkit-benches --bench dispatch
