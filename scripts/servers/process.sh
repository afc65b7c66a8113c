# What the scripts beside this one share; they read it with ".".

# free_port prints an unused port of loopback, below 65,000.
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(min(s.getsockname()[1], 65000))'
}

# free_ports N prints the first of N ports in a row, below 65,000, all unused: neither for
# TCP nor for UDP, on no address of this machine.
free_ports() {
	python3 - "$1" <<'PYTHON'
import random, socket, sys
n = int(sys.argv[1])
for _ in range(1000):
    first = random.randrange(20000, 65000 - n)
    held = []
    try:
        for port in range(first, first + n):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                held.append(socket.socket(socket.AF_INET, kind))
                held[-1].bind(("", port))
        print(first)
        break
    except OSError:
        pass
    finally:
        for s in held:
            s.close()
else:
    sys.exit("there are no %d free ports in a row" % n)
PYTHON
}

# running DIR [KEY] prints the address of the server that was started in DIR: one folder
# holds one server. One that does not answer, or wants another key, is not started over.
running() {
	pid=$(cat "$1/pid" 2>/dev/null || true)
	[ -n "$pid" ] && kill -0 "$pid" 2>/dev/null || return 1
	echo "$1: found its server, process $pid" >&2
	address=$(cat "$1/address" 2>/dev/null || true)
	if [ -z "$address" ] || ! answers "$address"; then
		echo "it does not answer ${address:+at $address}: wait, or stop it (remove $1/pid when process $pid is something else)" >&2
		exit 1
	fi
	if [ "${2:-}" != "$(cat "$1/key" 2>/dev/null || true)" ]; then
		echo "it was started with another KEY, or with none: stop it first, or name another folder" >&2
		exit 1
	fi
	echo "$address"
}

# started DIR ADDRESS [KEY] prints the address of a server that is ready, and notes what
# a second start asks for.
started() {
	(umask 077 && echo "${3:-}" >"$1/key")
	echo "$2" | tee "$1/address"
}

# answers ADDRESS reports whether a server answers there.
answers() {
	curl -s -m 5 -o /dev/null ${CURL_OPTIONS:-} "$1"
}

# find_java NEED WHO prints the newest Java, of version NEED at least, that WHO needs.
find_java() {
	best=0
	found=
	for candidate in "${JAVA_HOME:-/none}/bin/java" /usr/lib/jvm/*/bin/java "$(command -v java || echo /none)"; do
		[ -x "$candidate" ] || continue
		n=$("$candidate" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
		if [ "${n:-0}" -ge "$1" ] && [ "$n" -gt "$best" ]; then
			best=$n
			found=$candidate
		fi
	done
	[ -n "$found" ] || { echo "$2 needs Java $1 or newer: install one, or set JAVA_HOME" >&2; return 1; }
	echo "$found"
}

# artifact DIR GROUP:NAME:VERSION FOLDER unpacks an archive of Maven Central's.
artifact() {
	mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact="$2:zip" \
		-DoutputDirectory="$1/zip" -Dmdep.useBaseVersion=true >&2
	python3 -m zipfile -e "$1"/zip/*.zip "$3"
	rm -rf "$1/zip"
}

# await PID URL OUTPUT SECONDS waits until URL answers, by the clock: on a busy machine a
# server and a try both take longer. When the process ends before or the time is up, it
# shows the end of OUTPUT, says which, and fails.
await() {
	until=$(($(date +%s) + $4))
	while ! curl -sf -m 10 ${CURL_OPTIONS:-} "$2" >/dev/null 2>&1; do
		if ! kill -0 "$1" 2>/dev/null; then
			tail -30 "$3" >&2
			echo "the server ended before it answered $2" >&2
			return 1
		fi
		if [ "$(date +%s)" -ge "$until" ]; then
			tail -30 "$3" >&2
			echo "the server does not answer $2 after $4 s" >&2
			return 1
		fi
		sleep 0.25
	done
}

# end DIR ends the process whose number is in DIR/pid and waits until it is gone.
end() {
	[ -f "$1/pid" ] || return 0
	pid=$(cat "$1/pid")
	kill "$pid" 2>/dev/null || true
	tries=0
	while kill -0 "$pid" 2>/dev/null && [ $tries -lt 200 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	rm -f "$1/pid" "$1/address" "$1/key"
}

# lend ACCOUNT defines as, which runs a command in place of this shell: for root as
# ACCOUNT, which is made without rights when it is missing, at home in $dir/node.
lend() {
	as() { exec "$@"; }
	[ "$(id -u)" = 0 ] || return 0
	account=$1
	id "$account" >/dev/null 2>&1 || useradd --system --no-create-home --shell /usr/sbin/nologin "$account"
	as() { exec setpriv --reuid="$account" --regid="$account" --clear-groups env HOME="$dir/node" "$@"; }
}
