package search_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sheaf/internal/must"
	"sheaf/model/static/builtin"
	"sheaf/search"
	"sheaf/text/chunk"
	words "sheaf/text/query"
)

// scripts holds a word in each of fifty scripts.
const scripts = "word λόγος слово բառ სიტყვა מילה كلمة ܡܠܬܐ ބަސް ߞߎߡߊ ቃል शब्द শব্দ ਸ਼ਬਦ શબ્દ ଶବ୍ଦ சொல் పదం ಪದ " +
	"വാക്ക് වචනය คำ ຄຳ ཚིག စကား ពាក្យ " +
	"ᎧᏃᎮᏛ ᐅᖃᐅᓯᖅ ᚱᚢᚾᚪ ᚑᚌᚐᚋ ᜐᜎᜒᜆ ᜰᜯ ᝐᝑ ᝠᝡ ᠦᠭᠡ ᤋᤠᤱ ᥐᥣᥲ ᦅᧄ ᨔᨈ ᬩᬲ ᮊᮨᮎᮕ᮪ ᰛᰦᰝ ᱨᱚᱲ ⲥⲁϫⲓ ⴰⵡⴰⵍ ⰔⰎⰑⰂⰑ ことば カタカナ 言葉 ㄘˊ 낱말 ꆈꌠ ꓡꓳ 𐌰𐌱 " +
	"𐎠𐎡 𝐰𝐨𝐫𝐝"

// TestMishandledTexts indexes a folder of texts that programs often mishandle. It checks that search
// takes bounded time, and gives the same answers twice.
func TestMishandledTexts(t *testing.T) {
	root := t.TempDir()
	texts := map[string]string{
		"scripts":       scripts,
		"right to left": "\u202e\u200fشجرة\u200f\u202c olive \u2067עץ זית\u2069",
		"marks":         "\u0301\u0301\u0323 \u0e31\u0e34\u0e4d plum",
		"surrogates": "---\ntitle: \"quince \\ud800 and \\udfff\"\naliases: [\"\\ud83d\"]\n---\nHalf characters, " +
			"\xed\xa0\x80 and \xed\xbf\xbf.",
		"private":         "\ue000\ue001\uf8ff \U000f0000 medlar",
		"emoji":           "🎉👩‍💻🇩🇪👍🏽",
		"emoji and words": "A 🍐 tree",
		"one character":   "字",
		"nothing":         "",
		"long":            strings.Repeat("ж索a", 10<<20/6), // 10 MB
		"long marks":      "a" + strings.Repeat("\u0301", 1<<19),
		"long emoji":      strings.Repeat("👩‍💻", 1<<16),
	}
	for name, text := range texts {
		must.Do(t, os.WriteFile(filepath.Join(root, name+".md"), []byte(text), 0o600))
	}
	model := must.Get(builtin.New())
	began := time.Now()
	s := indexed(t, root, model, chunk.Options{}, "the engine", openEngine)
	for _, c := range []struct{ query, first string }{
		{scripts, "scripts"}, {"言葉", "scripts"}, {"ቃል", "scripts"}, {"olive", "right to left"}, {"עץ זית", "right to left"},
		{"plum", "marks"}, {"quince", "surrogates"},
		{"medlar", "private"}, {"path:long.md", "long"}, {"path:emoji.md", "emoji"}, {"字", "one character"},
		{"🍐 tree", "emoji and words"},
		{"\u0301", ""}, {"\ue000", ""}, {"\u202e", ""}, {"🎉", ""}, {"\xed\xa0\x80", ""}, {texts["long"][:6<<14], ""},
		{texts["long marks"][:1+2<<14], ""}, {texts["long emoji"][:11<<12], ""},
	} {
		q := words.Parse(c.query, words.Options{Limit: 5, Now: s.Now()})
		r, again := mustSearch(t, s, q, load(t, "sheaf"), search.Options{}),
			mustSearch(t, s, q, load(t, "sheaf"), search.Options{})
		if len(found(r)) != len(found(again)) || strings.Join(found(r), " ") != strings.Join(found(again), " ") {
			t.Errorf("%.40q finds %q, then %q", c.query, found(r), found(again))
		}
		if c.first != "" && (len(r.Hits) == 0 || r.Hits[0].Path != c.first+".md") {
			t.Errorf("%.40q finds %q, want %q first", c.query, found(r), c.first)
		}
	}
	if took := time.Since(began); took > 5*time.Minute {
		t.Errorf("it took %v", took)
	}
}
