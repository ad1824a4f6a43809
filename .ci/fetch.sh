# Source this file. `fetch NAME COMMAND…` tries a download three times and reports failures with NAME.
fetch() {
  local name=$1 try
  shift
  for try in 1 2 3; do
    "$@" </dev/null && return 0
    echo "$name: attempt $try of 3 failed" >&2
    [ "$try" = 3 ] || sleep $((try * 5))
  done
  echo "could not download $name" >&2
  return 1
}
