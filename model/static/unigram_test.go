package static

import (
	"bytes"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model"
)

// sentences are texts in twelve languages, and mixed texts.
var sentences = []string{
	"The index remembers every document of the folder.", "Der Ordner enthält zwölf Dokumente über Straßenbäume.",
	"Папка содержит двенадцать документов о поиске.", "Το ευρετήριο θυμάται κάθε έγγραφο του φακέλου.",
	"يتذكر الفهرس كل مستند في المجلد.", "इंडेक्स फ़ोल्डर के हर दस्तावेज़ को याद रखता है।",
	"ดัชนีจำเอกสารทุกฉบับในโฟลเดอร์ได้ดี น้ำ",
	"索引会记住文件夹中的每个文档。", "索引はフォルダーのすべての文書を覚えています。", "색인은 폴더의 모든 문서를 기억합니다.",
	"Chỉ mục ghi nhớ mọi tài liệu trong thư mục.", "האינדקס זוכר כל מסמך בתיקייה.", "Dizin, klasördeki İstanbul " +
		"belgelerini hatırlar.",
	"ﬁle № ½ … e\u0301 \u1100\u1161\u11a8 ｶﾞ Ａ\u0301 \u00a0 a\u2581b ſ",
}

// smallTable returns a small table: pieces of the sentences with random scores and rows.
func smallTable(t testing.TB) ([]UnigramPiece, []byte) {
	t.Helper()
	const seed = 5
	random := rand.New(rand.NewPCG(seed, seed))
	texts := map[string]bool{}
	for _, s := range sentences {
		for word := range strings.FieldsSeq(s) {
			runes := []rune("▁" + lowered(word))
			for i := range runes {
				for j := i + 1; j <= min(len(runes), i+4); j++ {
					if j == i+1 && random.IntN(8) > 0 || random.IntN(3) == 0 {
						texts[string(runes[i:j])] = true
					}
				}
			}
		}
	}
	pieces := []UnigramPiece{{}, {}}
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		p := UnigramPiece{Text: text, Score: -1 - 12*random.Float64()/float64(utf8.RuneCountInString(text)), English: -20,
			Seen: true}
		if strings.ContainsFunc(text, func(r rune) bool { return r < 'ÿ' }) {
			p.English = 10
		}
		pieces = append(pieces, p)
	}
	for i, row := range randomRows(len(pieces), seed) {
		pieces[i].Row = row
	}
	file := must.Get(WriteUnigram("small-1", pieces, 1, smallEnglish(t).vocab))
	return pieces, file
}

// randomRows returns n rows of 32 numbers.
func randomRows(n int, seed uint64) [][]float32 {
	random := rand.New(rand.NewPCG(seed, seed))
	rows := make([][]float32, n)
	for i := range rows {
		rows[i] = make([]float32, 32)
		for j := range rows[i] {
			rows[i][j] = float32(random.NormFloat64())
		}
	}
	return rows
}

// smallEnglish returns an English table of 32 dimensions.
func smallEnglish(t testing.TB) *Model {
	t.Helper()
	v := vocabulary(t)
	file := must.Get(Write("small-en-1", v, randomRows(v.Len(), 6)))
	m := must.Get(Open(file))
	return m
}

func openSmall(t testing.TB) ([]UnigramPiece, *Unigram) {
	t.Helper()
	pieces, file := smallTable(t)
	u := must.Get(OpenUnigram(file))
	return pieces, u
}

// lowered applies NFKC and then lower case, character by character.
func lowered(text string) string {
	text = strings.ReplaceAll(norm.NFKC.String(strings.ToValidUTF8(text, "")), "İ", "i\u0307")
	return strings.Map(unicode.ToLower, text)
}

