package mcp

import (
	"math"
	"strings"
	"testing"
	"time"

	"sheaf/store/storetest"
)

// TestQuotingMarksIsLinear checks that quoting a text of marks takes linear time. It measures processor
// time, and one of ten tries must pass, because the machine may be busy.
func TestQuotingMarksIsLinear(t *testing.T) {
	const few, times, tries = 20_000, 16, 10
	took := func(marks int) time.Duration {
		text, least := strings.Repeat("<", marks), time.Duration(math.MaxInt64)
		for range 5 {
			var w textWriter
			began := storetest.CPU()
			w.quote("marks.md", text)
			least = min(least, storetest.CPU()-began)
			if got := w.String(); !strings.HasSuffix(got, "\n"+text+"< end of text\n") {
				t.Fatalf("%d marks: %d bytes", marks, len(got))
			}
		}
		return least
	}
	for try := 1; ; try++ {
		small, large := took(few), took(times*few)
		if large <= 6*times*small {
			return
		}
		if try == tries {
			t.Fatalf("%d marks take %v, %d times as many %v", few, small, times, large)
		}
	}
}

// TestTokens checks that the estimate is at least 85% of the real tokens for texts unlike prose.
// The real number is the larger count of the tokenizers o200k_base and cl100k_base.
func TestTokens(t *testing.T) {
	for text, tokens := range map[string]float64{
		"The first search of a folder makes its index, in your data folder and not among your notes; every later one looks for changed files first. What changed is read again, and everything else stays as it is.": 43,
		"| sheaf | 40 / 138 | 29 / 131 | 45.5 | 0.348 | 63 | 123 / 404 | 88 / 338 | 42.0 |\n| lucene | 107 / 268 | 120 / 867 | 16.7 | 0.246 | 414 | 171 / 477 | 194 / 928 | 22.3 |\n":                                92,
		"func (o *output) Write(line []byte) (int, error) {\n\to.mu.Lock()\n\tdefer o.mu.Unlock()\n\tif len(line) == 0 || o.w == nil {\n\t\treturn 0, io.ErrClosedPipe\n\t}\n\treturn o.w.Write(line)\n}\n":          58,
		"branches:\n  - {name: words, retrieve: text, fields: {title: 2, body: 1}, limit: 4x, weight: 1 - meaning}\nfuse: {method: rrf, k: 60}\nthen:\n  - per_document: 2\n":                                        63,
		"<div class=\"note\"><a href=\"#top\">Back</a> &amp; <b>forth</b></div>\n":                                                                                                                                   26,
		"東京は日本の首都です。新しい技術の導入により、検索エンジンの性能が大幅に向上しました。":                                                                                                                                                                46,
		"Москва — столица России. Поисковая система находит документы по смыслу и по словам.":                                                                                                                        38,
	} {
		if got := Tokens(text); got < 0.85*tokens {
			t.Errorf("%v tokens, of %v: %s", got, tokens, text)
		}
	}
}
