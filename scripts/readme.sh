#!/bin/sh
# Makes the pictures and the shown output of README.md again, with the real program, from examples/notes.
#
#   sh scripts/readme.sh            pictures and output; needs Go and Chromium
#   sh scripts/readme.sh FOLDER     also measures FOLDER for the line of numbers (some minutes; run nothing else)
set -eu
cd "$(dirname "$0")/.."
chromium=${CHROMIUM:-$(command -v chromium || command -v google-chrome || true)}
if [ -z "$chromium" ]; then
	echo "Chromium is needed for the pictures: install it, or name it in CHROMIUM" >&2
	exit 1
fi
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
GOCACHE=$(go env GOCACHE) # the script changes XDG_CACHE_HOME, and Go would then build everything again
export GOCACHE XDG_DATA_HOME="$work/data" XDG_CACHE_HOME="$work/cache" XDG_CONFIG_HOME="$work/config"

go build -o "$work/sheaf" ./cmd/sheaf
touch "$work/log"
"$work/sheaf" serve --in examples/notes --addr 127.0.0.1:0 >"$work/log" 2>&1 &
server=$!
address=
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	address=$(sed -n 's/^listening on //p' "$work/log")
	[ -z "$address" ] || break
	sleep 0.5
done
if [ -z "$address" ]; then
	echo "the server did not start:" >&2
	cat "$work/log" >&2
	exit 1
fi
# The server answers other requests before its first index is ready.
curl --silent --retry 20 --retry-all-errors --retry-delay 1 --fail "$address/readyz" >/dev/null

# picture NAME SIZE ADDRESS makes NAME-light.png and NAME-dark.png.
picture() {
	for theme in light dark; do
		scheme=1
		[ "$theme" = light ] || scheme=0
		"$chromium" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=6000 \
			--blink-settings=preferredColorScheme=$scheme --user-data-dir="$work/browser" \
			--window-size="$2" --screenshot="doc/pictures/$1-$theme.png" "$3" >/dev/null 2>&1
		echo "doc/pictures/$1-$theme.png"
	done
}
mkdir -p doc/pictures
picture search 1000,560 "$address/?q=how+do+I+undo+a+commit"
picture search-phone 500,640 "$address/?q=how+do+I+undo+a+commit"
picture lab 1400,590 "$address/?view=lab&q=how+do+I+undo+a+commit"

go test ./cmd/sheaf -run '^TestReadmeOutput$' -update-readme
echo "README.md"

if [ $# -gt 0 ]; then
	sh bench/folder.sh "$1"
	"$work/sheaf" bench --peers tantivy --tasks words,hybrid --chunks 100000,1000000 "$1"
	ls -l "$work/sheaf"
	echo "Put the numbers that differ into the line of numbers in README.md."
fi
