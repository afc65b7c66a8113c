#!/bin/sh
# Measures all that is promised of fusion, of stages and of profile tiered, each
# figure beside its bound.
#
#   sh bench/ranking.sh [FOLDER]
#
# Times are of made notes; with FOLDER also the most memory of a search without an
# index in its first 1,000 Markdown files (without pages of mapped files; on Linux
# only). Where ripgrep is installed it counts the same words in the same files in
# the same run. Nothing else should run meanwhile. TIERED_RUNS and STAGE_RUNS are
# how often each is measured. It needs Go and awk.
set -eu

folder=${1:-}
[ -z "$folder" ] || folder=$(cd "$folder" && pwd)
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

printf '%-44s %12s   %s\n' "" measured bound

# The fastest of some short runs: other work on the machine makes them longer only.
go test ./rank -run '^$' -bench 'Fuse$' -cpu 1 -benchmem -benchtime 20x -count 60 | awk '
/^Benchmark/ {
	for (i = 3; i < NF; i += 2) v[$(i + 1)] = $i
	if (!($1 in fastest)) { order[++n] = $1; fastest[$1] = v["ns/op"] }
	if (v["ns/op"] < fastest[$1]) fastest[$1] = v["ns/op"]
	memory[$1] = v["B/op"]
}
END {
	for (i = 1; i <= n; i++) {
		split(order[i], part, "/")
		what = part[2] ~ /RRF/ ? "reciprocal ranks" : "scores"
		printf "%-44s %9.1f us   %d us\n", "fusion of " part[3] " by " what, fastest[order[i]] / 1000, part[3] == 200 ? 50 : 250
		if (part[3] == 1000) printf "%-44s %9.2f MB   1 MB\n", "its memory", memory[order[i]] / 1e6
	}
}'

go test ./search -run '^$' -bench ShareOfStages -cpu 1 -benchtime "${STAGE_RUNS:-100x}" | awk '
/^Benchmark/ {
	split($1, part, "/")
	for (i = 3; i < NF; i += 2) v[$(i + 1)] = $i
	printf "%-44s %10.1f %%   10 %% of %.1f ms, %d chunks\n", "stages of " part[2], v["%stages"], v["ms-first"], v["chunks"]
	printf "%-44s %10.1f %%\n", "  planning and look-ups around them", v["%around"]
	if (v["%again"] > 0) printf "%-44s %10.1f %%\n", "  what they ask the store for", v["%again"]
}'

go test ./search/scan -run '^$' -bench Tiered -benchtime "${TIERED_RUNS:-40x}" | awk '
/^Benchmark/ {
	split($1, part, "/")
	small = part[2] == 1000
	known = part[3] ~ /true/
	for (i = 3; i < NF; i += 2) v[$(i + 1)] = $i
	name = "tiered, " part[2] " files" (known ? ", sections known" : "")
	if (small && !known) {
		printf "%-44s %9.1f ms   50 ms\n", name ": list and scan", v["list-ms"] + v["scan-ms"]
		printf "%-44s %9.1f ms   50 ms\n", "  cut 500 candidates", v["chunk-ms"]
		printf "%-44s %9.1f ms   100 ms, %d sections in %.1f ms\n", "  index of 1,000 sections", v["index-ms"] * 1000 / v["chunks"], v["chunks"], v["index-ms"]
	}
	if (small) printf "%-44s %9.1f ms   150 ms\n", (known ? name ": " : "  ") "query, p95", v["p95-ms"]
	if (!("rg-ms" in v)) next
	if (small) printf "%-44s %10.1f x   median of %.1f ms, ripgrep %.1f ms\n", "  query against ripgrep", v["query-ms"] / v["rg-ms"], v["query-ms"], v["rg-ms"]
	else printf "%-44s %10.1f x   3 x, median of %.1f ms, ripgrep %.1f ms\n", name ", against ripgrep", v["query-ms"] / v["rg-ms"], v["query-ms"], v["rg-ms"]
}'

[ -n "$folder" ] || exit 0
go build -o "$work/sheaf" ./cmd/sheaf
mkdir "$work/notes"
(cd "$folder" && find . -name '*.md' -type f | LC_ALL=C sort | head -1000 | tar -cf - -T -) | tar -xf - -C "$work/notes"
export XDG_CONFIG_HOME="$work/config" XDG_STATE_HOME="$work/state" XDG_DATA_HOME="$work/data"
peak=0
for query in 'how to install a module' 'install' 'what is new in the latest version'; do
	"$work/sheaf" search -p tiered --in "$work/notes" "$query" >/dev/null 2>&1 &
	pid=$!
	while anon=$(sed -n 's/^RssAnon:[^0-9]*\([0-9]*\).*/\1/p' /proc/$pid/status 2>/dev/null) && [ -n "$anon" ]; do
		[ "$anon" -le "$peak" ] || peak=$anon
		sleep 0.005
	done
	wait $pid || [ $? -eq 1 ]
done
files=$(find "$work/notes" -name '*.md' | wc -l)
[ "$peak" -eq 0 ] || printf '%-44s %9.1f MB   100 MB, %d files\n' "tiered, memory of the command" "$(awk -v p="$peak" 'BEGIN { print p / 1000 }')" "$files"
