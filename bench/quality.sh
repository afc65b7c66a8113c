#!/bin/sh
# The tables of doc/quality.md, from a folder of judged collections in BEIR layout.
#
#   sh bench/quality.sh DATA [PROFILE...]
#
# Data sets that are not there are left out. Further flags of sheaf eval may stand
# in EVAL, such as EVAL='--param meaning=0,0.3,0.5'. NOTES may name folders of
# documents without judgements, on which confidence, self-evaluation and tuning are
# measured; they are copied first. PLOTS names a folder for the calibration plots.
set -eu
data=$1
shift
profiles=${*:-sheaf}
here=$(cd "$(dirname "$0")/.." && pwd)
binary=$(mktemp -d)
trap 'rm -rf "$binary"' EXIT
(cd "$here" && go build -o "$binary/sheaf" ./cmd/sheaf)

sets() {
	found=
	for name in "$@"; do
		[ -d "$data/$name" ] && found="$found $data/$name"
	done
	echo "$found"
}

evaluate() {
	title=$1
	shift
	[ $# -gt 0 ] || return 0
	printf '## %s\n\n' "$title"
	# shellcheck disable=SC2086
	"$binary/sheaf" eval "$@" --profile "$(echo $profiles | tr ' ' ,)" --metrics nDCG@10,R@100 --by class --markdown ${EVAL:-}
}

# shellcheck disable=SC2046
evaluate English $(sets scifact cranfield medline adi npl-vaswani cosqa product-docs-chunks chunk-spans anchors-react-en anchors-dendron anchors-powershell)
# shellcheck disable=SC2046
evaluate "Other languages" $(sets xquad/de xquad/zh xquad/ar xquad/th anchors-react-ja cmrc2018-zh)

[ -n "${NOTES:-}" ] || exit 0
printf '## Confidence\n\n| folder | questions | without an answer | right | calibration error | Brier score |\n|---|---|---|---|---|---|\n'
for folder in $NOTES; do
	name=$(basename "$folder")
	cp -R "$folder" "$binary/$name"
	XDG_DATA_HOME=$binary/data "$binary/sheaf" eval confidence "$binary/$name" --plot "$binary/$name.svg" --json 2>/dev/null >"$binary/found.json" || {
		echo "| $name | too few questions | | | | |"
		continue
	}
	field() { tr ',{' '\n\n' <"$binary/found.json" | sed -n "s/^ *\"$1\": *//p" | head -1; }
	printf '| %s | %s | %s | %s | %.3f | %.3f |\n' "$name" "$(field queries)" "$(field impossible)" "$(field right)" "$(field error)" "$(field brier)"
	[ -z "${PLOTS:-}" ] || cp "$binary/$name.svg" "$PLOTS/"
done

printf '\n## Your own documents\n\n| folder | `sheaf eval self` | `sheaf tune` |\n|---|---|---|\n'
for folder in $NOTES; do
	name=$(basename "$folder")
	self=$(XDG_DATA_HOME=$binary/data "$binary/sheaf" eval self "$binary/$name" --queries 150 2>/dev/null | tail -1)
	tune=$(XDG_DATA_HOME=$binary/data "$binary/sheaf" tune "$binary/$name" --queries 100 --param meaning=0.1,0.22,0.4 --param whole=0,0.2,0.4 --param support=0,0.05,0.2 2>/dev/null |
		sed -n '/^better: \|^no significant\|^the defaults/p')
	printf '| %s | %s | %s |\n' "$name" "$self" "$tune"
done
