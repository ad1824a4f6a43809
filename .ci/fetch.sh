# Sourced: `fetch WHAT COMMAND…` tries a download three times and names what could not be had.
fetch() {
  local what=$1 try
  shift
  for try in 1 2 3; do
    "$@" </dev/null && return 0
    echo "$what: attempt $try of 3 failed" >&2
    [ "$try" = 3 ] || sleep $((try * 5))
  done
  echo "could not be downloaded: $what" >&2
  return 1
}