// slowPieces finds the pieces of text with floating point numbers and a map.
func slowPieces(pieces []UnigramPiece, text string) []int32 {
	numbers, lowest := map[string]int{}, 0.0
	for i, p := range pieces {
		if lowest = min(lowest, p.Score); p.Text != "" {
			numbers[p.Text] = i
		}
	}
	unit := (1<<22 - 1) / -lowest // sums of whole numbers are exact
	var out []int32
	for word := range strings.FieldsSeq(strings.ReplaceAll(lowered(text), "▁", " ")) {
		runes := []rune("▁" + word)
		best, from, piece := make([]float64, len(runes)+1), make([]int, len(runes)+1), make([]int, len(runes)+1)
		for j := 1; j <= len(runes); j++ {
			best[j] = math.Inf(-1)
			for i := range j {
				n, ok := numbers[string(runes[i:j])]
				score := math.Round((lowest - unseenPenalty) * unit)
				switch {
				case ok:
					score = math.Round(pieces[n].Score * unit)
				case i == j-1:
					n = 1
				default:
					continue
				}
				if s := best[i] + score; s > best[j] {
					best[j], from[j], piece[j] = s, i, n
				}
			}
		}
		var back []int32
		for j := len(runes); j > 0; j = from[j] {
			if p := int32(piece[j]); p != 1 || len(back) == 0 || back[len(back)-1] != 1 {
				back = append(back, p)
			}
		}
		slices.Reverse(back)
		out = append(out, back...)
	}
	return out
}

func TestSegmenterFindsTheBestPieces(t *testing.T) {
	pieces, u := openSmall(t)
	if err := u.Verify(); err != nil || u.Name() != "small-1" || u.Dims() != 32 || len(u.fine) != len(pieces) {
		t.Fatalf("%s of %d pieces of %d dims: %v", u.Name(), len(u.fine), u.Dims(), err)
	}
	s := NewSegmenter(u)
	const seed = 9
	random := rand.New(rand.NewPCG(seed, seed))
	all := []rune(strings.Join(sentences, " "))
	texts := append(slices.Clone(sentences), "", " ", "\x00", "a\x00", "ab\x00 ab", strings.Repeat("ж", 500),
		"\xff\xfea\xed\xa0\x80b")
	for range 2000 {
		var b strings.Builder
		for range random.IntN(30) {
			r := all[random.IntN(len(all))]
			if random.IntN(20) == 0 {
				r = rune(random.IntN(0x3300))
			}
			b.WriteRune(r)
		}
		texts = append(texts, b.String())
	}
	for range 2 { // short words come from the cache in the second round
		for _, text := range texts {
			if got, want := s.Encode(nil, text), slowPieces(pieces, text); !slices.Equal(got, want) {
				t.Errorf("%q: %v, want %v", text, names(pieces, got), names(pieces, want))
			}
		}
	}
}

func names(pieces []UnigramPiece, ids []int32) []string {
	var out []string
	for _, id := range ids {
		out = append(out, pieces[id].Text)
	}
	return out
}

// TestLongTexts checks that time and memory do not depend on white space.
func TestLongTexts(t *testing.T) {
	_, u := openSmall(t)
	e := encoderOf(t, smallEnglish(t), u)
	dst := make([]float32, 32)
	for name, text := range map[string]string{
		"letters": strings.Repeat("ж", 1<<20), "marks": strings.Repeat("\u0301", 1<<20), "Han": strings.Repeat("索引会", 1<<18),
		"jamo": strings.Repeat("\u1100\u1161\u11a8", 1<<18), "private": strings.Repeat("\ue000", 1<<20),
		"emoji": strings.Repeat("👩‍💻", 1<<17),
		"bytes": strings.Repeat("\xe7\xb4", 1<<20), "scripts": strings.Repeat("aжαअกあ索ا한ג", 1<<16),
		"expanding": strings.Repeat("\ufdfa", 1<<16),
	} {
		began := time.Now()
		e.Embed(dst, text)
		took := time.Since(began)
		check.That(t, took <= 20*time.Second, "%s: %d bytes took %v", name, len(text), took)
		held := cap(e.segmenter.word) + len(e.segmenter.cells)
		check.That(t, held <= 1<<20, "%s: %d bytes are held beside the pieces", name, held)
	}
}

