#!/bin/sh
# Times the real command against ripgrep on one folder, in one run.
#
#   sh bench/cli.sh FOLDER [QUERY]
#
# prints, for each case, the median and the 99th percentile of process start to
# end, and its ratio to ripgrep's:
#
#   rg           ripgrep counts the query's first word in every file
#   cold         sheaf search without an index
#   warm         sheaf search, nothing changed
#   one changed  sheaf search after one file changed
#   tiered       sheaf search -p tiered, which has no index
#
# The folder is copied first: nothing is written to the original. RUNS (100)
# and COLD_RUNS (5) set how often each case runs. It needs Go, awk and date with
# nanoseconds; rg is left out, and that is said, when it is not installed.
set -eu

folder=${1:?usage: sh bench/cli.sh FOLDER [QUERY]}
query=${2:-how to install a module}
runs=${RUNS:-100}
cold_runs=${COLD_RUNS:-5}
word=${query%% *}

repository=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
[ -d "$folder" ] || { echo "no folder: $folder" >&2; exit 2; }
(cd "$repository" && go build -o "$work/sheaf" ./cmd/sheaf)
cp -rp "$folder" "$work/notes"
export XDG_DATA_HOME="$work/data" XDG_CONFIG_HOME="$work/config" XDG_STATE_HOME="$work/state"
"$work/sheaf" index --in "$work/notes" >/dev/null
first=$("$work/sheaf" ls --in "$work/notes" | head -1) # not one that is ignored
[ -n "$first" ] || { echo "no documents: $folder" >&2; exit 2; }
file=$work/notes/$first
# Files of this moment are read again by every run until they are older.
sleep 3

# measure NAME COUNT BEFORE COMMAND: times the command COUNT times, BEFORE run
# before each time, in milliseconds, into the file NAME.
measure() {
	: >"$work/$1"
	n=0
	while [ "$n" -lt "$2" ]; do
		n=$((n + 1))
		eval "$3"
		start=$(date +%s%N)
		eval "$4" >/dev/null 2>&1 || true
		end=$(date +%s%N)
		echo $(((end - start) / 1000)) >>"$work/$1"
	done
}

# percentile NAME P: milliseconds.
percentile() {
	sort -n "$work/$1" | awk -v p="$2" '{ v[NR] = $1 } END { i = int((NR * p + 99) / 100); if (i < 1) i = 1; printf "%.1f", v[i] / 1000 }'
}

echo "$(find "$work/notes" -type f | wc -l) files, $(du -sh "$work/notes" | cut -f1), query: $query"
have_rg=false
if command -v rg >/dev/null 2>&1; then
	have_rg=true
	measure rg "$cold_runs" : "rg -c -i \"$word\" \"$work/notes\""
else
	echo "ripgrep (rg) is not installed: there is nothing to compare with"
fi
search="\"$work/sheaf\" search --in \"$work/notes\" \"$query\""
measure cold "$cold_runs" 'rm -rf "$work/data"' "$search"
measure warm "$runs" : "$search"
measure changed "$runs" 'echo "More $n." >>"$file"' "$search"
measure tiered "$cold_runs" : "$search -p tiered"
measure start "$runs" : "\"$work/sheaf\" version"

show() {
	ratio=
	if [ "$have_rg" = true ]; then
		ratio=$(awk -v a="$(percentile "$2" 50)" -v b="$(percentile rg 50)" 'BEGIN { if (b > 0) printf "%8.1f x rg", a / b }')
	fi
	printf '%-12s %10s ms %10s ms %s\n' "$1" "$(percentile "$2" 50)" "$(percentile "$2" 99)" "$ratio"
}
printf '%-12s %13s %13s\n' case median p99
if [ "$have_rg" = true ]; then
	show rg rg
	awk -v c="$(percentile cold 50)" -v r="$(percentile rg 50)" 'BEGIN { printf "limit for cold: 3 x rg + 3 s = %.1f ms: %s\n", 3 * r + 3000, (c <= 3 * r + 3000) ? "held" : "not held" }'
fi
show cold cold
show warm warm
show "one changed" changed
show tiered tiered
show "start alone" start
