#!/usr/bin/env bash
# Runs the official MCP conformance suite against our client.
#   run.sh client    the connection code behind tests/conformance/client.rs
# HUMBLE_CONFORMANCE_CACHE is a folder whose node_modules has `node` 22 and the suite; missing
# packages are installed there with npm (default: humble-conformance in the user's cache folder).
# The last line is `client 2025-11-25: N/M, 2026-07-28: N/M`: passed and scored scenarios.
# Scenarios about sign-in, elicitation and sampling may fail and are listed; any other failure
# makes the exit code 1.
set -uo pipefail
cd "$(dirname "$0")/../.."
cache=${HUMBLE_CONFORMANCE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/humble-conformance}
suite=@modelcontextprotocol/conformance
version=0.2.0-alpha.12

[ "${1:-}" = client ] || { sed -n '2,8p' "$0"; exit 2; }

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

cargo build --quiet --example conformance-client || exit 1
client=${CARGO_TARGET_DIR:-target}/debug/examples/conformance-client
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# Reads the summary of a run: lists scored scenarios that did not pass, then prints `N/M`.
score() {
  awk -v revision="$1" '
    FNR == NR { if (/^[a-z_]+:/) section = $1; else if (section == "client:" && $1 == "-") scored[$2] = 1; next }
    /^(✓|✗) / { name = $2; sub(/:$/, "", name); if (name in scored) passed[name] = /^✓/ }
    END {
      for (name in scored) {
        scored_count++
        if (passed[name]) { passed_count++; continue }
        may_fail = name ~ /^auth\// || name ~ /elicitation|sampling/ || name == "sep-2322-client-request-state"
        if (!may_fail) bad++
        print revision ": " name " did not pass" (may_fail ? " (sign-in, elicitation or sampling)" : "")
      }
      print (passed_count + 0) "/" (scored_count + 0)
      exit bad > 0 || scored_count == 0
    }' "$2" "$3"
}

line=client separator=' ' status=0
for revision in 2025-11-25 2026-07-28; do
  # Ignore the exit code, which depends on scenarios that may fail. The score below does not.
  node "$cache/node_modules/$suite/dist/index.js" client --command "$client" --requirements "$revision" \
    --output-dir "$results/$revision" >"$results/$revision.log" 2>&1
  summary=$(score "$revision" "$cache/node_modules/$suite/requirements/$revision.yaml" "$results/$revision.log") || status=1
  printf '%s\n' "$summary" | sed '$d' | sort
  line+="$separator$revision: $(printf '%s\n' "$summary" | tail -n 1)"
  separator=', '
done
echo "$line"
exit "$status"