// TestTrie checks that a trie finds all of many texts, and nothing else.
func TestTrie(t *testing.T) {
	const seed = 3
	random := rand.New(rand.NewPCG(seed, seed))
	texts := map[string]leafText{}
	for i := range 5000 {
		b := make([]byte, 1+random.IntN(6))
		for j := range b {
			b[j] = byte(1 + random.IntN(255))
			if random.IntN(2) == 0 {
				b[j] = "abc"[random.IntN(3)]
			}
		}
		texts[string(b)] = leafText{string(b), uint32(i), uint32(random.IntN(1 << costBits))}
	}
	var list []leafText
	for _, e := range texts {
		list = append(list, e)
	}
	nodes := must.Get(newTrie(list))
	slices.Reverse(list)
	again, err := newTrie(list)
	check.That(t, err == nil && bytes.Equal(nodes, again), "another order of the texts made another trie")
	find := func(text string) (uint32, bool) {
		node := nodes.node(0)
		for i := range len(text) {
			c := uint32(text[i])
			if node = nodes.node(node>>baseShift&(1<<baseBits-1) ^ c); node&(leafBit|0xff) != c {
				return 0, false
			}
		}
		return nodes.node(node >> baseShift & (1<<baseBits - 1)), node&hasLeaf != 0
	}
	for text, e := range texts {
		leaf, ok := find(text)
		must.That(t, ok && leaf == leafBit|e.piece<<costBits|e.cost, "%q: leaf %x, %v", text, leaf, ok)
		if other := text + "a"; texts[other].text == "" {
			_, ok := find(other)
			must.That(t, !ok, "%q is found", other)
		}
	}
	for say, list := range map[string][]leafText{"appears twice": {{text: "a"}, {text: "b"}, {text: "a"}},
		"zero byte": {{text: "a\x00b"}}} {
		_, err := newTrie(list)
		check.That(t, err != nil && strings.Contains(err.Error(), say), "%v: %v, want %q", list, err, say)
	}
}

func TestWriteUnigramRefuses(t *testing.T) {
	row := make([]float32, 32)
	v := smallEnglish(t).vocab
	for say, c := range map[string]struct {
		name    string
		pieces  []UnigramPiece
		unknown int
	}{
		"1 to 40 bytes":       {"", []UnigramPiece{{Text: "a", Row: row}}, 0},
		"is not one of its 1": {"t", []UnigramPiece{{Text: "a", Row: row}}, 1},
		"multiple of 32":      {"t", []UnigramPiece{{Text: "a", Row: row[:31]}}, 0},
		"must be at most 0":   {"t", []UnigramPiece{{Text: "a", Row: row, Score: 1}}, 0},
		"row 1 has 64 dims":   {"t", []UnigramPiece{{Text: "a", Row: row}, {Row: make([]float32, 64)}}, 0},
		"appears twice":       {"t", []UnigramPiece{{Text: "a", Row: row}, {Text: "a", Row: row}}, 0},
		"row 0: it holds +Inf": {"t", []UnigramPiece{{Text: "a", Row: slices.Repeat([]float32{float32(math.Inf(1))}, 32)}},
			0},
		"for unknown characters": {"t", nil, 0},
	} {
		_, err := WriteUnigram(c.name, c.pieces, c.unknown, v)
		check.That(t, err != nil && strings.Contains(err.Error(), say), "got %v, want an error with %q", err, say)
	}
}

// TestPair checks that the English table reads English, with the same result as alone, and the other table the rest.
func TestPair(t *testing.T) {
	pieces, u := openSmall(t)
	m := smallEnglish(t)
	pair, alone, got, want := encoderOf(t, m, u), encoderOf(t, m, nil), make([]float32, 32), make([]float32, 32)
	for _, c := range []struct {
		text    string
		english bool
	}{
		{sentences[0], true}, {sentences[2], false}, {sentences[3], false}, {sentences[7], false}, {sentences[9], false},
		{"", true},
		{"\ue000\ue001", true}, // training saw no piece of it
		{"4 ß", false}, {"x 2023-04-05 (y)", true},
		{"The folder. " + sentences[2] + sentences[2], false}, {"索引 The index remembers the document", true},
	} {
		found := pair.Embed(got, c.text)
		clear(want)
		wanted := alone.Embed(want, c.text)
		if !c.english {
			clear(want)
			ids := slowPieces(pieces, c.text)
			for _, id := range ids {
				step, levels, _ := quantize(pieces[id].Row)
				for j, n := range levels {
					want[j] += float32(step * float32(n))
				}
			}
			wanted = normalize(want)
		}
		check.That(t, found == wanted && slices.Equal(got, want), "%q, English %v: %v, want %v", c.text, c.english, got, want)
		pair.EmbedWeighted(want, c.text, func(string) float64 { return 1 })
		check.That(t, near(got, want), "%q: words of weight 1 give another vector", c.text)
	}
	small := must.Get(ParseVocabulary([]byte("[UNK]\na\n")))
	check.Is(t, must.Err(newEncoder(&Model{vocab: small, header: header{dims: 32}}, u)), ErrCorrupt,
		"a table for another vocabulary")
}

