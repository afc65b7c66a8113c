#!/bin/sh
# Builds the program that lets Vespa's own Java classes judge what sheaf writes for
# Vespa, and prints the command line that runs it.
#
#   scripts/vespa/build.sh DIR
#
# It needs Java 17 or newer and mvn, which brings the classes from Maven Central
# (about 100 MB the first time); DIR keeps the rest.
set -eu
[ $# = 1 ] || { sed -n '5s/^# *//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
dir=$(cd "$1" && pwd)
java=${JAVA:-}
if [ -z "$java" ]; then
	for home in ${JAVA_HOME:-} /usr/lib/jvm/*; do
		[ -x "$home/bin/javac" ] && java=$home/bin/java
	done
fi
[ -n "$java" ] || { echo "no Java with a compiler: set JAVA_HOME" >&2; exit 1; }
sum=$(cat "$here/pom.xml" $(find "$here/src" -name '*.java' | LC_ALL=C sort) | cksum)
if [ "$(cat "$dir/sum" 2>/dev/null)" != "$sum" ]; then
	rm -rf "$dir/classes" "$dir/sum"
	cp -r "$here/pom.xml" "$here/src" "$dir/"
	JAVA_HOME=$(dirname "$(dirname "$java")") mvn -q -B -f "$dir/pom.xml" compile dependency:build-classpath -Dmdep.outputFile="$dir/classpath" >&2
	echo "$sum" >"$dir/sum"
fi
# Started, it answers one task a line; the smaller compiler starts it faster.
echo "$java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp $dir/target/classes:$(cat "$dir/classpath") Judge"
