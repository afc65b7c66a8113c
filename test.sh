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

# begin NAME VARIABLE SECONDS COMMAND... runs COMMAND, which starts a server for tests and prints its address. If
# VARIABLE already has an address, begin does nothing.
servers=${SHEAF_SERVERS:-${TMPDIR:-/tmp}/sheaf-servers-$(id -u)}
begun=$(mktemp -d)
begin() {
	eval "address=\${$2:-}"
	[ -z "$address" ] || return 0
	name=$1 seconds=$3
	shift 3
	timeout "$seconds" "$@" >"$begun/$name" 2>"$begun/$name.log" || : >"$begun/$name"
}
# started NAME VARIABLE puts the address of the server into VARIABLE. If the server did not start, started says so, and
# the tests of the server are skipped.
started() {
	if [ -s "$begun/$1" ]; then
		export "$2=$(cat "$begun/$1")"
	elif [ -f "$begun/$1" ]; then
		tail -3 "$begun/$1.log"
		echo "$1: SKIPPED, it did not start in time; its tests do not run"
	fi
	eval "address=\${$2:-}"
	[ -z "$address" ] || echo "$1: ${address%% *}"
}
# stop_servers stops the servers that this script started.
stop_servers() {
	wait
	for log in "$begun"/*.log; do
		name=$(basename "$log" .log)
		[ ! -x scripts/servers/"$name".sh ] || grep -q 'found its server' "$log" ||
			scripts/servers/"$name".sh stop "$servers/$name" >/dev/null 2>&1 || true
	done
	rm -rf "$begun"
}
trap stop_servers EXIT

# Tests write thousands of small files. In memory they need not wait for the disk.
if [ -z "${TMPDIR:-}" ] &&
	awk '/MemAvailable/ { enough = $2 >= 16e6 } END { exit !enough }' /proc/meminfo 2>/dev/null &&
	[ "$(df -Pk /dev/shm | awk 'NR == 2 { print $4 }')" -ge 10000000 ] &&
	! mount | grep ' /dev/shm .*noexec' >/dev/null; then
	export TMPDIR=/dev/shm
fi

# Servers start in the background, because they mostly wait for downloads. Maven downloads one after another: all its
# runs share a folder.
{
	begin postgres SHEAF_TEST_POSTGRES 120 scripts/servers/postgres.sh start "$servers/postgres"
	begin transformer SHEAF_TEST_TRANSFORMER 180 scripts/servers/transformer.sh start "$servers/transformer"
	[ ! -x "$servers/weaviate/bin/weaviate-server" ] ||
		begin weaviate SHEAF_TEST_WEAVIATE 60 scripts/servers/weaviate.sh start "$servers/weaviate"
} &
{
	begin opensearch SHEAF_TEST_OPENSEARCH 240 scripts/servers/opensearch.sh start "$servers/opensearch"
	begin elasticsearch SHEAF_TEST_ELASTICSEARCH 300 scripts/servers/elasticsearch.sh start "$servers/elasticsearch"
	begin vespa SHEAF_TEST_VESPA_CLASSES 240 scripts/vespa/build.sh "$servers/vespa"
} &

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

say "servers for the tests of stores and models"
wait
started postgres SHEAF_TEST_POSTGRES
started transformer SHEAF_TEST_TRANSFORMER
started opensearch SHEAF_TEST_OPENSEARCH
started elasticsearch SHEAF_TEST_ELASTICSEARCH
if [ -x "$servers/weaviate/bin/weaviate-server" ]; then
	started weaviate SHEAF_TEST_WEAVIATE
else
	echo "weaviate: SKIPPED, it is not built (some minutes): scripts/servers/weaviate.sh start $servers/weaviate"
fi
started vespa SHEAF_TEST_VESPA_CLASSES # a Java program that checks requests; no server runs

# The race detector makes tests up to ten times slower. With it, tests run in their
# short form; the next phase runs shorter tests in full, without it. That phase also
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

# Of the packages above, only tests that were shorter run again. Packages with memory outside the heap run all tests
# again, because the race detector moves this memory to the heap.
say "tests without the race detector: those that were short with it, and packages without goroutines"
short="testing[.]Short[(][)]|must[.]Whole[(]|rapid[.]Check${long:+|SHEAF_TEST_LONG}"
outside=$(git grep -lE 'internal/offheap"' -- 'index/*.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|')
whole=$(git grep -lE "$short" -- '*_test.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|' |
	grep -xF "$racing" | grep -vxF "$outside")
shortened=$(for folder in $whole; do
	awk -v "short=$short" -f scripts/shortened.awk "$folder"/*_test.go
done | sort -u | tr '\n' '|')
SHEAF_TEST_LONG=$long go test -vet=off -timeout "$patience" $outside $plain
SHEAF_TEST_LONG=$long go test -vet=off -timeout "$patience" -run "^(${shortened%|})\$" ./door/web ./cmd/sheaf $whole

say "fuzzing, $fuzz a target, one package a processor"
git grep -l '^func Fuzz' -- '*_test.go' | xargs -n 1 dirname | sort -u |
	xargs -n 1 -P "$(getconf _NPROCESSORS_ONLN)" sh scripts/fuzz.sh "$fuzz"

say "all passed"
