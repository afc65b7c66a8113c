#!/bin/sh
# The tables of doc/quality.md, all of them, into a folder.
#
#   sh bench/quality.sh DATA OUT
#
# DATA holds judged collections in BEIR layout; those that are not there are left
# out. OUT gets the program, one file a table (and a row, where a table is made of
# folders) and report.md, which is all of them. What is there is not made again, so
# a run that was stopped goes on where it was: remove a file to make it again, and
# OUT for another program. What is being made is told on standard error.
#
#   NOTES='FOLDER FOLDER'  folders of documents without judgements, for confidence,
#                          self-evaluation and tuning; copied first
#   TABLES='parts own'     makes these only; of: parts coverage others languages
#                          confidence average own transformer
#   TRANSFORMER=FOLDER     a transformer is fetched into it, started and compared
set -eu
[ $# = 2 ] || { sed -n '4s/^# *//p' "$0" >&2; exit 2; }
data=$1
mkdir -p "$2/rows" "$2/notes"
out=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")/.." && pwd)
sheaf=$out/sheaf
[ -x "$sheaf" ] || (cd "$here" && go build -o "$sheaf" ./cmd/sheaf)
export XDG_DATA_HOME="$out/data" XDG_CACHE_HOME="$out/cache" XDG_CONFIG_HOME="$out/config"
english='scifact cranfield medline adi npl-vaswani cosqa product-docs-chunks chunk-spans anchors-react-en anchors-dendron anchors-powershell'
others='xquad/de xquad/zh xquad/ar xquad/th anchors-react-ja cmrc2018-zh'
small='adi product-docs-chunks'

say() { echo "$(date +%H:%M:%S) $*" >&2; }

# keep FILE COMMAND...: what the command prints, made once and only whole. Tables
# keep their rows, so it runs in a shell of its own.
keep() (
	file=$1
	shift
	[ ! -f "$out/$file" ] || exit 0
	say "$file"
	"$@" >"$out/$file.part"
	mv "$out/$file.part" "$out/$file"
)

sets() {
	for name in "$@"; do
		[ ! -d "$data/$name" ] || printf '%s ' "$data/$name"
	done
}

# evaluate 'NAMES' FLAGS...: the sets that are there.
evaluate() {
	# shellcheck disable=SC2046,SC2086
	set -- "$@" -- $(sets $1)
	shift
	"$sheaf" eval --plain --markdown "$@"
}

# field NAME: the first value of that name in JSON on standard input.
field() { tr ',{}' '\n\n\n' | sed -n "s/^ *\"$1\": *//p" | sed -n 1p; }

# value NAME and inside OBJECT NAME: a value of found.json itself, and of an object in
# it. It is JSON in one line, in which these objects hold no others.
value() { sed 's/\(.\){[^{}]*}/\1/g' "$out/found.json" | field "$1"; }
inside() { sed -n "s/.*\"$1\": *\({[^{}]*}\).*/\1/p" "$out/found.json" | field "$2"; }

# folders TABLE: a row for each folder, below what is printed before.
folders() {
	for folder in ${NOTES:-}; do
		name=$(basename "$folder")
		[ -d "$out/notes/$name" ] || cp -R "$folder" "$out/notes/$name"
		keep "rows/$1-$name.md" "row_$1" "$out/notes/$name" "$(echo "$name" | tr + /)"
		cat "$out/rows/$1-$name.md"
	done
}

row_confidence() {
	if ! "$sheaf" eval confidence "$1" --plot "$out/calibration-$(basename "$1").svg" --json >"$out/found.json"; then
		echo "| $2 | too few questions | | | | | | |"
		return
	fi
	printf '| %s | %s | %s | %s | %.3f | %.3f | %s of %s | %s of %s |\n' "$2" "$(value queries)" "$(value impossible)" "$(value right)" "$(value error)" "$(value brier)" \
		"$(inside found answerable)" "$(inside found queries)" "$(inside foreign answerable)" "$(inside foreign queries)"
}

row_own() {
	self=$("$sheaf" eval self "$1" --queries 150 | tail -1)
	tune=$("$sheaf" tune "$1" --queries 100 --param meaning=0.1,0.22,0.4 --param whole=0,0.2,0.4 --param support=0,0.05,0.2 |
		sed -n '/^better: \|^no significant\|^the defaults/p')
	printf '| %s | %s | %s |\n' "$2" "$self" "$tune"
}

table_parts() {
	evaluate "$english" --metrics nDCG@10,R@100 --by class --param meaning=0,0.22,1
}
table_coverage() {
	evaluate "$english anchors-react-ja" --metrics nDCG@10 --by class --param coverage=0.4,0.2,0
}
table_others() {
	evaluate "$english" --metrics nDCG@10 --param similarity=0.3,0.2 --param whole=0.4,0
}
table_languages() {
	evaluate "$others" --metrics nDCG@10,R@100 --param meaning=0,0.22
}
table_confidence() {
	printf '| folder | questions | without an answer | right | calibration error | Brier score | answerable, of found | of other subjects |\n|---|---|---|---|---|---|---|---|\n'
	folders confidence
}
table_average() {
	set --
	for folder in ${NOTES:-}; do
		name=$(basename "$folder")
		[ -d "$out/notes/$name" ] || cp -R "$folder" "$out/notes/$name"
		set -- "$@" "$out/notes/$name"
	done
	[ $# -lt 2 ] || "$sheaf" eval confidence "$@"
}
table_own() {
	printf '| folder | `sheaf eval self` | `sheaf tune` |\n|---|---|---|\n'
	folders own
}
table_transformer() {
	[ -n "${TRANSFORMER:-}" ] || return 0
	echo 'Built in:'
	echo
	evaluate "$small" --metrics nDCG@10 --param meaning=0.22,1
	url=$(sh "$here/scripts/servers/transformer.sh" start "$TRANSFORMER")
	trap 'sh "$here/scripts/servers/transformer.sh" stop "$TRANSFORMER"' EXIT
	echo 'Transformer:'
	echo
	SHEAF_EMBEDDER_URL=$url SHEAF_EMBEDDER_MODEL=all-MiniLM-L6-v2 evaluate "$small" --metrics nDCG@10 --param meaning=0.22,1
}

for table in ${TABLES:-parts coverage others languages confidence average own transformer}; do
	keep "$table.md" "table_$table"
done
for table in parts coverage others languages confidence average own transformer; do
	[ ! -s "$out/$table.md" ] || { printf '## %s\n\n' "$table"; cat "$out/$table.md"; echo; }
done | tee "$out/report.md"
