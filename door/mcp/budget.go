package mcp

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sheaf"
	"sheaf/collection"
)

// These are limits of a search answer without details, in bytes of its JSON. The JSON contains the answer twice: as
// text and as structured content.
const (
	shortBytes = 2800 // 3,000 with the message around it
	shortEach  = 280  // for each result if there are more than ten results
	shortQuery = 80   // for the query, which the answer repeats
	minSnippet = 24   // a shorter snippet is left out
	// shortPrice is the number of bytes that a snippet adds to an answer besides its text. An answer has the snippet
	// twice, as text and as JSON.
	shortPrice = len(`   \u003e \n`) + len(`,"snippet":""`)
)

// unlikely is the level of a confidence below 0.30. An answer without details omits this level.
const unlikely = "none"

// shorten removes the details of an answer, and shortens its snippets to fit the limits. It shares the bytes among the
// results. If a result needs less than its share, results with better ranks get the rest. words says that the query has
// words, and is not the name of a text.
func shorten(out *searchOut, words bool) {
	full := *out
	full.Query = cutAround(full.Query, 0, shortQuery)
	*out = searchOut{Results: make([]result, len(full.Results)), Answerable: full.Answerable, Total: full.Total,
		Truncated: full.Truncated, Notes: full.Notes, Notice: full.Notice}
	for i := range full.Results {
		r := &full.Results[i]
		out.Results[i] = result{ID: r.ID}
		if r.Confidence != unlikely {
			out.Results[i].Confidence = r.Confidence
		}
	}
	bare := &sdk.CallToolResult{Content: shortText(&full, out, words).content(), StructuredContent: out}
	left := max(shortBytes, shortEach*len(out.Results)) - jsonSize(bare)
	for i := len(out.Results) - 1; i >= 0; i-- {
		r := &full.Results[i]
		snippet, price := fitting(oneLine(r.Snippet), len(oneLine(r.Snippet[:r.match])), left/(i+1))
		out.Results[i].Snippet = snippet
		left -= price
	}
	if !slices.ContainsFunc(out.Results, func(r result) bool { return r.Snippet != "" }) {
		out.Notice = ""
	}
	out.shown = shortText(&full, out, words).content()
}

// fitting returns the part of a line around byte match that adds at most limit bytes to the answer. price is how many
// bytes the part adds. The answer has the part twice: as text and as JSON. If nothing fits, fitting returns "" and 0.
func fitting(text string, match, limit int) (part string, price int) {
	for width := (limit - shortPrice) / 2; width >= minSnippet; width -= minSnippet / 4 {
		part := cutAround(text, match, width)
		if price := shortPrice + 2*(jsonSize(part)-len(`""`)); part != "" && price <= limit {
			return part, price
		}
	}
	return "", 0
}

func jsonSize(value any) int {
	text, _ := json.Marshal(value)
	return len(text)
}

// shortText returns the text of the answer out, which has no details. The header comes from full, the same answer with
// details. words says that the query has words, and is not the name of a text.
func shortText(full, out *searchOut, words bool) *textWriter {
	var w textWriter
	w.header(full, words)
	for i := range out.Results {
		r, sure := &out.Results[i], ""
		if r.Confidence != "" {
			sure = ", " + r.Confidence
		}
		w.line("%d. %s%s", i+1, shownID(full.Collection, r.ID), sure)
		if r.Snippet != "" {
			w.line("   > %s", r.Snippet)
		}
	}
	if out.Notice != "" {
		w.line(dataNotice)
	}
	return &w
}

// cutAround returns at most width bytes of a line, around byte match. If possible, it cuts between words.
func cutAround(text string, match, width int) string {
	const dots = "…"
	if len(text) <= width {
		return text
	}
	width -= 2 * len(dots)
	from := max(0, min(match-width/3, len(text)-width))
	to := from + width
	if from > 0 {
		if space := strings.IndexByte(text[from:match], ' '); space >= 0 {
			from += space + 1
		}
	}
	if to < len(text) {
		if space := strings.LastIndexByte(text[from:to], ' '); space > width/2 {
			to = from + space
		}
	}
	for from < to && !utf8.RuneStart(text[from]) {
		from++
	}
	for to < len(text) && to > from && !utf8.RuneStart(text[to]) {
		to--
	}
	part := text[from:to]
	if from > 0 {
		part = dots + part
	}
	if to < len(text) {
		part += dots
	}
	return part
}

