"""Training pairs from Debian's documentation packages and WordNet -> RD/pairs.jsonl.

Each line: {"s": package, "k": kind, "q": head, "b": body}. Kinds:
  head    title and heading -> a piece of at most 120 words of the text under it
  link    the words of a link -> the beginning of the section that it points to
  cloze   a sentence -> the text around it, without it
  gloss   a word and its synonyms -> its definition

Nothing here is judged, and none of it comes from a collection that the model is measured on.
"""
import glob, hashlib, html, json, os, random, re, subprocess, sys
from urllib.parse import unquote, urldefrag
import lxml.html

RD = os.environ["RD"]
# package: licence of the documentation
PACKAGES = {
    "postgresql-doc-15": "PostgreSQL", "python3.11-doc": "PSF-2.0", "python-django-doc": "BSD-3-Clause", "sqlite3-doc": "public domain",
    "apache2-doc": "Apache-2.0", "python-pandas-doc": "BSD-3-Clause", "python-scipy-doc": "BSD-3-Clause", "python-sklearn-doc": "BSD-3-Clause",
    "python-sympy-doc": "BSD-3-Clause", "rust-doc": "MIT or Apache-2.0", "nodejs-doc": "MIT", "erlang-doc": "Apache-2.0",
    "libboost1.81-doc": "BSL-1.0", "cmake-doc": "BSD-3-Clause", "nginx-doc": "BSD-2-Clause", "varnish-doc": "BSD-2-Clause",
    "python-sqlalchemy-doc": "MIT", "python-flask-doc": "BSD-3-Clause", "python-werkzeug-doc": "BSD-3-Clause", "python-celery-doc": "BSD-3-Clause",
    "nova-doc": "Apache-2.0", "neutron-doc": "Apache-2.0", "keystone-doc": "Apache-2.0", "cinder-doc": "Apache-2.0", "glance-doc": "Apache-2.0",
    "swift-doc": "Apache-2.0", "heat-doc": "Apache-2.0", "python-astropy-doc": "BSD-3-Clause", "python-skimage-doc": "BSD-3-Clause",
    "python-skbio-doc": "BSD-3-Clause", "python-biopython-doc": "Biopython or BSD-3-Clause", "python-dask-doc": "BSD-3-Clause",
    "python-tornado-doc": "Apache-2.0", "python-pymongo-doc": "Apache-2.0", "python-statsmodels-doc": "BSD-3-Clause", "ghc-doc": "BSD-3-Clause",
    "sphinx-doc": "BSD-2-Clause", "python-ipython-doc": "BSD-3-Clause", "python-xarray-doc": "Apache-2.0", "python-h5py-doc": "BSD-3-Clause",
    "openvswitch-doc": "Apache-2.0", "asciidoctor-doc": "MIT", "bind9-doc": "MPL-2.0", "python-pyqtgraph-doc": "MIT", "openmpi-doc": "BSD-3-Clause",
    "wordnet-base": "WordNet-3.0",
}
if os.environ.get("SMALL"):  # a trial of the whole way, in minutes
    PACKAGES = {p: PACKAGES[p] for p in ("sqlite3-doc", "python-flask-doc", "wordnet-base")}
SKIP_PAGE = re.compile(r"genindex|modindex|search\.html|/_sources/|/_modules/|releaselog|doxygen/.*(?:_8h|-members|_source)\.html|src/.*\.rs\.html")
SKIP_CLASS = re.compile(r"sphinxsidebar|related|nav|toc|sidebar|footer|headerlink|highlight-none|breadcrumb")
BLOCK = {"p", "li", "dd", "pre", "td", "th", "blockquote", "figcaption", "caption"}
HEADING = {"h1", "h2", "h3", "h4", "h5", "h6", "dt"}


def fetch():
    """Downloads and unpacks the packages, without installing them."""
    x = os.path.join(RD, "deb/x")
    os.makedirs(x, exist_ok=True)
    for package in PACKAGES:
        if glob.glob(os.path.join(RD, "deb", package + "_*.deb")):
            continue
        subprocess.run(["apt-get", "download", package], cwd=os.path.join(RD, "deb"), check=True)
        deb = glob.glob(os.path.join(RD, "deb", package + "_*.deb"))[0]
        subprocess.run(["dpkg", "-x", deb, os.path.join(x, package)], check=True)


def clean(s):
    return re.sub(r"\s+", " ", s.replace("¶", " ").replace("\uf0c1", " ")).strip()


class Section:
    def __init__(self, heading):
        self.heading, self.text = heading, []


