#!/usr/bin/env bash
# The MCP server that has every feature, from its npm package.
#   everything.sh setup CACHE   installs it, once
#   everything.sh path CACHE    the program, to be run by node
set -euo pipefail
cd "$(dirname "$0")"
. ./fetch.sh
version=2026.8.31
package=@modelcontextprotocol/server-everything
folder=${2:?where the cache is}/everything-$version
program=$folder/node_modules/$package/dist/index.js

setup() {
  command -v node >/dev/null && command -v npm >/dev/null || { echo 'node and npm are needed' >&2; exit 1; }
  [ -e "$folder/whole" ] && { echo "already there: $package $version"; return; }
  rm -rf "$folder"
  mkdir -p "$folder"
  fetch "$package $version" npm install --prefix "$folder" --no-audit --no-fund --loglevel=error "$package@$version"
  [ -f "$program" ] || { echo "$package has no dist/index.js" >&2; exit 1; }
  # Written last: an install that was cut off is begun anew.
  touch "$folder/whole"
}

case "${1:-}" in
setup) setup ;;
path) echo "$program" ;;
*) sed -n '2,4p' "$0"; exit 2 ;;
esac
