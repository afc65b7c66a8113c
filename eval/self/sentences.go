package self

import (
	"context"
	"regexp"
	"strings"

	"sheaf"
	"sheaf/text/chunk"
)

// These are limits for making queries from the bodies of chunks.
const (
	phraseWords    = 3  // raw words of a phrase
	phraseTries    = 12 // positions tried in a chunk
	rareChunks     = 50 // largest number of chunks that have a rare word
	sentenceLow    = 7  // smallest number of terms of a sentence to use
	sentenceHigh   = 30 // largest number of terms of a sentence to use
	keptLow        = 3  // terms that must be left
	droppedInThree = 1  // about how many of three words are dropped
)

// bodies makes queries from the bodies of a document's chunks.
func (m *maker) bodies(ctx context.Context, doc *sheaf.Document, text []byte) error {
	phrases, paraphrases := 0, 0
	for _, i := range m.r.Perm(len(doc.Chunks)) {
		c := &doc.Chunks[i]
		if phrases+paraphrases >= 2*perDocument {
			return nil
		}
		if len(c.Members) > 0 {
			continue
		}
		sentences := m.sentences(chunk.IndexedText(doc, c, string(text)).Text)
		if len(sentences) == 0 {
			continue
		}
		if phrases < perDocument && m.wants(Phrase) {
			phrase, err := m.rarePhrase(ctx, sentences)
			if err != nil {
				return err
			}
			if phrase != "" && m.add(Item{Kind: Phrase, Text: phrase, Doc: doc.ID, Target: c.ID}) {
				phrases++
			}
		}
		if paraphrases < perDocument && m.wants(Paraphrase) {
			if p := m.paraphrase(sentences[m.r.IntN(len(sentences))]); p != "" &&
				m.add(Item{Kind: Paraphrase, Text: p, Doc: doc.ID, Target: c.ID}) {
				paraphrases++
			}
		}
	}
	return nil
}

var (
	linkMarks  = regexp.MustCompile(`!?\[\[([^\]|]*\|)?([^\]]*)\]\]|!?\[([^\]]*)\]\([^)]*\)`)
	plainMarks = strings.NewReplacer("*", "", "`", "", "_", " ", "~", "", "\u00a0", " ")
	sentenceAt = regexp.MustCompile(`[.!?;:][ \t]|[。！？；]`)
)

// sentences returns the sentences of a body without formatting, if they have sentenceLow to sentenceHigh terms. It
// skips code, tables, quotes, HTML and lists of links.
func (m *maker) sentences(body string) []string {
	var out []string
	code := false
	var paragraph strings.Builder
	flush := func() {
		for _, s := range sentenceAt.Split(paragraph.String(), -1) {
			if s = strings.TrimSpace(s); m.termCountWithin(s, sentenceLow, sentenceHigh) {
				out = append(out, s)
			}
		}
		paragraph.Reset()
	}
	for line := range strings.SplitSeq(body, "\n") {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			code = !code
			trimmed = ""
		}
		if code || trimmed == "" || strings.HasPrefix(line, "    ") || strings.ContainsRune("|<>#[!{:=", rune(trimmed[0])) {
			flush()
			continue
		}
		if item := strings.TrimLeft(trimmed, "-+*0123456789.) "); item != trimmed && len(item) < len(trimmed) {
			flush()
			trimmed = item
		}
		paragraph.WriteString(plainMarks.Replace(linkMarks.ReplaceAllString(trimmed, "$2$3")))
		paragraph.WriteByte(' ')
	}
	flush()
	return out
}

// words returns the words of a sentence as they are written.
func (m *maker) words(sentence string) []string {
	var out []string
	m.c.Searcher.Analyzer.Words(sentence, func(start, end int) bool {
		out = append(out, sentence[start:end])
		return true
	})
	return out
}

// rarePhrase returns consecutive words that only one chunk has. If a few tries find none, it returns "".
func (m *maker) rarePhrase(ctx context.Context, sentences []string) (string, error) {
	for range phraseTries {
		s := sentences[m.r.IntN(len(sentences))]
		words := m.words(s)
		if len(words) < phraseWords {
			continue
		}
		at := m.r.IntN(len(words) - phraseWords + 1)
		phrase := strings.Join(words[at:at+phraseWords], " ")
		if !m.termCountWithin(phrase, 2, 3*phraseWords) {
			continue
		}
		if rare, err := m.holdsRare(ctx, phrase); err != nil || !rare {
			if err != nil {
				return "", err
			}
			continue
		}
		n, err := m.count(ctx, sheaf.Phrase{Text: phrase, Field: sheaf.FieldBody})
		if err != nil {
			return "", err
		}
		if n == 1 {
			return phrase, nil
		}
	}
	return "", nil
}

// holdsRare reports whether text has a term that few chunks have. A phrase without such a term makes a bad query:
// people do not remember it, and stores count it slowly.
func (m *maker) holdsRare(ctx context.Context, text string) (bool, error) {
	for _, t := range m.terms(text) {
		df, ok := m.counts[t]
		if !ok {
			var err error
			if df, err = m.count(ctx, sheaf.Match{Text: t}); err != nil {
				return false, err
			}
			m.counts[t] = df
		}
		if df > 0 && df <= rareChunks {
			return true, nil
		}
	}
	return false, nil
}

// paraphrase returns a sentence in lower case without about a third of its words, or "" if it gets too short.
func (m *maker) paraphrase(sentence string) string {
	var kept []string
	words := m.words(sentence)
	for _, w := range words {
		if m.r.IntN(3) >= droppedInThree {
			kept = append(kept, strings.ToLower(w))
		}
	}
	text := strings.Join(kept, " ")
	if len(kept) == len(words) || !m.termCountWithin(text, keptLow, sentenceHigh) {
		return ""
	}
	return text
}