def page(path):
    """Returns (title, sections, {anchor: section}, [(link words, address)])."""
    with open(path, "rb") as f:
        raw = f.read()
    if len(raw) > 3_000_000:
        return None
    try:
        root = lxml.html.fromstring(raw.decode("utf-8", "replace").encode("utf-8"), parser=lxml.html.HTMLParser(encoding="utf-8"))
    except Exception:
        return None
    for e in list(root.iter("script", "style", "head", "nav", "svg", "math")):
        if e.tag != "head":
            e.drop_tree()
    title, current = "", Section("")
    sections, anchors, links = [current], {}, []

    def walk(e):
        nonlocal title, current
        if not isinstance(e.tag, str) or SKIP_CLASS.search(e.get("class") or ""):
            return
        name = e.get("id") or (e.get("name") if e.tag == "a" else None)
        if e.tag in HEADING:
            text = clean(e.text_content())[:160]
            current = Section(text)
            sections.append(current)
            if e.tag == "h1" and not title:
                title = text
            for a in [e] + list(e.iterdescendants()):
                if isinstance(a.tag, str) and (a.get("id") or a.get("name")):
                    anchors[a.get("id") or a.get("name")] = current
            parent = e.getparent()
            if parent is not None and parent.get("id"):
                anchors[parent.get("id")] = current
            return
        if name:
            anchors.setdefault(name, current)
        if e.tag in BLOCK and not any(c.tag in BLOCK or c.tag in HEADING for c in e.iterdescendants()):
            text = clean(e.text_content())
            if e.tag == "pre":
                text = text[:300]
            if len(text) > 20:
                current.text.append(text)
            for a in e.iter("a"):
                href, words = a.get("href"), clean(a.text_content())
                if href and not re.match(r"[a-z]+:", href):
                    links.append((words, href))
            return
        for c in e:
            walk(c)

    sys.setrecursionlimit(20000)
    walk(root)
    return title or clean(" ".join(root.xpath("//title/text()")))[:160], sections, anchors, links


def pairs_of_package(package, rng):
    base = os.path.join(RD, "deb/x", package, "usr/share")
    pages = {}
    for path in sorted(glob.glob(base + "/**/*.html", recursive=True)):
        if not SKIP_PAGE.search(path) and os.path.isfile(path):
            p = page(path)
            if p:
                pages[os.path.realpath(path)] = p
        if len(pages) > 6000:
            break
    for path, (title, sections, _, links) in pages.items():
        for s in sections:
            words = " ".join(s.text).split()
            head = s.heading if len(s.heading.split()) >= 4 or s.heading == title else (title + " " + s.heading).strip()
            for i in range(0, min(len(words), 480), 120):
                piece = words[i:i + 120]
                if len(piece) < 12 or len(head) < 3:
                    break
                yield "head", head, " ".join(piece)
            sentences = re.split(r"(?<=[.!?]) (?=[A-Z])", " ".join(words[:200]))
            if len(sentences) >= 4:
                i = rng.randrange(len(sentences))
                if 5 <= len(sentences[i].split()) <= 30:
                    yield "cloze", sentences[i], " ".join(sentences[max(0, i - 3):i] + sentences[i + 1:i + 4])
        for words, href in links:
            if not 2 <= len(words.split()) <= 14 or not re.search(r"[a-z]{3}", words):
                continue
            address, fragment = urldefrag(href)
            target = pages.get(os.path.realpath(os.path.join(os.path.dirname(path), unquote(address))) if address else path)
            if not target:
                continue
            section = target[2].get(unquote(fragment)) if fragment else next((s for s in target[1] if s.text), None)
            if section is None:
                continue
            body = " ".join(section.text).split()[:100]
            if len(body) >= 12:
                heading = section.heading if rng.random() < 0.5 else ""
                yield "link", words, clean(heading + " " + " ".join(body))


def wordnet():
    for f in ("noun", "verb", "adj", "adv"):
        for path in glob.glob(os.path.join(RD, "deb/x/wordnet-base/usr/share/wordnet/data." + f)):
            for line in open(path, encoding="utf-8"):
                if line.startswith("  "):
                    continue
                fields, gloss = line.rstrip("\n").split(" | ", 1)
                parts = fields.split(" ")
                words = [re.sub(r"\(\w+\)", "", parts[4 + 2 * i]).replace("_", " ") for i in range(int(parts[3], 16))]
                yield "gloss", ", ".join(words[:4]), gloss.strip()


def main():
    fetch()
    rng, seen, count = random.Random(3), set(), {}
    with open(os.path.join(RD, "pairs.jsonl"), "w") as out:
        for package in PACKAGES:
            for kind, q, b in wordnet() if package == "wordnet-base" else pairs_of_package(package, rng):
                q, b = html.unescape(q)[:300], html.unescape(b)[:900]
                key = hashlib.md5((kind + q + b[:160]).encode()).digest()
                body_key = hashlib.md5((kind + b[:160]).encode()).digest()
                if key in seen or (kind != "link" and body_key in seen) or len(b) < 20:
                    continue
                seen.update((key, body_key))
                count[package, kind] = count.get((package, kind), 0) + 1
                out.write(json.dumps({"s": package, "k": kind, "q": q, "b": b}, ensure_ascii=False) + "\n")
            print(package, {k: n for (p, k), n in count.items() if p == package}, flush=True)
    print("all", sum(count.values()))


if __name__ == "__main__":
    main()
