#!/bin/sh
# Builds, checks and tests everything. Run it from anywhere.
#
#   sh test.sh           what every change must pass
#   sh test.sh --long    the same with long histories, 10 minutes of fuzzing a target, and a release built twice
#
# The script needs Go and git. On Debian it installs other missing programs if this
# user may install packages: a C compiler for the race detector, Chromium for the
# web page, zsh and fish for completions. Linters are Go modules, pinned in go.mod.
# Tests of server stores need real servers: scripts/servers installs and starts
# them. The script names each server that it cannot start.
set -eu
cd "$(dirname "$0")"

fuzz=${SHEAF_FUZZTIME:-2s} long='' patience=20m
if [ "${1:-}" = --long ]; then
	fuzz=10m long=1 patience=24h
fi

# Without the paths of this folder in builds, Go uses the builds of another checkout again.
export GOFLAGS="${GOFLAGS:-} -trimpath"

say() { printf '\n== %s\n' "$1"; }

# room FOLDER WHAT MEGABYTES VARIABLE fails if FOLDER has less free space: tests fail without a clear reason on a full
# disk.
room() {
	mkdir -p "$1"
	free=$(df -Pk "$1" | awk 'NR == 2 { print int($4 / 1024) }')
	if [ "$free" -lt "$3" ]; then
		echo "only $free MB are free in $1, where $2: $3 MB are needed. Make room ('go clean -cache' removes earlier builds), or name another folder in $4"
		exit 1
	fi
}
room "$(go env GOCACHE)" "Go keeps builds" 8000 GOCACHE
room "${TMPDIR:-/tmp}" "tests and servers write" 5000 TMPDIR

if ! command -v gcc >/dev/null 2>&1 && ! command -v clang >/dev/null 2>&1; then
	say "installing a C compiler for the race detector"
	apt-get update -qq && apt-get install -y -qq gcc libc6-dev
fi

