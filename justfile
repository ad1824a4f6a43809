# Common tasks. `.ci/run` alone decides whether a change is good.

# Run every test that needs nothing installed
test:
    cargo test

# Check formatting and lints
lint:
    cargo fmt --check
    cargo clippy --all-targets -- -D warnings

# Measure the whole program and the functions on the token path
bench:
    cargo bench --bench terminal
    cargo bench --bench text

# Run twenty MCP servers, killed at random, for three minutes; checks that every call is answered,
# and shows memory use
soak seconds="180":
    cargo build --release --example test-mcp-server --example test-http-server
    HUMBLE_SOAK_SECONDS={{seconds}} cargo test --release --test soak -- --ignored --nocapture

# Run everything that CI runs, including real servers
ci:
    .ci/run

# Fuzz the scanner for half an hour for texts it reads in two ways; needs cargo-fuzz, but not
# nightly
fuzz seconds="1800":
    cargo fuzz run --fuzz-dir tests/fuzz --sanitizer none scan -- -dict=tests/fuzz/markers.dict -max_len=400 -timeout=10 -max_total_time={{seconds}}
