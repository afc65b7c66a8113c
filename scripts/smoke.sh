#!/bin/sh
# Runs a program of a release, under qemu if it is for another processor. The program must print its version, index a
# folder and find a passage. If this machine cannot run the program, the script prints SKIPPED.
#
#   sh scripts/smoke.sh OS ARCH PROGRAM VERSION
set -eu
os=$1 arch=$2 program=$3 version=$4
if [ "$os/$arch" = "$(go env GOHOSTOS)/$(go env GOHOSTARCH)" ]; then
	run=
else
	cpu=$(echo "$arch" | sed 's/arm64/aarch64/; s/amd64/x86_64/')
	run=$(command -v "qemu-$cpu-static" || command -v "qemu-$cpu" || true)
	if [ "$os" != linux ] || [ -z "$run" ]; then
		echo "smoke $os/$arch SKIPPED: this machine cannot run it"
		exit
	fi
fi
HOME=$(mktemp -d)
trap 'rm -rf "$HOME"' EXIT
export HOME XDG_DATA_HOME="$HOME/data" XDG_CACHE_HOME="$HOME/cache" XDG_CONFIG_HOME="$HOME/config"
mkdir "$HOME/notes"
printf '# Undo a commit\n\nUse reset.\n' >"$HOME/notes/git.md"
printf '# Tea\n\nSteep for three minutes.\n' >"$HOME/notes/tea.md"

# says TEXT COMMAND: fails unless the output of the program contains TEXT.
says() {
	want=$1
	shift
	out=$($run "$program" "$@" 2>&1) || { echo "smoke $os/$arch: sheaf $*: $out"; exit 1; }
	case $out in
	*"$want"*) ;;
	*) echo "smoke $os/$arch: sheaf $*: no $want in $out"; exit 1 ;;
	esac
}
says "sheaf $version" version
says "" index "$HOME/notes"
says '"path":"git.md"' search --in "$HOME/notes" --json "how do I undo a commit"
says '"documents":2' status --in "$HOME/notes" --json
echo "smoke $os/$arch passed"
