#!/bin/sh
# Measures all that is promised of a folder of Markdown, each figure beside its bound.
#
#   sh bench/folder.sh FOLDER
#
# First cli.sh: the command against ripgrep. Then how fast words are indexed, the
# most memory of a first search (without pages of mapped files, which the system
# takes back; on Linux only), what words and vectors take on disk, and how fast
# documents are cut. The folder is copied first: nothing is written to it. Nothing
# else should run meanwhile. RUNS and COLD_RUNS are those of cli.sh. It needs Go,
# awk and date with nanoseconds.
set -eu

folder=${1:?usage: sh bench/folder.sh FOLDER}
repository=$(cd "$(dirname "$0")/.." && pwd)
sh "$repository/bench/cli.sh" "$folder"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
(cd "$repository" && go build -o "$work/sheaf" ./cmd/sheaf)
cp -rp "$folder" "$work/notes"
export XDG_CONFIG_HOME="$work/config" XDG_STATE_HOME="$work/state"

# number NAME: the number of that member of the JSON on standard input, the first.
number() { tr ',{' '\n\n' | sed -n "s/^\"$1\":\([0-9.]*\).*/\1/p" | head -1; }

show() { printf '%-34s %10s   %s\n' "$1" "$2" "$3"; }

words=$(XDG_DATA_HOME="$work/words" SHEAF_EMBEDDER_USE=none "$work/sheaf" index --json "$work/notes" 2>/dev/null)
show "words indexed" "$(echo "$words" | awk -v b="$(echo "$words" | number bytes)" -v t="$(echo "$words" | number took_ms)" 'END { printf "%.1f MB/s", b / t / 1000 }')" "20 with two cores"

export XDG_DATA_HOME="$work/data"
"$work/sheaf" search --in "$work/notes" 'how to install a module' >/dev/null 2>&1 &
pid=$!
peak=0
while anon=$(sed -n 's/^RssAnon:[^0-9]*\([0-9]*\).*/\1/p' /proc/$pid/status 2>/dev/null) && [ -n "$anon" ]; do
	[ "$anon" -le "$peak" ] || peak=$anon
	sleep 0.01
done
wait $pid
status=$("$work/sheaf" status --in "$work/notes" --json)
input=$(echo "$status" | number source_bytes)
chunks=$(echo "$status" | number chunks)
if [ "$peak" -gt 0 ]; then
	show "memory of a first search" "$(awk -v p="$peak" 'BEGIN { printf "%.0f MB", p / 1024 }')" \
		"$(awk -v i="$input" 'BEGIN { printf "%.0f: 100 MB over the input for 100,000 chunks", 100 + i / 1e6 }'), $chunks here"
fi
part() { echo "$status" | number "$1"; }
show "words on disk over the input" "$(awk -v b=$(($(part postings) + $(part positions) + $(part terms) + $(part lengths))) -v i="$input" 'BEGIN { printf "%.3f", b / i }')" 0.6
show "catalog over the input" "$(awk -v b="$(part catalog)" -v i="$input" 'BEGIN { printf "%.3f", b / i }')" "no text is stored twice"
vectors=$(echo "$status" | tr ',' '\n' | sed -n 's/^"vectors":\([0-9]*\).*/\1/p' | tail -1)
show "bytes of a vector" "$(awk -v b=$(($(part codes) + $(part scales) + $(part owners) + $(echo "$status" | sed -n 's/.*"parts":{[^}]*"vectors":\([0-9]*\).*/\1/p'))) -v n="$vectors" 'BEGIN { printf "%.0f", b / n }')" 300
cd "$repository"
SHEAF_TEST_DIR="$work/notes" go test -run '^$' -bench 'Chunk/tree' -cpu 1 ./text/chunk |
	awk '/MB\/s/ { for (i = 2; i <= NF; i++) if ($i == "MB/s") printf "%-34s %10s   %s\n", "documents cut, one core", $(i - 1) " MB/s", "150" }'
