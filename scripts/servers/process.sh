# What the scripts beside this one share; they read it with ".".

# free_port prints a port of loopback that nobody listens at, below 65,000.
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(min(s.getsockname()[1], 65000))'
}

# await PID URL OUTPUT TRIES waits until URL answers, a quarter of a second a try. When
# the process ends before or no try is left, it shows the end of OUTPUT and fails.
await() {
	tries=0
	until curl -sf -m 2 ${CURL_OPTIONS:-} "$2" >/dev/null 2>&1; do
		tries=$((tries + 1))
		if ! kill -0 "$1" 2>/dev/null || [ $tries -gt "$4" ]; then
			tail -30 "$3" >&2
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
	rm -f "$1/pid"
}
