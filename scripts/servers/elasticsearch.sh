#!/bin/sh
# Starts Elasticsearch for tests, on loopback, and stops it again.
#
#   scripts/servers/elasticsearch.sh start DIR   prints the address of the server
#   scripts/servers/elasticsearch.sh stop DIR
#
# The server comes from Maven Central through mvn, and needs Java 21 or newer with a
# compiler. It is the archive for its makers' tests: core, security and nothing else.
# Of the missing modules, what an index of Sheaf's names of analysis-common is built
# beside it, from Lucene's classes; lang-painless and rank-rrf stay missing. Its
# license, the Elastic License 2.0, lets it be run, not passed on. DIR keeps the
# unpacked server for the next start; what it stores is thrown away when it stops. The
# memory that it takes is HEAP, 512m. With KEY set it requires a user: the user admin with
# that password may do all, and makes other users, API keys and tokens.
set -eu
version=9.5.3
need=21

here=$(cd "$(dirname "$0")" && pwd)
. "$here/process.sh"
usage() { sed -n '4,5s/^# *//p' "$0" >&2; exit 2; }
[ $# = 2 ] || usage
mkdir -p "$2"
dir=$(cd "$2" && pwd)
home=$dir/server/elasticsearch-$version

# Elasticsearch refuses to run as root, so root lends it to an account without rights.
lend elasticsearch

fetch() {
	if [ ! -f "$home/complete" ]; then
		rm -rf "$dir/server" "$dir/zip"
		artifact "$dir" org.elasticsearch.distribution.integ-test-zip:elasticsearch:$version "$dir/server"
		chmod a+x "$home"/bin/* # which unpacking forgets
		touch "$home/complete"
	fi
	plugin=$home/plugins/sheaf-terms
	[ ! "$plugin/terms.jar" -nt "$here/elasticsearch/Terms.java" ] || return 0
	rm -rf "$plugin" "$dir/classes"
	mkdir -p "$plugin"
	"$1/bin/javac" -nowarn --release $need -cp "$home/lib/*" -d "$dir/classes" "$here/elasticsearch/Terms.java" >&2
	(cd "$dir/classes" && python3 -m zipfile -c "$plugin/terms.jar" ./*.class)
	cat >"$plugin/plugin-descriptor.properties" <<PROPERTIES
name=sheaf-terms
description=The parts of analysis-common that an index of Sheaf's names
classname=Terms
version=$version
elasticsearch.version=$version
java.version=$need
PROPERTIES
	chmod -R a+rX "$dir/server"
}

start() {
	! running "$dir" "${KEY:-}" || return 0
	java=$(find_java $need "Elasticsearch $version")
	java=$(dirname "$(dirname "$(readlink -f "$java")")")
	[ -x "$java/bin/javac" ] || { echo "Elasticsearch $version needs a Java with a compiler, which $java is not: set JAVA_HOME" >&2; exit 1; }
	fetch "$java"
	rm -rf "$dir/node"
	mkdir -p "$dir/node/data" "$dir/node/logs" "$dir/node/tmp" "$dir/node/config"
	port=${PORT:-$(free_port)}
	cp "$home/config/log4j2.properties" "$home/config/jvm.options" "$dir/node/config/"
	cat >"$dir/node/config/elasticsearch.yml" <<YML
cluster.name: sheaf-test
discovery.type: single-node
network.host: 127.0.0.1
http.port: $port
transport.port: 0
path.data: $dir/node/data
path.logs: $dir/node/logs
xpack.security.enabled: $([ -z "${KEY:-}" ] && echo false || echo true)
xpack.security.authc.token.enabled: $([ -z "${KEY:-}" ] && echo false || echo true)
xpack.license.self_generated.type: $([ -z "${KEY:-}" ] && echo basic || echo trial)
cluster.routing.allocation.disk.threshold_enabled: false
action.auto_create_index: false
YML
	if [ -n "${KEY:-}" ]; then
		KEY=$KEY python3 - >"$dir/node/config/users" <<'PYTHON'
import base64, hashlib, os
salt = os.urandom(32)
made = hashlib.pbkdf2_hmac("sha512", os.environ["KEY"].encode(), salt, 10000, 32)
print("admin:{PBKDF2}10000$%s$%s" % (base64.b64encode(salt).decode(), base64.b64encode(made).decode()))
PYTHON
		echo superuser:admin >"$dir/node/config/users_roles"
		CURL_OPTIONS="-u admin:$KEY"
	fi
	chmod a+x "$dir"
	[ "$(id -u)" != 0 ] || chown -R elasticsearch: "$dir/node"
	cd "$home"
	( as env ES_JAVA_HOME="$java" ES_PATH_CONF="$dir/node/config" ES_TMPDIR="$dir/node/tmp" \
		ES_JAVA_OPTS="-Xms${HEAP:-512m} -Xmx${HEAP:-512m} -XX:+UseSerialGC -XX:-UseG1GC -XX:TieredStopAtLevel=1" \
		bin/elasticsearch ) </dev/null >"$dir/node/out" 2>&1 &
	pid=$! # of the launcher, which ends its server with itself
	echo $pid >"$dir/pid"
	address=http://127.0.0.1:$port
	await "$pid" "$address/_cluster/health?wait_for_status=yellow&timeout=1s" "$dir/node/out" 300 || { end "$dir"; exit 1; }
	started "$dir" "$address" "${KEY:-}"
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
