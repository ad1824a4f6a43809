# What is done often. `.ci/run` alone decides whether a change is good.

# Every test that needs nothing installed
test:
    cargo test

# Format and lints
lint:
    cargo fmt --check
    cargo clippy --all-targets -- -D warnings

# How fast it is: the real program from outside, and the functions that tokens pass
bench:
    cargo bench --bench terminal
    cargo bench --bench text

# Twenty MCP servers, killed at random, for three minutes: no call without an answer, and what memory does meanwhile
soak seconds="180":
    cargo build --release --example test-mcp-server --example test-http-server
    HUMBLE_SOAK_SECONDS={{seconds}} cargo test --release --test soak -- --ignored --nocapture

# Everything that CI runs, real counterparties included
ci:
    .ci/run

# Looks for texts that the scanner reads in two ways, for half an hour; needs cargo-fuzz, not nightly
fuzz seconds="1800":
    cargo fuzz run --fuzz-dir tests/fuzz --sanitizer none scan -- -dict=tests/fuzz/markers.dict -max_len=400 -timeout=10 -max_total_time={{seconds}}
