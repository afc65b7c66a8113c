package snippet_test

import (
	"context"
	"strings"
	"testing"

	"sheaf"
)

// TestHighlighterWords checks that Words returns the words that snippets mark, each with its matching parts.
func TestHighlighterWords(t *testing.T) {
	for _, c := range []struct {
		name  string
		query sheaf.TextQuery
		text  string
		want  string
	}{
		{"stems, each form once", sheaf.Match{Text: "what is the commit"}, "Commits: the commit, a commit that is " +
			"committed; a command, common comments, what then?", "<Commits> <commit> <committed>"},
		{"a phrase", sheaf.Phrase{Text: "to be"}, "Not to be, toes.", "<to> <be>"},
		{"parts of identifiers", sheaf.Match{Text: "name"}, "getUserName(user_name), rename, names",
			"getUser<Name> <name> <names>"},
		{"digits", sheaf.Match{Text: "RFC7231"}, "rfc7231, RFC7230, 7232", "<rfc7231> <RFC>7230"},
		{"two parts", sheaf.Match{Text: "get name"}, "getUserName, getName", "<get>User<Name> <getName>"},
		{"a beginning", sheaf.Prefix{Text: "auth"}, "author, AUTH0, oauth", "<author> <AUTH0>"},
		{"words that are spelt alike", sheaf.Fuzzy{Text: "colour", Distance: 1}, "color and colours, not collar",
			"<color> <colours>"},
		{"without spaces", sheaf.Match{Text: "検索テスト"}, "全文検索テスト中。テスト、使用docker容器", "<検索テスト> <テスト>"},
		{"between letters of scripts without spaces", sheaf.Match{Text: "docker"}, "使用docker容器, docker를", "<docker>"},
		{"Hangul", sheaf.Match{Text: "검색"}, "검색을 하다", "<검색>"},
		{"none", sheaf.Match{Text: "zebra"}, "One.", ""},
		{"no query", nil, "One.", ""},
	} {
		var got []string
		for _, parts := range highlighter(t, c.query).Words(t.Context(), c.text, 10) {
			for i := 1; i < len(parts); i += 2 {
				parts[i] = "<" + parts[i] + ">"
			}
			got = append(got, strings.Join(parts, ""))
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := highlighter(t, sheaf.Prefix{Text: "a"}).Words(t.Context(), "a ab ac ad", 3); len(got) != 3 {
		t.Errorf("at most three: %q", got)
	}
	// A long run of letters takes no longer than as many words, and is skipped.
	run := strings.Repeat("commit", 400_000)
	if got := highlighter(t, sheaf.Match{Text: "commit"}).Words(t.Context(), run+" commit "+run, 10); len(got) != 1 ||
		got[0][1] != "commit" {
		t.Errorf("beside long runs: %d words", len(got))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := highlighter(t, sheaf.Match{Text: "commit"}).Words(ctx, strings.Repeat("one ", 1000)+"commit",
		10); got != nil {
		t.Errorf("for nobody: %q", got)
	}
}
