package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/store"
)

// textTest has chunks, and queries with the chunks that they find.
type textTest struct {
	chunks []store.Chunk
	cases  []textCase
}

// textCase is a query, and the IDs of the chunks that it finds, separated by spaces, in any order.
type textCase struct {
	query sheaf.TextQuery
	want  string
}

// check writes the chunks. Then it compares what each query finds and counts with the expected chunks.
func (x textTest) check(t *testing.T, b store.Backend) {
	write(t, b, x.chunks...)
	for _, c := range x.cases {
		req := Words(c.query)
		if refused(t, b, req) {
			continue
		}
		got, want := strings.Fields(ids(retrieve(t, b, req))), strings.Fields(c.want)
		slices.Sort(got)
		slices.Sort(want)
		check.List(t, got, want, "%#v: found", c.query)
		if counter, ok := b.(store.Counter); ok {
			req.Limit = 1
			n, err := counter.Count(context.Background(), req)
			check.That(t, n == len(want) && err == nil, "%#v: a count of %d, %v, want %d", c.query, n, err, len(want))
		}
	}
}

// phrases returns test cases. pairs alternates phrases and the chunks that they find.
func phrases(pairs ...string) (out []textCase) {
	for pair := range slices.Chunk(pairs, 2) {
		out = append(out, textCase{sheaf.Phrase{Text: pair[0]}, pair[1]})
	}
	return out
}

// matches returns test cases for queries of words without quotes. pairs alternates queries and the chunks that they
// find.
func matches(pairs ...string) (out []textCase) {
	for pair := range slices.Chunk(pairs, 2) {
		out = append(out, textCase{sheaf.Match{Text: pair[0]}, pair[1]})
	}
	return out
}

