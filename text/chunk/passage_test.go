package chunk_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/text/chunk"
)

func TestPassagesOfSevenWords(t *testing.T) {
	p := chunk.Passages{Words: 4, Stride: 3}
	text := " one two three four five six seven "
	starts := p.AppendStarts(nil, text)
	var got []string
	for n := range p.Count(len(starts)) {
		w := p.Window(starts, len(text), n)
		got = append(got, strings.TrimSpace(text[w.Start:w.End]))
	}
	want := "one two three four|four five six seven"
	check.That(t, strings.Join(got, "|") == want, "passages are %q, want %q", got, want)
	check.Equal(t, len(p.AppendStarts(nil, "数据库x 存储")), 4, "starts of words")
}

// TestStartsOfWords checks that words begin after white space, for any characters, also with a limit.
func TestStartsOfWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("aaaabcdef       \n\t\r\v\x00\x1f\x7f!~é\u00a0"))).Draw(t, "text")
		var want []int
		inWord := false
		for i, r := range text {
			if !unicode.IsSpace(r) && !inWord {
				want = append(want, i)
			}
			inWord = !unicode.IsSpace(r)
		}
		got := (chunk.Passages{}).AppendStarts(nil, text)
		must.That(t, slices.Equal(got, want), "words of %q start at %v, want %v", text, got, want)
		p := chunk.Passages{Words: 3, Stride: 2}
		doc := sheaf.Document{Chunks: []sheaf.Chunk{{Body: sheaf.Span{End: len(text)}}}}
		for n := range p.Count(len(want)) {
			w := p.Window(want, len(text), n)
			w.End = max(w.Start, len(strings.TrimRight(text[:w.End], " \t\r\n")))
			must.Equal(t, p.Span(&doc, &doc.Chunks[0], []byte(text), n), w, "passage %d of %q", n, text)
		}
	})
}

// TestPassagesCoverEveryWord checks that each word is in a passage, none is too long, and the last ends the text.
func TestPassagesCoverEveryWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.IntRange(1, 40).Draw(t, "words")
		stride := rapid.IntRange(1, words).Draw(t, "stride")
		p := chunk.Passages{Words: words, Stride: stride}
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab  \n数é"))).Draw(t, "text")
		starts := p.AppendStarts(nil, text)
		covered := make([]bool, len(starts))
		n := p.Count(len(starts))
		for i := range n {
			w := p.Window(starts, len(text), i)
			inside := 0
			for j, s := range starts {
				if s >= w.Start && s < w.End {
					covered[j] = true
					inside++
				}
			}
			must.That(t, inside <= words, "passage %d has %d words", i, inside)
			must.That(t, i != n-1 || w.End == len(text), "the last passage ends at %d of %d", w.End, len(text))
		}
		for j := range covered {
			must.That(t, covered[j], "word %d is in no passage", j)
		}
	})
}

// TestPassageSpan checks the spans of passages in a document with frontmatter, which is not text.
func TestPassageSpan(t *testing.T) {
	content := []byte("---\ntitle: T\n---\none two three four five six\n\n## H\n\nseven eight nine ten\n")
	c := must.Get(chunk.For("a.md", chunk.Options{}))
	doc := c.Chunk("t", "a.md", content)
	p := chunk.Passages{Words: 2, Stride: 2}
	for _, test := range []struct {
		chunk, passage int
		want           string
	}{{0, 0, "one two"}, {0, 2, "five six"}, {0, 9, "six"}, {1, 1, "nine ten"}} {
		s := p.Span(&doc, &doc.Chunks[test.chunk], content, test.passage)
		if got := string(content[s.Start:s.End]); !strings.Contains(got, test.want) {
			t.Errorf("passage %d of chunk %d is %q, want %q", test.passage, test.chunk, got, test.want)
		}
	}
}