// pack converts results to an answer of a tool. It gives as many results their whole text as the budget allows, best
// first. If the answer already has the text of a passage, a result inside this passage gets no text.
func (s *server) pack(ctx context.Context, r *collection.Reader, query string, in answerIn,
	a *collection.Answer) (*searchOut, error) {
	out := &searchOut{Query: query, Collection: r.Collection().Name(), Profile: a.Profile, Results: []result{},
		Answerable: a.Answerable, Total: a.Total.Value, Notes: []string{}, Tokens: in.Budget, Notice: dataNotice}
	out.Notes = append(append(out.Notes, a.Warnings...), a.Notes...)
	if len(a.Failures) > 0 {
		s.o.Log.Warn("search degraded", "warnings", strings.Join(a.Failures, "; "))
	}
	if len(a.Results) == 0 {
		note, err := nothingHere(ctx, r)
		if err != nil {
			return nil, err
		}
		out.Notes = append(out.Notes, note...)
	}
	most := math.Inf(1)
	if in.Budget > 0 {
		most = float64(in.Budget)
	}
	used := size(out)
	sizeOf := func(one *result) float64 {
		if in.short() {
			return 0 // such an answer has no number of tokens
		}
		price := size(one) + extraTokens(out.Collection, one.ID)
		if in.Links {
			price += size(linkOf(one))
		}
		return price
	}
	given := map[sheaf.ID]bool{}
	for i := range a.Results {
		hit := &a.Results[i]
		name := nameOf(hit)
		one := result{Rank: hit.Rank, ID: name, URI: uri(out.Collection, name), Breadcrumb: hit.Breadcrumb,
			Path: sheaf.PathText(hit.Path), Line: hit.Line, Block: hit.Block,
			Score: &hit.Score, Confidence: string(hit.Level), Tags: hit.Tags[:min(len(hit.Tags), maxTags)],
			Snippet: hit.Snippet}
		if len(hit.Matches) > 0 {
			one.match = hit.Matches[0].Start
		}
		if in.Budget > 0 {
			part, err := named(ctx, r, name)
			if err == nil && !given[part.ID] {
				full := one
				full.Text, full.Snippet, full.Line, full.Block = part.Text, "", part.Line, ""
				if !tooLong(full.Text, most-used) && used+sizeOf(&full) <= most {
					one = full
					given[part.ID] = true
				} else {
					out.Truncated = true
				}
			}
		}
		price := sizeOf(&one)
		if used+price > most {
			out.Truncated = true
			break
		}
		used += price
		out.Results = append(out.Results, one)
	}
	out.Tokens = int(used)
	return out, nil
}

// budgetOf returns a requested budget in tokens, or an error if it is invalid. For 0, it returns the default.
func budgetOf(tokens int) (float64, error) {
	switch {
	case tokens < 0 || tokens > maxBudget:
		return 0, sheaf.Invalidf("budget: %d: must be within 1..%d tokens", tokens, maxBudget)
	case tokens == 0:
		return defaultBudget, nil
	}
	return float64(tokens), nil
}

// These are budgets, in tokens.
const (
	maxBudget = 1_000_000
	// defaultBudget is the budget of answers with whole texts. Above 10,000 tokens, assistants warn or refuse.
	defaultBudget = 8000
)

// size estimates the tokens of a part of an answer, with the comma that follows.
func size(part any) float64 {
	var text strings.Builder
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false) // clients show a model the decoded answer, without escapes of <, > and &
	if err := to.Encode(part); err != nil {
		return math.Inf(1)
	}
	return Tokens(text.String() + ",")
}

// tooLong reports whether a text surely has more than left tokens, because [Tokens] counts one for at least 4 bytes.
func tooLong(text string, left float64) bool { return float64(len(text)) > utf8.UTFMax*left }

// Tokens estimates how many tokens a language model counts for a text.
func Tokens(text string) float64 {
	used := 0.0
	for _, r := range text {
		used += tokensOf(r)
	}
	return math.Ceil(used)
}

// tokensOf estimates the tokens of one character, for English tokenizers. Digits and signs take more than letters, so
// tables and code take more than prose. A character of another script counts as one token.
func tokensOf(r rune) float64 {
	switch {
	case r >= utf8.RuneSelf:
		return 1
	case unicode.IsLetter(r) || unicode.IsSpace(r):
		return 1.0 / 4
	}
	return 2.0 / 3
}
