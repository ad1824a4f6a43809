# What is done often. `.ci/run` alone decides whether a change is good.

# Every test that needs nothing installed
test:
    cargo test

# Format and lints
lint:
    cargo fmt --check
    cargo clippy --all-targets -- -D warnings

# Everything that CI runs, real counterparties included
ci:
    .ci/run
