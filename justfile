# Common tasks. `.ci/run` is the complete check of a change.

# Run all tests that need no other programs
test:
    cargo test

# Check formatting and lints
lint:
    cargo fmt --check
    cargo clippy --all-targets -- -D warnings

# Measure the whole program, and the functions that process each token
bench:
    cargo bench --bench terminal
    cargo bench --bench text
    cargo bench --bench screen

# Run twenty MCP servers, killed at random, for three minutes, then 200 clients of `humble serve` for one; check every
# call and the memory use. With HUMBLE_MCP_SERVERS (see docs/testing.md), compare with a FastMCP server.
soak seconds="180":
    cargo build --release --example test-mcp-server --example test-http-server
    HUMBLE_SOAK_SECONDS={{seconds}} cargo test --release --test soak --test load -- --ignored --nocapture

# Run everything that CI runs, including third-party servers
ci:
    .ci/run

# Fuzz the scanner for half an hour: its result must not depend on chunks (needs cargo-fuzz)
fuzz seconds="1800":
    cargo fuzz run --fuzz-dir tests/fuzz --sanitizer none scan -- -dict=tests/fuzz/markers.dict -max_len=400 -timeout=10 -max_total_time={{seconds}}
