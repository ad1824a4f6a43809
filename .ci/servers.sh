#!/usr/bin/env bash
# Installs third-party MCP servers, MCP clients and the protocol's conformance suite from npm and PyPI.
#   servers.sh setup CACHE   installs them, once
#   servers.sh path CACHE    prints their folder, with npm/node_modules (including Node) and python (a virtual environment)
set -euo pipefail
cd "$(dirname "$0")"
. ./fetch.sh
npm_packages=(
  node@22.23.3
  @modelcontextprotocol/server-everything@2026.8.31
  @modelcontextprotocol/server-filesystem@2026.8.31
  @modelcontextprotocol/server-memory@2026.8.31
  @modelcontextprotocol/conformance@0.2.0-alpha.12
  @modelcontextprotocol/inspector@2.12.0
)
python_packages=(mcp-server-time==2026.10.19 mcp-server-git==2026.10.19 fastmcp==4.1.2)
# Each set of versions gets its own folder, so nothing from an older install remains.
versions=$(printf '%s\n' "${npm_packages[@]}" "${python_packages[@]}" | cksum | cut -d' ' -f1)
folder=${2:?the cache folder is missing}/servers-$versions

setup_npm() {
  command -v npm >/dev/null || { echo 'npm is required' >&2; return 1; }
  mkdir -p "$folder/npm"
  fetch "MCP servers from npm" npm install --prefix "$folder/npm" --no-audit --no-fund --loglevel=error "${npm_packages[@]}"
  "$folder/npm/node_modules/node/bin/node" --version >/dev/null || { echo 'the npm package node@22 does not run on this machine' >&2; return 1; }
}

setup_python() {
  command -v python3 >/dev/null || { echo 'python3 is required' >&2; return 1; }
  python3 -m venv "$folder/python" || { echo 'python3 lacks the venv module' >&2; return 1; }
  fetch "MCP servers from PyPI" "$folder/python/bin/python" -m pip install --quiet --disable-pip-version-check "${python_packages[@]}"
}

setup() {
  [ -e "$folder/complete" ] && { echo "already installed: $folder"; return; }
  rm -rf "$folder"
  mkdir -p "$folder"
  setup_npm
  setup_python
  # Created last, so that an interrupted installation starts over.
  touch "$folder/complete"
}

case "${1:-}" in
setup) setup ;;
path) echo "$folder" ;;
*) sed -n '2,4p' "$0"; exit 2 ;;
esac
