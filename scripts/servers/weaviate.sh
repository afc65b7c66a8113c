#!/bin/sh
# Starts Weaviate for tests, on loopback, and stops it again.
#
#   scripts/servers/weaviate.sh start DIR   prints the address of the server
#   scripts/servers/weaviate.sh stop DIR
#
# The server is built from its Go module, which takes some minutes the first time;
# DIR keeps it. What it stores is thrown away when it stops. It takes six free
# ports in a row, from PORT on when that is set; two of them listen on every address, which it cannot be told
# not to do. With KEY set it lets only that key in, and asks for its rights.
set -eu
version=v1.35.2

here=$(cd "$(dirname "$0")" && pwd)
. "$here/process.sh"
usage() { sed -n '4,5s/^# *//p' "$0" >&2; exit 2; }
[ $# = 2 ] || usage
mkdir -p "$2"
dir=$(cd "$2" && pwd)

start() {
	! running "$dir" "${KEY:-}" || return 0
	[ -x "$dir/bin/weaviate-server" ] ||
		GOBIN="$dir/bin" CGO_ENABLED=0 go install "github.com/weaviate/weaviate/cmd/weaviate-server@$version" >&2
	rm -rf "$dir/data"
	port=${PORT:-$(free_ports 6)}
	access="AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED=true"
	[ -z "${KEY:-}" ] || access="AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED=false AUTHENTICATION_APIKEY_ENABLED=true AUTHENTICATION_APIKEY_ALLOWED_KEYS=$KEY \
		AUTHENTICATION_APIKEY_USERS=tester AUTHORIZATION_ADMINLIST_ENABLED=true AUTHORIZATION_ADMINLIST_USERS=tester"
	# shellcheck disable=SC2086 # each word of access is one setting
	env PERSISTENCE_DATA_PATH="$dir/data" $access DEFAULT_VECTORIZER_MODULE=none \
		API_BASED_MODULES_DISABLED=true DISABLE_TELEMETRY=true GO_PROFILING_DISABLE=true LOG_LEVEL=warning \
		CLUSTER_HOSTNAME=node1 CLUSTER_ADVERTISE_ADDR=127.0.0.1 CLUSTER_BIND_ADDR=127.0.0.1 \
		CLUSTER_GOSSIP_BIND_PORT=$((port + 1)) CLUSTER_DATA_BIND_PORT=$((port + 2)) \
		RAFT_PORT=$((port + 3)) RAFT_INTERNAL_RPC_PORT=$((port + 4)) GRPC_PORT=$((port + 5)) \
		"$dir/bin/weaviate-server" --host 127.0.0.1 --port "$port" --scheme http </dev/null >"$dir/out" 2>&1 &
	pid=$!
	echo $pid >"$dir/pid"
	address=http://127.0.0.1:$port
	await "$pid" "$address/v1/.well-known/ready" "$dir/out" 120 || { end "$dir"; exit 1; }
	started "$dir" "$address" "${KEY:-}"
}

stop() {
	end "$dir"
	rm -rf "$dir/data"
}

case $1 in
start) start ;;
stop) stop ;;
*) usage ;;
esac