func near(a, b []float32) bool {
	for i := range a {
		if math.Abs(float64(a[i]-b[i])) > 1e-4 {
			return false
		}
	}
	return true
}

// TestWindows checks that each window has the vector of its text under the heading, in any language.
func TestWindows(t *testing.T) {
	_, u := openSmall(t)
	m := smallEnglish(t)
	e := must.Get(NewEmbedder("pair", m, u))
	words := strings.Fields(strings.Join(sentences, " ") + " \ufe0f " + strings.Join(slices.Repeat(sentences[:1], 9), " "))
	for _, c := range []struct{ words, size, stride, want int }{
		{0, 8, 6, 1}, {1, 8, 6, 1}, {8, 8, 6, 1}, {9, 8, 6, 2}, {14, 8, 6, 2}, {15, 8, 6, 3}, {7, 1, 1, 7}, {12, 5, 5, 3},
		{len(words), 8, 6, (len(words) + 3) / 6},
	} {
		words := words[:c.words]
		var starts []int
		body := ""
		for _, word := range words {
			body += " "
			starts = append(starts, len(body))
			body += word
		}
		got := must.Get(e.AppendWindows(t.Context(), nil, "Документ", body, starts, c.size, c.stride))
		must.Equal(t, len(got), 32*c.want, "%+v: %d windows", c, len(got)/32)
		for i := range c.want {
			text := "Документ\n" + strings.Join(words[i*c.stride:min(i*c.stride+c.size, c.words)], " ")
			want, err := e.Embed(t.Context(), model.Passage, []string{text})
			check.That(t, err == nil && near(got[32*i:][:32], want[0]),
				"%+v: window %d has another vector than its text, %v", c, i, err)
		}
	}
}

func FuzzSegment(f *testing.F) {
	for _, s := range sentences {
		f.Add(s)
	}
	pieces, u := openSmall(f)
	s, again := NewSegmenter(u), NewSegmenter(u)
	e := encoderOf(f, smallEnglish(f), u)
	f.Fuzz(func(t *testing.T, text string) {
		checkEncode(t, s.Encode, again.Encode, len(pieces), text)
		a, b := make([]float32, 32), make([]float32, 32)
		must.That(t, e.Embed(a, text) == e.Embed(b, text) && slices.Equal(a, b), "the same text gave two vectors")
	})
}

func FuzzOpenUnigram(f *testing.F) {
	_, file := smallTable(f)
	f.Add(file)
	m := smallEnglish(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		u, err := OpenUnigram(data)
		if err != nil {
			return
		}
		if e, err := newEncoder(m, u); err == nil {
			e.Embed(make([]float32, m.Dims()), sentences[2]+sentences[0])
		}
	})
}

// TestNormalization checks every character alone, and random groups of characters that combine.
func TestNormalization(t *testing.T) {
	_, u := openSmall(t)
	s := NewSegmenter(u)
	s.start()
	same := func(text string) {
		s.word, s.heads = s.word[:0], s.heads[:0]
		s.block(nil, text)
		must.Equal(t, string(s.word), lowered(text), "normalization of %+q", text)
	}
	var combining, all []rune
	for r := range rune(unicode.MaxRune) {
		text := string(r)
		if normal := norm.NFKC.String(text); strings.ContainsFunc(normal, unicode.IsSpace) || normal == wordMark {
			continue
		}
		p := norm.NFKC.PropertiesString(text)
		if !p.BoundaryBefore() {
			combining = append(combining, r)
		}
		if !p.BoundaryAfter() || r%100 == 0 {
			all = append(all, r)
		}
		same("a" + text + "b")
	}
	const seed = 4
	random := rand.New(rand.NewPCG(seed, seed))
	for range 300_000 {
		text := []rune{all[random.IntN(len(all))]}
		for range random.IntN(4) {
			text = append(text, combining[random.IntN(len(combining))])
		}
		if random.IntN(100) == 0 {
			text = slices.Repeat(text, 20)
		}
		same(string(text) + string(all[random.IntN(len(all))]))
	}
}
