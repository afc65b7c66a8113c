#!/bin/sh
# Has Schemathesis (pip install schemathesis) try the HTTP interface of a server of
# its own against the OpenAPI document that it serves:
#
#	sh bench/api.sh                      # all phases, default settings, minutes
#	sh bench/api.sh --phases fuzzing     # more flags of "st run"
#
# Status 0 means that it found nothing.
set -eu
cd "$(dirname "$0")/.."
st=$(command -v "${ST:-st}") || { echo "no schemathesis: pip install schemathesis, or name its program in ST" >&2; exit 2; }
dir=$(mktemp -d)
server=
trap 'test -z "$server" || kill "$server" || true; rm -rf "$dir"' EXIT
trap 'exit 143' INT TERM
mkdir "$dir/notes" "$dir/config"
cp README.md doc/*.md "$dir/notes"
go build -o "$dir/sheaf" ./cmd/sheaf
export XDG_CONFIG_HOME="$dir/config"
"$dir/sheaf" serve --in "$dir/notes" --index "$dir/index" --addr 127.0.0.1:0 >"$dir/out" 2>"$dir/err" &
server=$!
until address=$(sed -n 's/^listening on //p' "$dir/out") && test -n "$address" && curl -fs -o "$dir/ready" "$address/readyz"; do
	kill -0 "$server" || { cat "$dir/err" >&2; exit 1; }
	sleep 0.1
done
cd "$dir" # which has no configuration
"$st" run "$address/openapi.json" "$@" || { status=$?; cat "$dir/err" >&2; exit $status; }
