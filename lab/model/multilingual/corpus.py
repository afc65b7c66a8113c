"""Reads pairs of texts from the unpacked packages: FOLDER/texts.jsonl.

A line is {"l": language, "s": source, "k": kind, "q": text, "b": text}:
  par   q in language l, b the same in English
  head  a heading q and the text b under it, both in language l
  name  a name or a word q in language l, b its English

Sources: strings and help pages of LibreOffice, strings of Chromium, names and
keywords of CLDR. SOURCES.md has their licences.
"""
import collections, gettext, glob, hashlib, html, json, os, re, struct

RD = os.environ['RD']
TAG = re.compile(r'<[^>]{0,200}>')
SPACE = re.compile(r'\s+')
PLACEHOLDER = re.compile(r'%[\d$]*[sduRPRODUCTNAME]*|\$\{?\w*\}?|\{[^}]*\}|&(?=\w)|_(?=\w)|\\n|\$\d')
LETTER = re.compile(r'[^\W\d_]')
CODES = {'zh-CN': 'zh', 'zh-TW': 'zht', 'zh-Hant': 'zht', 'zh-Hans': 'zh', 'no': 'nb', 'iw': 'he', 'in': 'id'}
count = collections.Counter()
seen = set()


def language(code):
    code = code.replace('_', '-').split('@')[0]
    return CODES.get(code, code.split('-')[0])


def clean(s):
    return SPACE.sub(' ', html.unescape(TAG.sub(' ', s)).replace('~', '').replace('\u200b', '')).strip()


def interface(s):
    """Removes placeholders and marks of keys from a string of a user interface."""
    s = clean(PLACEHOLDER.sub(' ', s))
    return SPACE.sub(' ', re.sub(r'\(\w\)|\.\.\.|…', ' ', s)).strip(' :.')


def put(out, l, source, kind, q, b):
    if l == 'en' and kind != 'head' or not (2 <= len(q) <= 1200 and 2 <= len(b) <= 1200):
        return
    if q == b and kind != 'name' or not LETTER.search(q) or not LETTER.search(b):
        return
    key = hashlib.md5((l + kind + q[:200] + '|' + b[:200]).lower().encode()).digest()
    if key in seen:
        return
    seen.add(key)
    count[l, source, kind] += 1
    out.write(json.dumps({'l': l, 's': source, 'k': kind, 'q': q, 'b': b}, ensure_ascii=False) + '\n')


def pak(path):
    """Strings of a Chromium resource file by number."""
    d = open(path, 'rb').read()
    if struct.unpack_from('<I', d)[0] == 5:
        n, o = struct.unpack_from('<H', d, 8)[0], 12
    else:
        n, o = struct.unpack_from('<I', d, 4)[0], 9
    e = [struct.unpack_from('<HI', d, o + 6 * i) for i in range(n + 1)]
    return {e[i][0]: d[e[i][1]:e[i + 1][1]].decode('utf-8', 'replace') for i in range(n)}


def chromium(out):
    folder = RD + '/x/usr/lib/chromium/locales/'
    en = pak(folder + 'en-GB.pak')
    for f in sorted(glob.glob(folder + '*.pak')):
        name = os.path.basename(f)[:-4]
        if '_' in name or name.startswith('en'):
            continue
        for k, v in sorted(pak(f).items()):
            if k in en:
                put(out, language(name), 'chromium', 'par', interface(v), interface(en[k]))


def libreoffice(out):
    for f in sorted(glob.glob(RD + '/x/usr/lib/libreoffice/program/resource/*/LC_MESSAGES/*.mo')):
        l = language(f.split('/')[-3])
        for k, v in gettext.GNUTranslations(open(f, 'rb'))._catalog.items():
            k = k[0] if isinstance(k, tuple) else k
            if k:
                put(out, l, 'libreoffice', 'par', interface(v), interface(k.split('\4')[-1]))


BLOCK = re.compile(r'<(h[1-6]|p) id="([^"]+)"[^>]*>(.*?)</\1>', re.S)
HIDDEN = re.compile(r'<span hidden="true" id="(?:MAC|UNIX)[^"]*"[^>]*>.*?</span>', re.S)


