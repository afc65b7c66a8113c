#!/bin/sh
# Makes the other files of every release archive: manual pages, completions, documents, licenses.
#
#   sh scripts/share.sh FOLDER    FOLDER holds the programs sheaf and release. The script adds share/, and debian/ with
#                                 the same files in the layout of /usr/share
set -eu
program=$1/sheaf share=$1/share debian=$1/debian
mkdir -p "$share/completions" "$debian/doc/sheaf"
"$program" man "$share/man/man1"
"$program" completion bash >"$share/completions/sheaf.bash"
"$program" completion zsh >"$share/completions/_sheaf"
"$program" completion fish >"$share/completions/sheaf.fish"
"$program" completion powershell >"$share/completions/sheaf.ps1"
cp -R LICENSE README.md CHANGELOG.md SECURITY.md doc "$share/"
{
	cat model/static/english/NOTICE.md
	echo
	cat model/static/builtin/NOTICE.md
	echo
	"$1/release" notice
} >"$share/NOTICE.md"

cp -R "$share/man" "$debian/man"
gzip -9n "$debian"/man/man1/*
cp -R README.md SECURITY.md doc "$share/NOTICE.md" "$debian/doc/sheaf/"
gzip -9nc CHANGELOG.md >"$debian/doc/sheaf/changelog.gz"
for shell in bash-completion/completions/sheaf:sheaf.bash zsh/vendor-completions/_sheaf:_sheaf \
	fish/vendor_completions.d/sheaf.fish:sheaf.fish; do
	mkdir -p "$debian/$(dirname "${shell%:*}")"
	cp "$share/completions/${shell#*:}" "$debian/${shell%:*}"
done
cat >"$debian/doc/sheaf/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: sheaf

Files: *
Copyright: $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y 2>/dev/null || date -u -r "$SOURCE_DATE_EPOCH" +%Y) the Sheaf authors
License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.
 What is linked into the program, and under which licenses, is in NOTICE.md
 beside this file.
END
