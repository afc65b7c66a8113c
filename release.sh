#!/bin/sh
# Builds a release in dist/: programs for six platforms, archives, Debian packages, MCP bundles, bills of
# materials, a Homebrew formula, a container file and checksums. It needs Go and git, and installs goreleaser and
# cyclonedx-gomod into the user's cache (some minutes, once). .goreleaser.yaml lists the contents of a release.
#
#   sh release.sh [VERSION]   builds everything, and tests the programs that this machine can run. VERSION is like
#                             1.2.3. Default: the tag of the commit, or 0.0.0-DATE-COMMIT
#   sh release.sh --check     builds for Linux twice, in two folders, once with an empty cache, and compares the bytes
#
# URL is the address of the archives for the Homebrew formula: URL=https://example.org/sheaf sh release.sh
set -eu
cd "$(dirname "$0")"
tools=${XDG_CACHE_HOME:-$HOME/.cache}/sheaf-release

# The Go settings of the user must not change the bytes. The script keeps only the settings for downloading modules.
for name in GOPROXY GONOPROXY GOSUMDB GONOSUMDB GOPRIVATE GOPATH GOMODCACHE GOCACHE GOTMPDIR GOTOOLCHAIN; do
	export "$name=$(go env $name)"
done
export GOENV=off GOFLAGS= GOEXPERIMENT= GOFIPS140=off GO111MODULE=on GOWORK=off PATH="$tools:$PATH"

# date FORMAT prints the time of the commit.
date() { TZ=UTC git show --no-patch --date="format-local:$1" --format=%cd HEAD; }
COMMIT=$(git rev-parse HEAD) DATE=$(date %Y-%m-%dT%H:%M:%SZ) SOURCE_DATE_EPOCH=$(date %s)
export COMMIT DATE SOURCE_DATE_EPOCH
VERSION=${1:-$(git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null ||
	echo "0.0.0-$(date %Y%m%d%H%M%S)-$(git rev-parse --short=12 HEAD)")}
if [ $# = 0 ] && [ -n "$(git status --porcelain)" ]; then
	VERSION=$VERSION+dirty
fi

echo "$VERSION" | grep -Eq '^--check$|^v?[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.]+)?$' || {
	echo "release.sh: version \"$VERSION\": must look like 1.2.3 or 1.2.3-rc.1, or be --check" >&2
	exit 2
}

echo "installing goreleaser and cyclonedx-gomod into $tools (some minutes the first time)"
GOBIN=$tools go install github.com/goreleaser/goreleaser/v2@v2.14.3
GOBIN=$tools go install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0


if [ "$VERSION" = --check ]; then
	export VERSION=0.0.0 GOOS=linux
	there=$(mktemp -d)
	trap 'chmod -R u+w "$there"; rm -rf "$there"' EXIT
	once() { goreleaser build --clean --single-target --snapshot --skip=post-hooks --output "$there/$1"; }
	once here
	mkdir "$there/copy"
	git ls-files -z --cached --others --exclude-standard | xargs -0 tar -cf - .git | tar -xf - -C "$there/copy"
	(cd "$there/copy" && GOCACHE=$there/cache once there)
	cmp "$there/here" "$there/there"
	echo "two builds in two folders, one with an empty cache, are the same bytes: $(sha256sum <"$there/here")"
	exit
fi
VERSION=${VERSION#v}
export VERSION

rm -rf build
go build -o build/ ./cmd/release ./cmd/sheaf
sh scripts/share.sh build
goreleaser release --clean --snapshot
mv build/*.mcpb dist/

# fill FILE writes a file of deploy/release into dist/, with the values of this release. A module path without a host
# names no home page.
home=$(sed -n 's#^module \(.*\..*/.*\)#https://\1#p' go.mod)
sums=$(sed -n 's/^\([0-9a-f]*\)  sheaf-.*-\([a-z]*-[a-z0-9]*\)\.tar\.gz$/s#@\2@#\1#/p' dist/SHA256SUMS)
fill() {
	sed "${home:+#}/@HOME@/d
		s#@VERSION@#$VERSION#g; s#@COMMIT@#$COMMIT#g; s#@HOME@#$home#g
		s#@URL@#${URL:-file://\#{__dir__\}}#g
		$sums" "deploy/release/$1" >"dist/$1"
}
fill Containerfile
fill sheaf.rb
for arch in amd64 arm64; do
	mkdir -p dist/container/data "dist/container/$arch"
	ln dist/sheaf_linux_"$arch"_*/sheaf "dist/container/$arch/"
done
touch dist/container/data/.keep
echo "sheaf $VERSION, commit $COMMIT, is in dist/"