def page(f):
    text = open(f, encoding='utf-8', errors='replace').read()
    return [(tag, i, clean(HIDDEN.sub('', x))) for tag, i, x in BLOCK.findall(text)]


def help_pages(out):
    folder = RD + '/x/usr/share/libreoffice/help/'
    pages = lambda code: sorted(glob.glob(folder + code + '/text/**/*.html', recursive=True))
    en = {f.split('/text/')[1]: page(f) for f in pages('en-US')}
    for code in sorted(os.listdir(folder)):
        l = language(code)
        for f in pages(code):
            name = f.split('/text/')[1]
            english = {i: x for _, i, x in en.get(name, [])}
            title = heading = ''
            body = []

            def flush():
                if heading and len(' '.join(body)) > 60:
                    whole = len(heading) > 18 or not title or title == heading
                    q = heading if whole else title + ' ' + heading
                    put(out, l, 'help', 'head', q[:160], ' '.join(body)[:700])
            for tag, i, x in page(f):
                if i in english and english[i] != x and len(x) > 15:
                    put(out, l, 'help', 'par', x[:500], english[i][:500])
                if tag != 'p':
                    flush()
                    body, heading, title = [], x, title or x
                elif len(x) > 20:
                    body.append(x)
            flush()


def cldr(out):
    def read(package, folder, l, name):
        path = '%s/npm/%s-48.2.0/package/%s/%s/%s.json' % (RD, package, folder, l, name)
        return json.load(open(path, encoding='utf-8')) if os.path.exists(path) else None

    def locales(package, folder):
        for l in sorted(os.listdir('%s/npm/%s-48.2.0/package/%s' % (RD, package, folder))):
            if l in ('zh', 'zh-Hant') or '-' not in l and l not in ('en', 'und'):
                yield l

    def annotations(l):
        d = read('cldr-annotations-full', 'annotations', l, 'annotations')
        return d['annotations'].get('annotations', {}) if d else {}

    def names(l):
        r = {}
        for kind in ('territories', 'languages', 'scripts'):
            d = read('cldr-localenames-full', 'main', l, kind)
            if d:
                r.update({(kind, k): v for k, v in d['main'][l]['localeDisplayNames'][kind].items()})
        return r

    def cities(l):
        d = read('cldr-dates-full', 'main', l, 'timeZoneNames')
        r = {}

        def walk(path, node):
            for k, v in node.items():
                if k == 'exemplarCity':
                    r[path] = v
                elif isinstance(v, dict):
                    walk(path + (k,), v)
        walk((), d['main'][l]['dates']['timeZoneNames'].get('zone', {}) if d else {})
        return r
    en = annotations('en')
    for l in locales('cldr-annotations-full', 'annotations'):
        for k, v in annotations(l).items():
            if 'tts' in v and 'tts' in en.get(k, {}):
                put(out, language(l), 'cldr', 'name', v['tts'][0], en[k]['tts'][0])
                if 'default' in v and 'default' in en[k]:
                    put(out, language(l), 'cldr', 'par', ' '.join(v['default']), ' '.join(en[k]['default']))
    en = names('en')
    for l in locales('cldr-localenames-full', 'main'):
        for k, v in names(l).items():
            if k in en and '-alt-' not in k[1]:
                put(out, language(l), 'cldr', 'name', v, en[k])
    en = cities('en')
    zones = {k: k[-1].replace('_', ' ') for k in cities('de')}
    for l in locales('cldr-dates-full', 'main'):
        for k, v in cities(l).items():
            put(out, language(l), 'cldr', 'name', v, en.get(k) or zones.get(k) or k[-1].replace('_', ' '))


if __name__ == '__main__':
    with open(RD + '/texts.part', 'w', encoding='utf-8') as out:
        for read in (chromium, libreoffice, help_pages, cldr):
            read(out)
            print(read.__name__, sum(count.values()), flush=True)
    os.rename(RD + '/texts.part', RD + '/texts.jsonl')
    by = {}
    for (l, s, k), n in count.items():
        by.setdefault(l, {})[s + '/' + k] = n
    for l in sorted(by, key=lambda l: -sum(by[l].values()))[:50]:
        print(l, by[l])
