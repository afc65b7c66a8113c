package storetest

import (
	"fmt"
	"strings"
	"testing"

	"sheaf"
	"sheaf/store"
)

// anyCase checks that words and phrases match in any case, also words of letters and digits.
func anyCase(t *testing.T, b store.Backend) {
	write(t, b,
		Chunk("t:net", "body", "we use IPv6 here"), Chunk("t:six", "body", "other text number 6"),
		Chunk("t:low", "body", "pictures in 4k, tests are e2e"),
		Chunk("t:four", "body", "other number 4 of e"),
		Chunk("t:hub", "title", "GitHub Pages", "body", "on GitHub PAGES today"), Chunk("t:git", "body", "a git of pages"),
		Chunk("t:get", "body", "Get-Item of HTTPServer2 at addr_IPv6 now"))
	for _, c := range []struct{ text, want string }{
		{"IPv6", "t:net t:get"}, {"use IPv6 here", "t:net"}, {"4k", "t:low"}, {"in 4k tests", "t:low"}, {"e2e", "t:low"},
		{"GitHub", "t:hub"}, {"on GitHub Pages today", "t:hub"},
		{"git hub", "t:hub"}, {"get-item of httpserver2 at", "t:get"}, {"6 here", ""}, {"HTTPServer2", "t:get"},
		{"http server", "t:get"}, {"addr_IPv6 now", "t:get"},
	} {
		for _, text := range []string{c.text, strings.ToLower(c.text), strings.ToUpper(c.text)} {
			if text != c.text && strings.Contains(c.text, " ") && c.want == "" {
				continue
			}
			want := c.want
			req := Words(sheaf.Phrase{Text: text})
			expectSet(t, b, fmt.Sprintf("phrase %q", text), req, want)
			req = Words(sheaf.Bool{MustNot: []sheaf.TextQuery{sheaf.Phrase{Text: text}},
				Must: []sheaf.TextQuery{sheaf.Phrase{Text: "IPv6"}}})
			for _, found := range strings.Fields(want) {
				if !refused(t, b, req) && strings.Contains(ids(retrieve(t, b, req)), found) {
					t.Errorf("without the phrase %q: %s is found", text, found)
				}
			}
		}
	}
	for _, text := range []string{"IPv6", "ipv6", "IPV6"} {
		if got := retrieve(t, b, Words(sheaf.Match{Text: text})); len(got) == 0 || got[0].ID != "t:net" {
			t.Errorf("%q: found %s", text, ids(got))
		}
	}
}

// cutWords checks that hyphens at line ends and invisible characters do not split words, and that
// all kinds of hyphens are equal.
func cutWords(t *testing.T, b store.Backend) {
	write(t, b,
		Chunk("t:p", "body", "The infor-\nmation about ther-\r\n  mal runaway. A long-\nterm plan."),
		Chunk("t:z", "body", "Donau\u200bdampf\u200bschiff 東\u200b京"),
		Chunk("t:d", "body", "COVID\u201119, pages 3\u20135"), Chunk("t:s", "body", "the infor mation of term plan"))
	for _, c := range []struct{ text, want string }{
		{"information", "t:p"}, {"the information", "t:p"}, {"thermal runaway", "t:p"}, {"long-term", "t:p"},
		{"long-term plan", "t:p"}, {"a longterm", "t:p"},
		{"Donaudampfschiff", "t:z"}, {"東京", "t:z"}, {"Donaudampfschiff 東京", "t:z"}, {"COVID-19", "t:d"},
		{"covid 19 pages", "t:d"}, {"3-5", "t:d"}, {"pages 3–5", "t:d"},
	} {
		expectSet(t, b, fmt.Sprintf("phrase %q", c.text), Words(sheaf.Phrase{Text: c.text}), c.want)
	}
	expectSet(t, b, "word", Words(sheaf.Match{Text: "information"}), "t:p")
	expectSet(t, b, "prefix", Words(sheaf.Prefix{Text: "donaud"}), "t:z")
}

// valueEnds checks that a phrase never continues into the next value, even with very many values.
func valueEnds(t *testing.T, b store.Backend) {
	const many = 10_000
	names := make([]string, many)
	for i := range names {
		names[i] = fmt.Sprintf("alias name%d", i)
	}
	write(t, b,
		Chunk("t:m", "title", store.JoinValues([]string{"hello world", "foo bar"}), "body",
			store.JoinValues([]string{"machine", "learning"})),
		Chunk("t:one", "body", store.JoinValues([]string{"machine learning"})),
		Chunk("t:many", "title", store.JoinValues(names)))
	for _, c := range []struct {
		text string
		slop int
		want string
	}{
		{"hello world", 0, "t:m"}, {"foo bar", 0, "t:m"}, {"world foo", 0, ""}, {"world foo", 2, ""},
		{"machine learning", 0, "t:one"},
		{"alias name0", 0, "t:many"}, {"alias name9999", 0, "t:many"}, {"name41 alias", 0, ""},
		{"name9998 alias name9999", 0, ""},
	} {
		expectSet(t, b, fmt.Sprintf("phrase %q, slop %d", c.text, c.slop), Words(sheaf.Phrase{Text: c.text, Slop: c.slop}),
			c.want)
	}
}

// emoji checks that emoji are words, and that the parts of joined emoji find them.
func emoji(t *testing.T, b store.Backend) {
	write(t, b,
		Chunk("t:elephant", "title", "🐘", "body", "about animals"), Chunk("t:coder", "body", "she is a 👩‍💻 in 🇩🇪"),
		Chunk("t:thumb", "body", "👍🏽 for 5️⃣ things"), Chunk("t:flag", "body", "🇫🇷🇩"))
	for text, want := range map[string]string{
		"🐘": "t:elephant", "👩": "t:coder", "💻": "t:coder", "👩‍💻": "t:coder", "🇩🇪": "t:coder", "🇫🇷": "t:flag", "🇩": "t:flag",
		"👍": "t:thumb", "👍🏽": "t:thumb",
		"5️⃣": "t:thumb", "5": "t:thumb", "🦒": "", "🇪🇩": "",
	} {
		expectSet(t, b, text, Words(sheaf.Match{Text: text}), want)
	}
	expectSet(t, b, "phrase", Words(sheaf.Phrase{Text: "a 👩‍💻 in"}), "t:coder")
	expectSet(t, b, "prefix", Words(sheaf.Prefix{Text: "🐘"}), "t:elephant")
}

// expectSet checks which chunks a request finds, in any order.
func expectSet(t testing.TB, b store.Backend, what string, req store.Request, want string) {
	t.Helper()
	if refused(t, b, req) {
		return
	}
	found := map[string]bool{}
	for _, h := range retrieve(t, b, req) {
		found[string(h.ID)] = true
	}
	for _, id := range strings.Fields(want) {
		if !found[id] {
			t.Errorf("%s: %s is not found", what, id)
		}
		delete(found, id)
	}
	for id := range found {
		t.Errorf("%s: %s is found", what, id)
	}
}
