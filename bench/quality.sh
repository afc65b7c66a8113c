#!/bin/sh
# Measures the default ranking on judged collections and prints the tables of doc/quality.md
# and doc/languages.md.
#
#   sh bench/quality.sh DATA OUT
#
# DATA is a folder of judged collections, or several with spaces between. lab/bench/quality/sets.go
# says how they are listed. OUT gets the programs, one JSON file for each collection and
# report.md. Its folder "across" gets collections with questions in one language and texts in
# another: they are made of collections that have the same judgements as NAME/en beside them. The
# script does not repeat what OUT already has: remove a file to make it again.
#
#   SPLIT=held             only the collections of this split: dev, held or all (dev)
#   OLD=PROGRAM            compare with the default of an older program
#   CONFIDENCE='NAME NAME' also judge confidence on these collections, each by a fit of the others
#   TRANSFORMER=FOLDER     also fetch a transformer into FOLDER and compare it with the built-in model
set -eu
[ $# = 2 ] || { sed -n '5s/^# *//p' "$0" >&2; exit 2; }
data=$1
split=${SPLIT:-dev}
mkdir -p "$2/sets" "$2/old"
out=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")/.." && pwd)
sheaf=$out/sheaf
[ -x "$sheaf" ] || (cd "$here" && go build -o "$sheaf" ./cmd/sheaf)
(cd "$here/lab/bench" && go build -o "$out/quality" ./quality)
export XDG_DATA_HOME="${XDG_DATA_HOME:-$out/data}" XDG_CACHE_HOME="${XDG_CACHE_HOME:-$out/cache}"
export XDG_CONFIG_HOME="${XDG_CONFIG_HOME:-$out/config}"
profiles=$here/lab/bench/profiles
tab=$(printf '\t')

# keep FILE COMMAND...: writes what the command prints to FILE, unless FILE is there.
keep() {
	file=$1
	shift
	[ ! -f "$file" ] || return 0
	echo "$(date +%H:%M:%S) ${file#"$out/"}" >&2
	"$@" >"$file.part" </dev/null
	mv "$file.part" "$file"
}

# evaluate PATH JUDGEMENTS FLAGS...
evaluate() {
	path=$1
	judgements=$2
	shift 2
	"$sheaf" eval "$path" --plain --json --split "$judgements" --by class --metrics nDCG@10,nDCG@5,R@10,R@100 "$@" \
		--profile "sheaf,$profiles/words.yaml,$profiles/meaning.yaml,$profiles/bm25.yaml"
}

# shellcheck disable=SC2086
"$out/quality" across "$out/across" "$split" $data
data="$data $out/across"
# shellcheck disable=SC2086
"$out/quality" sets "$split" $data >"$out/sets.tsv"
while IFS=$tab read -r key path judgements; do
	set --
	if [ -n "${OLD:-}" ]; then
		keep "$out/old/$key.json" "$OLD" eval "$path" --plain --json --split "$judgements" --save-runs "$out/old/$key"
		set -- --run "$out/old/$key"/*.run
	fi
	keep "$out/sets/$key.json" evaluate "$path" "$judgements" "$@"
done <"$out/sets.tsv"

if [ -n "${CONFIDENCE:-}" ]; then
	set --
	for name in $CONFIDENCE; do
		path=$(awk -F "$tab" -v name="$name" '$1 == name { print $2 }' "$out/sets.tsv")
		set -- "$@" "${path:?no set is called $name}"
	done
	keep "$out/confidence.json" "$sheaf" eval confidence --json "$@"
fi

# shellcheck disable=SC2086
"$out/quality" tables "$out" "$split" $data >"$out/report.md"

if [ -n "${TRANSFORMER:-}" ]; then
	url=$(sh "$here/scripts/servers/transformer.sh" start "$TRANSFORMER")
	trap 'sh "$here/scripts/servers/transformer.sh" stop "$TRANSFORMER"' EXIT
	export SHEAF_EMBEDDER_URL="$url" SHEAF_EMBEDDER_MODEL=all-MiniLM-L6-v2
	mkdir -p "$out/transformer"
	grep -E "^(adi|product-docs-chunks)$tab" "$out/sets.tsv" >"$out/transformer/sets.tsv"
	while IFS=$tab read -r key path judgements; do
		keep "$out/transformer/$key.md" "$sheaf" eval "$path" --plain --markdown --metrics nDCG@10 \
			--profile "sheaf,$profiles/meaning.yaml"
		cat "$out/transformer/$key.md"
	done <"$out/transformer/sets.tsv" | sed '1i\
\
## A transformer\
' >>"$out/report.md"
fi
cat "$out/report.md"
