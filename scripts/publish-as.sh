#!/bin/sh
# Changes the name of this module to the one that you publish it under, in one commit.
#
#   sh scripts/publish-as.sh MODULE/PATH     for example example.org/you/sheaf
#
# It changes go.mod files, imports, the layering test, and the clone line and the Go commands of the documents. The
# formula and the labels of the container take the name from go.mod when release.sh runs. The script builds everything
# before it commits. If the build fails, the script puts all files back.
set -eu
fail() {
	echo "publish-as: $1" >&2
	exit 2
}
[ $# = 1 ] || fail "give exactly one argument, the module path: sh scripts/publish-as.sh example.org/you/sheaf"
new=$1
echo "$new" | grep -Eq '^[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$' ||
	fail "\"$new\" is not a module path: write a host with a dot, a slash and a path, such as example.org/you/sheaf"
cd "$(dirname "$0")/.."
old=$(sed -n 's/^module //p' go.mod)
[ "$old" != "$new" ] || fail "the module is called $new already"
[ -z "$(git status --porcelain)" ] ||
	fail "there are changes that are not committed: commit or stash them first (git status)"

trap 'git checkout -q -- . && echo "publish-as: all files are as they were" >&2' EXIT
escaped=$(printf '%s' "$old" | sed 's/[.]/\\./g')
git ls-files '*go.mod' | while read -r file; do
	sed "s#^module $escaped\$#module $new#; s#^module $escaped/#module $new/#
		s#^\\([[:space:]]\\)$escaped v#\\1$new v#; s#^require $escaped #require $new #
		s#^replace $escaped #replace $new #" "$file" >"$file.new"
	mv "$file.new" "$file"
done
# Only imports name packages by path.
git ls-files '*.go' | while read -r file; do
	awk -v old="\"$escaped" -v new="\"$new" '
		/^import \(/ { list = 1 }
		list || /^import / { sub(old "\"", new "\""); sub(old "/", new "/") }
		list && /^\)/ { list = 0 }
		{ print }' "$file" >"$file.new"
	cmp -s "$file" "$file.new" && rm "$file.new" || mv "$file.new" "$file"
done
sed "s#^const module = \"$escaped\"#const module = \"$new\"#" internal/lint/layering_test.go >layering.new
mv layering.new internal/lint/layering_test.go
for file in README.md doc/getting-started.md; do
	sed "s|git clone ADDRESS \(.*[^ ]\)  *# ADDRESS: .*|git clone https://$new \1|
		s|git clone https://$escaped |git clone https://$new |" "$file" >"$file.new"
	mv "$file.new" "$file"
done
for file in doc/go-library.md collection/collection.go; do
	sed "s|\"$escaped/collection\"|\"$new/collection\"|; s|go doc $escaped/|go doc $new/|
		s|-require $escaped@v0.0.0 -replace $escaped=|-require $new@v0.0.0 -replace $new=|
		s|is called \`$escaped\`.*go get. cannot fetch it[.]|is called \`$new\`.|
		s|is called \`$escaped\`|is called \`$new\`|" "$file" >"$file.new"
	mv "$file.new" "$file"
done
gofmt -w $(git diff --name-only -- '*.go')
go build ./...
trap - EXIT
git commit -qam "Publish as $new"
echo "The module is called $new now, in one commit. Run sh test.sh before you push it."