if ! command -v chromium >/dev/null 2>&1 && ! command -v google-chrome >/dev/null 2>&1; then
	say "installing chromium for the tests of the web page"
	if ! { apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null 2>&1; then
		echo "chromium cannot be installed: the tests of the page in door/web are skipped"
	fi
fi

if ! command -v zsh >/dev/null 2>&1 || ! command -v fish >/dev/null 2>&1; then
	say "installing zsh and fish for a test of completions"
	if ! { apt-get update -qq && apt-get install -y -qq zsh fish; } >/dev/null 2>&1; then
		echo "they cannot be installed: the script completion_shells of cmd/sheaf skips missing shells"
	fi
fi

say "go build"
go build ./...

say "gofmt"
unformatted=$(gofmt -l $(git ls-files '*.go'))
if [ -n "$unformatted" ]; then
	echo "not formatted (run gofmt -w on them):"
	echo "$unformatted"
	exit 1
fi

say "go vet"
go vet ./...

say "staticcheck"
go tool staticcheck ./...

say "other platforms build" # without optimization, because nothing runs these programs
for target in linux/arm64 darwin/arm64 windows/amd64; do
	echo "$target"
	GOOS=${target%/*} GOARCH=${target#*/} CGO_ENABLED=0 go build -gcflags='all=-N -l' -o /dev/null ./cmd/sheaf
done
echo "linux/386, with all tests"
GOOS=linux GOARCH=386 CGO_ENABLED=0 go vet -gcflags='all=-N -l' ./...

if [ "${1:-}" = --long ]; then
	say "two builds of a release are the same bytes"
	sh release.sh --check
fi

# start NAME VARIABLE SECONDS starts a server for tests and puts its address into
# VARIABLE. If VARIABLE already has an address, start does nothing. If the server
# does not start in time, start says so, and the tests of the server are skipped.
servers=${SHEAF_SERVERS:-${TMPDIR:-/tmp}/sheaf-servers-$(id -u)}
started=
start() {
	eval "address=\${$2:-}"
	if [ -z "$address" ]; then
		if address=$(timeout "$3" scripts/servers/"$1".sh start "$servers/$1" 2>/tmp/sheaf-server.$$); then
			found || started="$started $1"
			export "$2=$address"
		else
			tail -3 /tmp/sheaf-server.$$
			echo "$1: SKIPPED, no server within $3 s; its tests do not run"
			found || scripts/servers/"$1".sh stop "$servers/$1" >/dev/null 2>&1 || true
			address=
		fi
		rm -f /tmp/sheaf-server.$$
	fi
	[ -z "$address" ] || echo "$1: $address"
}
# found reports whether the server already ran. This script does not stop such a server.
found() { grep -q 'found its server' /tmp/sheaf-server.$$; }
stop_servers() { for name in $started; do scripts/servers/"$name".sh stop "$servers/$name" >/dev/null 2>&1 || true; done; }
trap stop_servers EXIT

say "servers for the tests of stores and models"
start postgres SHEAF_TEST_POSTGRES 120
start transformer SHEAF_TEST_TRANSFORMER 180
start opensearch SHEAF_TEST_OPENSEARCH 240
start elasticsearch SHEAF_TEST_ELASTICSEARCH 300
if [ -x "$servers/weaviate/bin/weaviate-server" ]; then
	start weaviate SHEAF_TEST_WEAVIATE 60
else
	echo "weaviate: SKIPPED, it is not built (some minutes): scripts/servers/weaviate.sh start $servers/weaviate"
fi

if SHEAF_TEST_VESPA_CLASSES=${SHEAF_TEST_VESPA_CLASSES:-$(timeout 240 scripts/vespa/build.sh "$servers/vespa" 2>/tmp/sheaf-server.$$)} && [ -n "$SHEAF_TEST_VESPA_CLASSES" ]; then
	export SHEAF_TEST_VESPA_CLASSES
	echo "vespa: its Java classes check the requests; no server runs"
else
	tail -3 /tmp/sheaf-server.$$
	unset SHEAF_TEST_VESPA_CLASSES
	echo "vespa: SKIPPED, its Java classes were not built within 240 s (they need mvn and Java 17 or newer)"
fi
rm -f /tmp/sheaf-server.$$

# The race detector makes tests up to ten times slower. With it, tests run in their
# short form; the next phase runs these tests in full, without it. That phase also
# runs the packages that start no goroutines, in which nothing can race. Goroutines of
# other packages call search/onyx and store/weaviate.
starts='^[^/"]*\bgo (func|[a-zA-Z.]+)\(|\.Go\(|errgroup\.|\.Parallel\(|Together\(|iter\.Pull'
racing=$(git grep -lE "$starts" -- '*.go' ':!lab' | xargs -n 1 dirname | sort -u | sed 's|^|./|')
racing="$racing
./search/onyx
./store/weaviate"
plain=$(go list -f '{{.Dir}}' ./... | sed "s|^$PWD|.|; s|^\.\$|./.|" | grep -vxF "$racing")
say "tests, with the race detector"
# The slowest packages and packages that wait for servers begin: none then runs alone at the end.
CGO_ENABLED=1 go test -vet=off -race -short -timeout 20m ./store/opensearch ./cmd/sheaf ./store/weaviate $racing

say "tests without the race detector: those that were short with it, and packages without goroutines"
whole=$(git grep -lE "testing\.Short\(\)|must\.Whole\(${long:+|SHEAF_TEST_LONG}" -- '*_test.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|')
SHEAF_TEST_LONG=$long go test -vet=off -timeout "$patience" ./door/web ./cmd/sheaf $whole $plain

say "fuzzing, $fuzz a target, one target a processor"
git grep -o '^func Fuzz[A-Za-z0-9]*' -- '*_test.go' |
	tr '\n' '\0' | xargs -0 -n 1 -P "$(getconf _NPROCESSORS_ONLN)" sh scripts/fuzz.sh "$fuzz"

say "all passed"