// textTests returns the tests of what queries find, by name.
func textTests() map[string]textTest {
	match := func(text string) sheaf.TextQuery { return sheaf.Match{Text: text} }
	all := func(list ...sheaf.TextQuery) []sheaf.TextQuery { return list }
	const many = 10_000
	names := make([]string, many)
	for i := range names {
		names[i] = fmt.Sprintf("alias name%d", i)
	}
	// Words and phrases match in any case, also words of letters and digits.
	anyCase := phrases("6 here", "")
	for _, c := range [][2]string{{"IPv6", "t:net t:get"}, {"use IPv6 here", "t:net"}, {"4k", "t:low"},
		{"in 4k tests", "t:low"}, {"e2e", "t:low"}, {"GitHub", "t:hub"}, {"on GitHub Pages today", "t:hub"},
		{"git hub", "t:hub"}, {"get-item of httpserver2 at", "t:get"}, {"HTTPServer2", "t:get"}, {"http server", "t:get"},
		{"addr_IPv6 now", "t:get"}} {
		anyCase = append(anyCase, phrases(c[0], c[1], strings.ToLower(c[0]), c[1], strings.ToUpper(c[0]), c[1])...)
	}
	return map[string]textTest{
		"queries": {[]store.Chunk{
			Chunk("t:a", "title", "Access tokens", "body", "The refresh token is rotated. getUserName returns it."),
			Chunk("t:b", "body", "A token that you refresh by hand; authentication and authors"),
			Chunk("t:c", "title", "東京都の猫", "body", "naïve café with colours"),
			Chunk("t:d", "body", "running runs; authored in C++ and snake_case at v1.2.3"),
			Chunk("t:e", "body", "修改 VSCode 配置")},
			slices.Concat(
				matches("token", "t:a t:b", "getUserName", "t:a", "username", "", "c++", "t:d", "東京", "t:c", "猫", "t:c",
					"京", "t:c", "?! ...", "", "zzz", ""),
				phrases("refresh tokens", "t:a", "get user name", "t:a", "v1.2.3", "t:d", "東京都", "t:c",
					"修改 VSCode 配置", "t:e"),
				[]textCase{
					{sheaf.Match{Text: "access", Field: "title"}, "t:a"},
					{sheaf.Match{Text: "access", Field: "body"}, ""},
					{sheaf.Phrase{Text: "token refresh", Slop: 3}, "t:a t:b"},
					{sheaf.Prefix{Text: "authenticat"}, "t:b"},
					{sheaf.Prefix{Text: "runni"}, "t:d"}, // a form
					{sheaf.Prefix{Text: "CAF"}, "t:c"},
					{sheaf.Fuzzy{Text: "tokne", Distance: 1}, "t:a t:b"},
					{sheaf.Fuzzy{Text: "tokne", Distance: 1, Same: 3}, "t:a t:b"},
					{sheaf.Fuzzy{Text: "doken", Distance: 1, Same: 1}, ""},
					{sheaf.Fuzzy{Text: "colors", Distance: 1}, "t:c"}, // a form
					{sheaf.Bool{Must: all(match("token"), match("rotated"))}, "t:a"},
					{sheaf.Bool{Should: all(match("token")), MustNot: all(match("rotated"))}, "t:b"},
					{sheaf.Bool{MustNot: all(match("token"))}, "t:c t:d t:e"},
					{sheaf.Bool{}, "t:a t:b t:c t:d t:e"},
					{sheaf.Bool{Should: all(match("rotated"), sheaf.Boost{Query: match("café"), Factor: 100})}, "t:a t:c"},
					{nil, ""},
				})},
		"anyCase": {[]store.Chunk{
			Chunk("t:net", "body", "we use IPv6 here"), Chunk("t:six", "body", "other text number 6"),
			Chunk("t:low", "body", "pictures in 4k, tests are e2e"), Chunk("t:four", "body", "other number 4 of e"),
			Chunk("t:hub", "title", "GitHub Pages", "body", "on GitHub PAGES today"),
			Chunk("t:git", "body", "a git of pages"),
			Chunk("t:get", "body", "Get-Item of HTTPServer2 at addr_IPv6 now")}, anyCase},
		// Hyphens at line ends and invisible characters do not split words. All kinds of hyphens are equal.
		"cutWords": {[]store.Chunk{
			Chunk("t:p", "body", "The infor-\nmation about ther-\r\n  mal runaway. A long-\nterm plan."),
			Chunk("t:z", "body", "Donau\u200bdampf\u200bschiff 東\u200b京"),
			Chunk("t:d", "body", "COVID\u201119, pages 3\u20135"), Chunk("t:s", "body", "the infor mation of term plan")},
			slices.Concat(
				phrases("information", "t:p", "the information", "t:p", "thermal runaway", "t:p", "long-term", "t:p",
					"long-term plan", "t:p", "a longterm", "t:p", "Donaudampfschiff", "t:z", "東京", "t:z",
					"Donaudampfschiff 東京", "t:z", "COVID-19", "t:d", "covid 19 pages", "t:d", "3-5", "t:d", "pages 3–5", "t:d"),
				matches("information", "t:p"), []textCase{{sheaf.Prefix{Text: "donaud"}, "t:z"}})},
		// A phrase never continues into the next value, even with very many values.
		"valueEnds": {[]store.Chunk{
			Chunk("t:m", "title", store.JoinValues([]string{"hello world", "foo bar"}), "body",
				store.JoinValues([]string{"machine", "learning"})),
			Chunk("t:one", "body", store.JoinValues([]string{"machine learning"})),
			Chunk("t:many", "title", store.JoinValues(names))},
			append(phrases("hello world", "t:m", "foo bar", "t:m", "world foo", "", "machine learning", "t:one",
				"alias name0", "t:many", "alias name9999", "t:many", "name41 alias", "", "name9998 alias name9999", ""),
				textCase{sheaf.Phrase{Text: "world foo", Slop: 2}, ""})},
		// Emoji are words, and the parts of joined emoji find them.
		"emoji": {[]store.Chunk{
			Chunk("t:elephant", "title", "🐘", "body", "about animals"), Chunk("t:coder", "body", "she is a 👩‍💻 in 🇩🇪"),
			Chunk("t:thumb", "body", "👍🏽 for 5️⃣ things"), Chunk("t:flag", "body", "🇫🇷🇩")},
			slices.Concat(
				matches("🐘", "t:elephant", "👩", "t:coder", "💻", "t:coder", "👩‍💻", "t:coder", "🇩🇪", "t:coder", "🇫🇷",
					"t:flag", "🇩", "t:flag", "👍", "t:thumb", "👍🏽", "t:thumb", "5️⃣", "t:thumb", "5", "t:thumb", "🦒", "",
					"🇪🇩", ""),
				phrases("a 👩‍💻 in", "t:coder"), []textCase{{sheaf.Prefix{Text: "🐘"}, "t:elephant"}})},
	}
}
