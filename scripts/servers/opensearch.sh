#!/bin/sh
# Starts OpenSearch with its k-NN plug-in for tests, on loopback, and stops it again.
#
#   scripts/servers/opensearch.sh start DIR   prints the address of the server
#   scripts/servers/opensearch.sh stop DIR
#
# Server and plug-in come from Maven Central through mvn, and need Java 21 or newer
# with all locale data (a reduced runtime has no Thai word breaking, and then no
# index can be made). DIR keeps the unpacked server for the next start; what it
# stores is thrown away when it stops. The memory that it takes is HEAP, 512m.
set -eu
version=3.6.0
need=21

here=$(cd "$(dirname "$0")" && pwd)
. "$here/process.sh"
usage() { sed -n '4,5s/^# *//p' "$0" >&2; exit 2; }
[ $# = 2 ] || usage
mkdir -p "$2"
dir=$(cd "$2" && pwd)
home=$dir/server/opensearch-$version

# OpenSearch refuses to run as root, so root lends it to an account without rights.
lend opensearch

fetch() {
	[ ! -f "$home/complete" ] || return 0
	rm -rf "$dir/server" "$dir/zip"
	artifact "$dir" org.opensearch.distribution.integ-test-zip:opensearch:$version "$dir/server"
	artifact "$dir" org.opensearch.plugin:opensearch-knn:$version.0 "$home/plugins/opensearch-knn"
	artifact "$dir" org.opensearch.plugin:neural-search:$version.0 "$home/plugins/neural-search"
	chmod -R a+rX "$dir/server"
	touch "$home/complete"
}

start() {
	! running "$dir" || return 0
	java=$(find_java $need "OpenSearch $version")
	fetch
	rm -rf "$dir/node"
	mkdir -p "$dir/node/data" "$dir/node/logs" "$dir/node/tmp" "$dir/node/config"
	port=${PORT:-$(free_port)}
	cp "$home/config/log4j2.properties" "$dir/node/config/"
	cat >"$dir/node/config/opensearch.yml" <<YML
cluster.name: sheaf-test
discovery.type: single-node
network.host: 127.0.0.1
http.port: $port
transport.port: 0
path.data: $dir/node/data
path.logs: $dir/node/logs
cluster.routing.allocation.disk.threshold_enabled: false
action.auto_create_index: false
YML
	chmod a+x "$dir"
	[ "$(id -u)" != 0 ] || chown -R opensearch: "$dir/node"
	module=
	! "$java" --list-modules | grep -q jdk.incubator.vector || module=--add-modules=jdk.incubator.vector
	cd "$home"
	( as "$java" -Xms"${HEAP:-512m}" -Xmx"${HEAP:-512m}" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.io.tmpdir="$dir/node/tmp" \
		-Djna.tmpdir="$dir/node/tmp" -Dlog4j.shutdownHookEnabled=false -Dlog4j2.disable.jmx=true -Djava.locale.providers=SPI,CLDR \
		-Dopensearch.path.home="$home" -Dopensearch.path.conf="$dir/node/config" -Dopensearch.distribution.type=zip -Dopensearch.bundled_jdk=false \
		-javaagent:agent/opensearch-agent.jar --add-opens=java.base/java.nio=org.apache.arrow.memory.core,ALL-UNNAMED $module \
		-cp "$home/lib/*" org.opensearch.bootstrap.OpenSearch ) </dev/null >"$dir/node/out" 2>&1 &
	pid=$!
	echo $pid >"$dir/pid"
	address=http://127.0.0.1:$port
	await "$pid" "$address/_cluster/health?wait_for_status=yellow&timeout=1s" "$dir/node/out" 300 || { end "$dir"; exit 1; }
	started "$dir" "$address"
}

stop() {
	end "$dir"
	rm -rf "$dir/node"
}

case $1 in
start) start ;;
stop) stop ;;
*) usage ;;
esac
