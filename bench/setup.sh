#!/bin/sh
# Installs the engines that sheaf bench measures beside Sheaf, into bench/bin:
# Bleve and SQLite (Go), Tantivy and LanceDB (PyPI), Xapian (Debian), Lucene
# (Maven), Weaviate (Go, a server that takes minutes to build: WEAVIATE names a
# built one). What cannot be had is left out, and said.
#
#   sh bench/setup.sh
set -eu
cd "$(dirname "$0")"
mkdir -p bin
here=$(pwd)
peers=$(cd ../lab/bench/peers && pwd)

say() { printf '== %s\n' "$1"; }
without() { printf '== %s is left out: %s\n' "$1" "$2"; }

wrap() { # NAME COMMAND...
	name=$1
	shift
	printf '#!/bin/sh\nexec %s "$@"\n' "$*" >"bin/peer-$name"
	chmod +x "bin/peer-$name"
}

for peer in bleve sqlite; do
	say "$peer"
	go build -C "$peers" -o "$here/bin/peer-$peer" "./$peer" || without "$peer" "it does not build"
done

say "tantivy and lancedb"
if python3 -m venv bin/venv && bin/venv/bin/pip install -q numpy tantivy lancedb; then
	for peer in tantivy lancedb; do
		wrap "$peer" env RUST_LOG=error "'$here/bin/venv/bin/python' '$peers/python/${peer}_peer.py'"
	done
else
	without "tantivy, lancedb" "no Python 3 with venv, or no packages"
fi

say "xapian"
if /usr/bin/python3 -c 'import xapian' 2>/dev/null || { [ "$(id -u)" = 0 ] && apt-get install -y -qq python3-xapian >/dev/null 2>&1; }; then
	wrap xapian "/usr/bin/python3 '$peers/python/xapian_peer.py'"
else
	without xapian "the package python3-xapian is not installed"
fi

say "lucene"
lucene=10.3.1
modules="lucene-core lucene-analysis-common"
java=${JAVA:-java}
if "$java" -version 2>&1 | grep -qE 'version "(2[1-9]|[3-9][0-9])' && command -v mvn >/dev/null 2>&1; then
	mkdir -p bin/lucene
	for m in $modules; do
		[ -f "bin/lucene/$m-$lucene.jar" ] || mvn -q dependency:copy -Dartifact="org.apache.lucene:$m:$lucene" -DoutputDirectory="$here/bin/lucene"
	done
	"${java}c" -cp "bin/lucene/*" -d bin/lucene "$peers/lucene/Lucene.java"
	with="--add-modules jdk.incubator.vector -cp '$here/bin/lucene/*:$here/bin/lucene'"
	wrap lucene "'$java' -Xmx4g $with Lucene" # its analyzer leaves stop words out
	wrap lucene-all "'$java' -Xmx4g -Dwords=all $with Lucene"
else
	without lucene "it wants Java 21 or newer (name it in JAVA) and mvn"
fi

say "weaviate"
weaviate=1.35.2
server=${WEAVIATE:-$here/bin/weaviate-server}
if [ ! -x "$server" ]; then
	GOBIN="$here/bin" GOFLAGS= CGO_ENABLED=0 go install "github.com/weaviate/weaviate/cmd/weaviate-server@v$weaviate" || true
fi
if [ -x "$server" ] && go build -C "$peers" -o "$here/bin/weaviate-client" ./weaviate; then
	wrap weaviate env "WEAVIATE_SERVER='$server'" "WEAVIATE_VERSION=$weaviate" "'$here/bin/weaviate-client'"
else
	without weaviate "it does not build"
fi

say "installed:"
ls bin | sed -n 's/^peer-/  /p'
