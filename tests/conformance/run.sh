#!/usr/bin/env bash
# Runs the official MCP conformance suite.
#   run.sh client    against the connection code behind tests/conformance/client.rs
#   run.sh server    against the HTTP server of `humble serve`: with the suite's fixtures
#                    (tests/conformance/server.rs), and without, as shipped
# HUMBLE_CONFORMANCE_CACHE is a folder whose node_modules has `node` 22 and the suite; missing
# packages are installed there with npm (default: humble-conformance in the user's cache folder).
# The last line is `client 2025-11-25: N/M, 2026-07-28: N/M`: passed and scored scenarios.
# A scored scenario that does not pass is listed and makes the exit code 1.
set -uo pipefail
cd "$(dirname "$0")/../.."
cache=${HUMBLE_CONFORMANCE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/humble-conformance}
suite=@modelcontextprotocol/conformance
version=0.2.0-alpha.12
revisions=(2025-11-25 2026-07-28)

side=${1:-}
case "$side" in client | server) ;; *) sed -n '2,10p' "$0"; exit 2 ;; esac

has_suite() {
  [ -x "$cache/node_modules/node/bin/node" ] &&
    grep -qs "\"version\": \"$version\"" "$cache/node_modules/$suite/package.json"
}
install() {
  command -v npm >/dev/null || { echo 'npm is required to install the suite' >&2; return 1; }
  mkdir -p "$cache" && npm install --prefix "$cache" --no-audit --no-fund --loglevel=error node@22 "$suite@$version"
}
for try in 1 2 3; do
  has_suite && break
  install || { [ "$try" = 3 ] || sleep $((try * 5)); }
done
has_suite || { echo "could not install $suite $version" >&2; exit 1; }
export PATH=$cache/node_modules/node/bin:$PATH

cargo build --quiet --example "conformance-$side" || exit 1
programs=${CARGO_TARGET_DIR:-target}/debug
results=$(mktemp -d)
server_pid=
trap '[ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null; rm -rf "$results"' EXIT

run_suite() { node "$cache/node_modules/$suite/dist/index.js" "$@"; }

# Starts a server, whose output contains its address, and sets `url`.
start_server() {
  local log=$results/server.log
  "$@" </dev/null >"$log" 2>&1 &
  server_pid=$!
  for _ in $(seq 200); do
    url=$(sed -n 's|.*listening on \(http://[^ ]*\).*|\1/mcp|p' "$log" | head -n 1)
    [ -n "$url" ] && return
    sleep 0.05
  done
  cat "$log" >&2
  return 1
}
stop_server() {
  kill "$server_pid" && wait "$server_pid"
  server_pid=
}

# Reads the summary of a run: lists scored scenarios that did not pass, then prints `N/M`.
score() {
  awk -v revision="$1" -v side="$side" '
    FNR == NR { if (/^[a-z_]+:/) section = $1; else if (section == side ":" && $1 == "-") scored[$2] = 1; next }
    /^(✓|✗) / { name = $2; sub(/:$/, "", name); if (name in scored) passed[name] = /^✓/ }
    END {
      for (name in scored) {
        scored_count++
        if (passed[name]) { passed_count++; continue }
        bad++
        print revision ": " name " did not pass"
      }
      print (passed_count + 0) "/" (scored_count + 0)
      exit bad > 0 || scored_count == 0
    }' "$2" "$3"
}

# Scenarios that need no fixtures, so the shipped server must pass them. The last one of each line
# is not scored.
generic_scenarios() {
  case "$1" in
  2025-11-25) echo server-initialize ping tools-list server-sse-multiple-streams dns-rebinding-protection server-session-lifecycle ;;
  2026-07-28) echo tools-list server-sse-multiple-streams dns-rebinding-protection sep-2164-resource-not-found input-required-result-unsupported-methods http-header-validation ;;
  esac
}

# The program as users run it, without fixtures.
test_shipped_server() {
  local revision scenario log passed=0 count=0
  cargo build --quiet --bin humble || return 1
  start_server "$programs/humble" serve --http --port 0 --home "$results/home" || return 1
  for revision in "${revisions[@]}"; do
    for scenario in $(generic_scenarios "$revision"); do
      count=$((count + 1))
      log=$results/$revision-$scenario.log
      if run_suite server --url "$url" --scenario "$scenario" --spec-version "$revision" >"$log" 2>&1; then
        passed=$((passed + 1))
      else
        echo "shipped server, $revision: $scenario did not pass"
        tail -n 20 "$log"
      fi
    done
  done
  stop_server
  echo "shipped server: $passed/$count"
  [ "$passed" = "$count" ]
}

line=$side separator=' ' status=0
if [ "$side" = server ]; then
  test_shipped_server || status=1
  start_server "$programs/examples/conformance-server" 0 || exit 1
  target=(--url "$url")
else
  target=(--command "$programs/examples/conformance-client")
fi
for revision in "${revisions[@]}"; do
  # Ignore the exit code, which also depends on scenarios that are not scored, unlike the score below.
  run_suite "$side" "${target[@]}" --requirements "$revision" \
    --output-dir "$results/$revision" >"$results/$revision.log" 2>&1
  summary=$(score "$revision" "$cache/node_modules/$suite/requirements/$revision.yaml" "$results/$revision.log") || status=1
  printf '%s\n' "$summary" | sed '$d' | sort
  line+="$separator$revision: $(printf '%s\n' "$summary" | tail -n 1)"
  separator=', '
done
[ "$side" = client ] || stop_server
echo "$line"
exit "$status"
