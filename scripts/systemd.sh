#!/bin/sh
# Runs sheaf service under a real systemd, as a service of the system and as a service of a user.
#
#   sudo sh scripts/systemd.sh SHEAF     SHEAF is the program: go build -o /tmp/sheaf ./cmd/sheaf
#
# The systemd of the script is the first process of its own namespaces: it sees no unit of this machine, and it stops
# with the script. The script needs root, unshare, and systemd. It leaves nothing behind.
set -eu
program=$(realpath "$1")
notes=$(realpath "$(dirname "$0")/../examples/notes")
[ "$(id -u)" = 0 ] || { echo "systemd.sh: run it as root: it makes namespaces" >&2; exit 2; }
[ -x /lib/systemd/systemd ] || { echo "systemd.sh: there is no /lib/systemd/systemd" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/units" "$work/home"
for unit in start basic sysinit shutdown multi-user; do
	printf '[Unit]\nDescription=%s\nDefaultDependencies=no\n' $unit >"$work/units/$unit.target"
done

# The steps that run beside systemd. Each prints its command first.
cat >"$work/steps" <<'STEPS'
set -eu
fail() { echo "FAILED: $1"; exit 1; }
sheaf() { echo "\$ sheaf $*"; code=0; timeout 60 "$program" "$@" || code=$?; }
want() { [ "$code" = "$1" ] || fail "exit status $code, not $1"; }
answers() { curl -fs --retry 20 --retry-delay 1 --retry-connrefused -o /dev/null "http://127.0.0.1:$1/v1/search?query=undo"; }
lifecycle() { # lifecycle PORT [FLAG]
	port=$1; shift
	sheaf service status "$@"; want 3
	sheaf service install "$work/nothing" "$@"; want 3
	sheaf service install "$notes" --addr "127.0.0.1:$port" "$@"; want 0
	sheaf service install "$notes" "$@"; want 2
	sheaf service start "$@"; want 0
	answers "$port" || fail "no answer on port $port"
	sheaf service status "$@"; want 0
	sheaf service stop "$@"; want 0
	sheaf service status "$@"; want 1
	sheaf service start "$@"; want 0
	answers "$port" || fail "no answer after the second start"
	sheaf service uninstall "$@"; want 0
	curl -fs "http://127.0.0.1:$port/livez" && fail "the service answers after uninstall"
	sheaf service status "$@"; want 3
}
echo "== a service of the system, $(systemctl --version | head -1)"
lifecycle 7395 --system
echo "== a service of a user"
export XDG_RUNTIME_DIR=/run/user/0
mkdir -p "$XDG_RUNTIME_DIR"
unset SYSTEMD_UNIT_PATH
/lib/systemd/systemd --user --log-target=null &
sleep 2
lifecycle 7396
echo passed >"$work/passed"
STEPS

export program notes work HOME="$work/home" XDG_DATA_HOME="$work/data" XDG_CACHE_HOME="$work/cache"
unset XDG_CONFIG_HOME
timeout -s KILL 300 unshare --kill-child --mount --pid --fork --uts --mount-proc sh -c '
	mount -t tmpfs none /run
	mount -t cgroup2 none /sys/fs/cgroup
	mount -t tmpfs none /etc/systemd/system
	cp "$work"/units/* /etc/systemd/system/
	export container=docker SYSTEMD_UNIT_PATH=/etc/systemd/system
	(sleep 2; sh "$work/steps" >"$work/out" 2>&1; systemctl poweroff -ff) &
	exec /lib/systemd/systemd --system --unit=start.target --log-target=null --show-status=false' >/dev/null 2>&1 || true
cat "$work/out"
[ -f "$work/passed" ] || exit 1
echo "sheaf service works under this systemd"
