# Source this file. `fetch NAME COMMAND…` tries a download three times and names it if all fail.
fetch() {
  local name=$1 try
  shift
  for try in 1 2 3; do
    "$@" </dev/null && return 0
    echo "$what: attempt $try of 3 failed" >&2
    [ "$try" = 3 ] || sleep $((try * 5))
  done
  echo "could not download $what" >&2
  return 1
}
