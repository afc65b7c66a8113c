package snippet_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/search/snippet"
	"sheaf/text/analysis"
)

func highlighter(t testing.TB, q sheaf.TextQuery) *snippet.Highlighter {
	t.Helper()
	return highlighterFor(t, q, nil)
}

func highlighterFor(t testing.TB, q sheaf.TextQuery, rarity func(string) float64) *snippet.Highlighter {
	t.Helper()
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	return snippet.New(a, q, rarity)
}

// marked writes a snippet with its matches in brackets.
func marked(s snippet.Snippet) string {
	var b strings.Builder
	at := 0
	for _, m := range s.Matches {
		b.WriteString(s.Text[at:m.Start] + "<" + s.Text[m.Start:m.End] + ">")
		at = m.End
	}
	return b.String() + s.Text[at:]
}

func TestSnippet(t *testing.T) {
	filler := strings.Repeat("Nothing of interest stands here, and nobody reads on. ", 20)
	for _, c := range []struct {
		name  string
		query sheaf.TextQuery
		text  string
		want  string
	}{
		{"whole text", sheaf.Match{Text: "undo commit"}, "How to undo a commit.\n", "How to <undo> a <commit>."},
		{"byte order mark and spaces of no width", sheaf.Match{Text: "heron"}, "\ufeffThe \u200bheron \u200b at",
			"The <heron> at"},
		{"picture with a title over two lines", sheaf.Match{Text: "heron"}, "![a\nb](p.png\n\"over\nlines\") heron.",
			"a b <heron>."},
		{"text in brackets over two lines", sheaf.Match{Text: "heron"}, "a [b](in a\nhurry) heron.",
			"a [b](in a hurry) <heron>."},
		{"picture without text", sheaf.Match{Text: "heron"}, "- ![][img]\n- heron", "<heron>"},
		{"picture in a table", sheaf.Match{Text: "heron"}, "| ![[a.png\\|300]] | heron |", "a.png 300 <heron>"},
		{"bars in text", sheaf.Match{Text: "heron"}, "ls | wc, |x| and heron\n\n| a \\| b | heron |\n",
			"ls | wc, |x| and <heron> a | b <heron>"},
		{"less than in a formula", sheaf.Match{Text: "heron"}, "$x<a \\\\ heron & x>b$", "$x<a \\\\ <heron> & x>b$"},
		{"first task", sheaf.Match{Text: "alpha050"}, strings.Repeat("  - [ ] Setting alpha04 waits\n", 60) +
			"  - [ ] Setting alpha050 waits\n",
			"…" + strings.Repeat("☐ Setting <alpha>04 waits ", 5) + "☐ Setting <alpha050> waits"},
		{"stems", sheaf.Match{Text: "commit"}, "All commits.", "All <commits>."},
		{"function words are not marked", sheaf.Match{Text: "to undo the commit"}, "How to undo the commit.",
			"How to <undo> the <commit>."},
		{"but in phrases", sheaf.Phrase{Text: "to be"}, "Not to be.", "Not <to> <be>."},
		{"and when there is nothing else", sheaf.Match{Text: "to be"}, "Who are to be?", "Who are <to> <be>?"},
		{"one character", sheaf.Match{Text: "库"}, "数据库", "数据<库>"},
		{"parts of identifiers", sheaf.Match{Text: "user name"}, "call getUserName(x)", "call get<UserName>(x)"},
		{"the whole of a name before parts of others", sheaf.Match{Text: "192.168.0.1"},
			"ISBN 978-3-16-148410-0 and 1. " + filler + "Ping 192.168.0.1.", "…Ping <192.168.0.1>."},
		{"a character with its marks", sheaf.Match{Text: "น"}, "ที่น้ำตก", "ที่<น้ำ>ตก"},
		{"a character of a run that is composed otherwise", sheaf.Match{Text: "국"},
			"a \u1112\u1161\u11ab\u1100\u116e\u11a8 b", "a \u1112\u1161\u11ab<\u1100\u116e\u11a8> b"},
		{"a word of a run that is composed otherwise", sheaf.Match{Text: "ภาษา"}, "ที่น้ำภาษาน้ำ", "ที่น้ำ<ภาษา>น้ำ"},
		{"pieces of a run, one behind a vowel sign", sheaf.Match{Text: "កម្ពុជា"}, "នៅកម្ពុជា", "នៅ<កម្ពុជា>"},
		{"a picture", sheaf.Match{Text: "oryx"}, "See ![alt oryx](pic.png \"title kudu\") there.", "See alt <oryx> there."},
		{"the title of a picture", sheaf.Match{Text: "kudu"}, "See ![alt oryx](pic.png \"title kudu\") there.",
			"See ![alt oryx](pic.png \"title <kudu>\") there."},
		{"the file of a picture", sheaf.Match{Text: "kudu"}, "See ![alt oryx](kudu.png) there.",
			"See ![alt oryx](<kudu>.png) there."},
		{"the title of a link", sheaf.Match{Text: "kudu"}, "See [the oryx](a.md 'title kudu') there.",
			"See [the oryx](a.md 'title <kudu>') there."},
		{"the title of a link with a space", sheaf.Match{Text: "kudu"}, "See [x](<a b.md> \"kudu\") there.",
			"See [x](<a b.md> \"<kudu>\") there."},
		{"text and title", sheaf.Match{Text: "oryx kudu"}, "See ![alt oryx](pic.png \"title kudu\") there.",
			"See alt <oryx> there."},
		{"a picture in a link with a title", sheaf.Match{Text: "kob"},
			"See [![oryx](pic.png)](a.md \"a kob\") there.", "See [oryx](a.md \"a <kob>\") there."},
		{"a picture of two lines", sheaf.Match{Text: "oryx"},
			"![two\nlines oryx](pic.png) tail.", "two lines <oryx> tail."},
		{"brackets in a link", sheaf.Match{Text: "oryx"},
			"See [the [old] oryx](a.md) tail.", "See the [old] <oryx> tail."},
		{"a picture in a link", sheaf.Match{Text: "there"}, "See [![alt oryx](pic.png)](a.md) there.",
			"See alt oryx <there>."},
		{"a picture as data", sheaf.Match{Text: "port"}, "The port is grey. ![r](data:image/png;base64,iVBORw0KGgo=)",
			"The <port> is grey."},
		{"a word of a picture as data", sheaf.Match{Text: "router"},
			"Grey. ![the router](data:image/png;base64,iVBORw0KGgo=)", "Grey. the <router>"},
		{"a picture of HTML as data", sheaf.Match{Text: "port"}, "The port <img " +
			"src=\"data:image/png;base64,iVBORw0KGgo=\"> is grey.", "The <port> is grey."},
		{"a definition as data", sheaf.Match{Text: "port"}, "The port is grey.\n\n[r]: data:image/png;base64,iVBORw0KGgo=\n",
			"The <port> is grey."},
		{"no match", sheaf.Match{Text: "zebra"}, "  One.\n\nTwo.", "One. Two."},
		{"no query", nil, "One.", "One."},
		{"empty", sheaf.Match{Text: "zebra"}, "", ""},
		{"both words beat one word often", sheaf.Match{Text: "red fox"},
			"Red red red red. " + filler + "A red fox sleeps. " + filler, "…A <red> <fox> sleeps. Nothing of interest stands " +
				"here, and nobody reads on. Nothing of interest stands here, and nobody reads on. Nothing of interest stands " +
				"here, and nobody reads on. Nothing of interest…"},
		{"close beats far", sheaf.Match{Text: "red fox"},
			"A red house, and then after a good while a fox. " + filler + "The red fox. ", "…The <red> <fox>."},
		{"excluded words are not marked", sheaf.Bool{Must: []sheaf.TextQuery{sheaf.Match{Text: "red"}},
			MustNot: []sheaf.TextQuery{sheaf.Match{Text: "fox"}}}, "A red fox.", "A <red> fox."},
		{"prefix of several parts", sheaf.Prefix{Text: "rate-lim"}, "A rate-limiter of it.", "A <rate>-<limiter> of it."},
		{"prefix in a script without spaces", sheaf.Prefix{Text: "数据"}, "一个数据库", "一个<数据>库"},
		{"prefix", sheaf.Prefix{Text: "Conf"}, "The configuration of it.", "The <configuration> of it."},
		{"fuzzy", sheaf.Fuzzy{Text: "kitten", Distance: 1}, "A kittne sat.", "A <kittne> sat."},
		{"boosted", sheaf.Boost{Query: sheaf.Phrase{Text: "red fox"}, Factor: 2}, "A red fox.", "A <red> <fox>."},
		{"Chinese", sheaf.Match{Text: "数据库"}, "我们使用数据库来存储数据。", "我们使用<数据库>来存储<数据>。"},
		{"markdown", sheaf.Match{Text: "keys"},
			"## Setting up\n\n> **Note:** the [public keys](https://example.org/a_(b)) go to [[Vault|the vault]].\n\n- " +
				"first\n- second\n\n| a | b |\n|---|---|\n| c | keys |\n",
			"Setting up Note: the public <keys> go to the vault. first second a b c <keys>"},
		{"highlight that ends within a tag, in a comment", sheaf.Match{Text: "red"}, "%%red ==a <b x==>fox or%% z",
			"<red> a fox or z"},
		{"pictures in links, both by label", sheaf.Match{Text: "keys"}, "Keys [![on]][on] and [![off]][off].",
			"<Keys> [on] and [off]."},
		{"links whose text has brackets", sheaf.Match{Text: "keys"}, "Keys of [[1]](#one), [[a b]](x.md) and [[Ann]](boss)",
			"<Keys> of 1, a b and Ann(boss)"},
		{"wiki links", sheaf.Match{Text: "keys"}, "Keys of [[Vault]], [[People/Ann#Top\\|Ann]]'s, ![[key.png|300]], " +
			"[[a\n|b]] and [[a|b", "<Keys> of Vault, Ann's, <key>.png 300, a b and a b"},
		{"match inside the target of a wiki link stays", sheaf.Match{Text: "vault"}, "See [[My vault|here]].",
			"See My <vault> here."},
		{"but not beside others, either", sheaf.Match{Text: "vault"}, "See [[My vault|here]], the vault.",
			"See here, the <vault>."},
		{"identifiers of headings", sheaf.Match{Text: "keys"}, "## Set keys {#set-keys}\n\nA {#set} `{#b}`.\n\n> ### 键 " +
			"{/*keys*/} ##\n\n# {#x} y\n\nkeys {#z}\n", "Set <keys> A {#set} `{#b}`. 键 ## {#x} y <keys> {#z}"},
		{"match inside a target stays", sheaf.Match{Text: "example"}, "see [here](https://example.org/x)",
			"see [here](https://<example>.org/x)"},
		{"but not beside others", sheaf.Match{Text: "example"}, "an example: [here](https://example.org/x)",
			"an <example>: here"},
		{"links by reference", sheaf.Match{Text: "pool"}, "# pool [![Doc][doc-img]][doc] " +
			"[![CI](https://e.org/ci.svg)][ci]\n\nSee [all leaks][leaks], [the policy][], [more]\nof x[a][b], [1][2], " +
			"[3][a]int.\n\n[doc]: https://e.org/pool\n[pool]: <x.svg> \"Title\"\n[^1]: A note.\n[Ann]: so it is",
			"<pool> Doc CI See all leaks, the policy, [more] of x[a][b], [1][2], [3][a]int. A note. [Ann]: so it is"},
		{"labels are no text", sheaf.Match{Text: "leaks"}, "Finds [all leaks][leaks].\n\n[leaks]: https://e.org/leaks",
			"Finds all <leaks>."},
		{"match inside a definition stays", sheaf.Match{Text: "leaks"},
			"Finds [more][more].\n\n[more]: https://e.org/leaks\n", "Finds more. [more]: https://e.org/<leaks>"},
		{"fences", sheaf.Match{Text: "run"}, "Do:\n\n```sh\nrun it\n```\nDone.", "Do: <run> it Done."},
		{"HTML", sheaf.Match{Text: "red"}, "<a id=\"red\"></a><!-- red\nold -->A <b>red</b> `Vec<T>`<br/>fox <red>",
			"A <red> `Vec<T>` fox <<red>>"},
		{"a comment of HTML with the only match", sheaf.Match{Text: "red"}, "A fox.\n\n<!--\nof red\n-->\n",
			"A fox. <!-- of <red> -->"},
		{"text that is no Markdown", sheaf.Match{Text: "red"}, "the char**red fox", "the char<red> fox"},
		{"HTML ends lines", sheaf.Match{Text: "red"}, "<ul><li>A</li><li>red</li></ul>H<sub>2</sub>O<!-- x -->s",
			"A <red> H2Os"},
		{"character references", sheaf.Match{Text: "red"}, "R&amp;D&nbsp;&#8212;&#27;&#10;a &lt;red&gt; &semi; fox " +
			"&copyred; & &nosuch; `&lt;`", "R&D — a <<red>> ; fox &copyred; & &nosuch; `&lt;`"},
		{"headings", sheaf.Match{Text: "red"}, "##\n\n# \n\n#\tA\n\n#b ## c red\n###", "A #b ## c <red>"},
		{"escapes", sheaf.Match{Text: "max_size C#"}, "Set max\\_size in C\\# and \\_size. `d\\_e` \\\\max \\[a\\](b)",
			"Set <max_size> in <C#> and _<size>. `d\\_e` \\\\<max> [a](b)"},
		{"code spans stay", sheaf.Match{Text: "wordone"}, "**Put** a `<div>` tag wordone: `![](http://x)`, `<!-- c -->`, " +
			"``[[li`nk]]``, `**bold**`, `a|b` ` **here**",
			"Put a `<div>` tag <wordone>: `![](http://x)`, `<!-- c -->`, ``[[li`nk]]``, `**bold**`, `a|b` ` here"},
		{"words in code spans are matched", sheaf.Match{Text: "div"}, "A `<div>` tag, <div>gone</div>",
			"A `<<div>>` tag, gone"},
		{"code spans of lines", sheaf.Match{Text: "run"}, "A `a\n- **b**` run\n- **c**", "A `a - **b**` <run> c"},
		{"fenced code stays", sheaf.Match{Text: "run"}, "Do **it**:\n\n```md\n# **run** [a](b)\n- " +
			"<div>|</div>\n~~~\n```\n- **Done** <div>.", "Do it: # **<run>** [a](b) - <div>|</div> ~~~ Done ."},
		{"fenced code in a quote", sheaf.Match{Text: "run"}, "> ~~~\n> **run**\n> ~~~\n> **so**\n> ```\n> a|b\n\n**Done**",
			"**<run>** so a|b Done"},
		{"CRLF", sheaf.Match{Text: "run"}, "> ~~~\r\n> **run**\r\n> ~~~\r\n> **so**\r\n", "**<run>** so"},
		{"a lone backtick before fenced code", sheaf.Match{Text: "run"}, "A ` **b**\n```\n**run** `\n```\n**c**",
			"A ` b **<run>** ` c"},
		{"a code span of three backticks", sheaf.Match{Text: "run"}, "```**x**``` run", "```**x**``` <run>"},
		{"a beginning inside fenced code", sheaf.Match{Text: "run"}, "```\n" + filler + "\nrun **it** now.\n```\n**Done**",
			"<run> **it** now. Done"},
		{"tasks", sheaf.Match{Text: "red"}, "- [ ] A red\n- [x] fox\n2. [X] sees\n- [X](https://e.org)\n- [ ](b) [ ] x",
			"☐ A <red> ☑ fox ☑ sees X [ ] x"},
		{"marks", sheaf.Match{Text: "red"}, "A ==red== ==**fox** and== ==more; a == b, c==d==e, ===x===, `==y==` 这==高亮==的",
			"A <red> fox and ==more; a == b, c==d==e, ===x===, `==y==` 这高亮的"},
		{"comments", sheaf.Match{Text: "red"}, "%%gone%% A red %%of\n- two lines%% fox; %%a and %%b, " +
			"5%%x\n\n%%\ngone\n%%\n`%%x%%`", "A <red> fox; %%a and %%b, 5%%x `%%x%%`"},
		{"a match in a comment stays", sheaf.Match{Text: "red"}, "A %%red one%% fox %%gone%%.", "A <red> one fox ."},
		{"names of blocks", sheaf.Match{Text: "red"}, "A red. ^para-1\n\n- fox ^a1\n\n10 ^3\nx^a ^b c\n^red\n^end",
			"A <red>. fox 10 ^3 x^a ^b c ^<red>"},
		{"footnotes", sheaf.Match{Text: "red"}, "A red[^1] fox[^long note]. [^2]Of [^a-z]+, `[^1]`.\n\n[^1]: The " +
			"first.\n[^long note]: Is red.", "A <red> fox. Of [^a-z]+, `[^1]`. The first. Is <red>."},
		{"emphasis", sheaf.Match{Text: "red"}, "*It* is _very red_, ***so*** (*this*), *he said.* snake_case_word, 2*3*4, " +
			"a * b * c, /* x */, __init__, `*y*`\n", "It is very <red>, so (this), he said. snake_case_word, 2*3*4, " +
			"a * b * c, /* x */, __init__, `*y*`"},
		{"escaped signs", sheaf.Match{Text: "my_red"}, "my\\_red a\\<b\\> C\\# \\*x\\* D:\\x `c\\_d`\\\nend\n",
			"<my_red> a<b> C# *x* D:\\x `c\\_d` end"},
		{"callouts", sheaf.Match{Text: "red"}, "> [!warning]- A *red* title\n> > [!NOTE]\n> fox [!x] y\n\n[!tip] no\n",
			"A <red> title fox [!x] y [!tip] no"},
		{"marks and code", sheaf.Match{Text: "red"}, "A ==red `c== d`, ==a `==` b== ==c `d== e\nf` g",
			"A ==<red> `c== d`, a `==` b ==c `d== e f` g"},
		{"comments end in their paragraph", sheaf.Match{Text: "red"}, "A red %% of\n\n```\n**x** %% y\n```\n**Done** %% " +
			"it\n\n%%\n**so** %% on\n```\n%%\n```", "A <red> %% of **x** %% y Done %% it on %%"},
		{"comments of several paragraphs", sheaf.Match{Text: "red"}, "A red\n> %%\n> a\n> ```\n> **a**\n> %%\n\n**b**\n%% " +
			"c\n\nd %%\n**e**", "A <red> b e"},
		{"brackets of programs", sheaf.Match{Text: "red"}, "If [[ red == y || z ]] [[a|]] [[b[[c|d]]",
			"If <red> == y z a bd"},
		{"attributes of headings", sheaf.Match{Text: "keys"}, "## Set keys { #set-keys .a k=\"}\" }\n\nA { #set }.\n\n> " +
			"### 键 {: #keys } ##\n\n# x {-}\n\n# {#x .y} y\n", "Set <keys> A { #set }. 键 ## x {#x .y} y"},
		{"what is no identifier of a heading", sheaf.Match{Text: "red"}, "# Red {#if x}\n\n# Red {#}\n\n# Red {/*a " +
			"b*/}\n\n# Red {#a{b}\n\n", "<Red> {#if x} <Red> {#} <Red> {/*a b*/} <Red> {#a{b}"},
		{"words of paths", sheaf.Bool{Must: []sheaf.TextQuery{sheaf.Phrase{Text: "red", Field: sheaf.FieldPath},
			sheaf.Match{Text: "red*x", Field: sheaf.FieldPath}, sheaf.Match{Text: "fox"}}}, "A red fox", "A red <fox>"},
		{"controls", sheaf.Match{Text: "b"}, "a\x1b[31m\x00b", "a [31m <b>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := highlighter(t, c.query).Snippet(c.text, snippet.Width)
			check.Equal(t, marked(s), c.want, "marked")
		})
	}
}

func TestRareWordsTellMore(t *testing.T) {
	rarity := func(word string) float64 {
		return map[string]float64{"how": 0.1, "do": 0.1, "borrow": 5, "value": 2}[word]
	}
	h := highlighterFor(t, sheaf.Match{Text: "how do borrow value"}, rarity)
	text := "How we do it: how do others do a value. " + strings.Repeat("Nothing stands here. ", 30) + "You borrow."
	check.Equal(t, marked(h.Snippet(text, 60)), "…You <borrow>.", "marked")
	check.Equal(t, marked(h.Snippet("How do you borrow a value?", 60)), "How do you <borrow> a <value>?", "marked")
}

func TestSnippetOfRandomText(t *testing.T) {
	words := []string{"red", "fox", "foxes", "数据库", "getUserName", "[a](b)", "**", "\n\n", "# ", "\r", "ü", "|", "```\n",
		"\xff", "<!--", "-->", "]]", "[[", "`", "~~~", "\n> ", "\r\n",
		"==", "%%", "\n%%\n", " ^red", "[^red]", "[^1]: ", "\n> [!red]- ", "\n- [ ] ", " {#red}", "\n# ", "[[red|",
		"\n\n- [x] "}
	h := highlighter(t, sheaf.Match{Text: "red fox 数据 user"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 200).Draw(t, "words"),
			rapid.SampledFrom([]string{" ", ""}).Draw(t, "between"))
		width := rapid.IntRange(0, 300).Draw(t, "width")
		s := h.Snippet(text, width)
		must.That(t, utf8.ValidString(s.Text) && !strings.ContainsAny(s.Text, "\r\n\t"), "not one clean line: %q", s.Text)
		last := 0
		for _, m := range s.Matches {
			must.That(t, m.Start >= last && m.End > m.Start && m.End <= len(s.Text), "matches %v in %q", s.Matches, s.Text)
			hit := s.Text[m.Start:m.End]
			must.That(t, strings.ContainsAny(hit, "数据") || strings.Contains(hit, "red") || strings.Contains(hit, "fox") ||
				strings.Contains(hit, "User"), "%q is marked in %q", hit, s.Text)
			last = m.End
		}
		n := utf8.RuneCountInString(s.Text)
		must.That(t, n <= 2*max(width, 20)+40, "%d characters for width %d", n, width)
		must.That(t, s.At >= 0 && s.At <= len(text), "at %d of %d", s.At, len(text))
	})
}

// TestSnippetsDoNotChange checks that a snippet does not change while the highlighter cuts others.
func TestSnippetsDoNotChange(t *testing.T) {
	q := sheaf.Match{Text: "red fox"}
	var texts []string
	for i := range 300 {
		words := strings.Repeat(fmt.Sprintf("reds%c foxes%d red fox-%d. ", 'a'+i%26, i, i), 1+i%9)
		texts = append(texts, fmt.Sprintf("%d ", i)+words)
	}
	h := highlighter(t, q)
	var cut []snippet.Snippet
	for _, text := range texts {
		cut = append(cut, h.Snippet(text, snippet.Width))
	}
	for i, text := range texts {
		must.Equal(t, marked(cut[i]), marked(highlighter(t, q).Snippet(text, snippet.Width)), "snippet %d", i)
	}
}

func TestSnippetOfLongTextIsBounded(t *testing.T) {
	letters := strings.Join(strings.Split("abcdefghijklmnopqrstuvwxyz", ""), " ")
	for _, c := range []struct{ text, query, want string }{
		{strings.Repeat("All work and no play makes a dull text. ", 1<<18) + "Here stands the Zebra at last." +
			strings.Repeat(" More of it.", 1000), "zebras zebra", "<Zebra>"},
		{strings.Repeat(`{"search `, 250_000/9), "search", "<search>"},
		{strings.Repeat("# {.search .b} ", 250_000/15), "search", "<search>"},
		{strings.Repeat(`{"a":"b","c":[1,{"d":{"e":"f"}}],"x":"y"},`, 250_000/42), letters, "<e>"},
	} {
		h := highlighter(t, sheaf.Match{Text: c.query})
		var s snippet.Snippet
		took := time.Hour // the shortest of several, because other programs only add time
		for range 5 {
			start := time.Now()
			s = h.Snippet(c.text, snippet.Width)
			took = min(took, time.Since(start))
		}
		check.That(t, took <= time.Second, "took %v for %d bytes of %.40s", took, len(c.text), c.text)
		check.Contains(t, marked(s), c.want)
	}
}

func BenchmarkSnippet(b *testing.B) {
	paragraph := strings.Repeat("The quick brown fox jumps over the lazy dog while others look on and wonder. ", 8) +
		"\n\n"
	for _, c := range []struct {
		name string
		text string
	}{
		{"4KB", strings.Repeat(paragraph, 6)},
		{"10MB", strings.Repeat(paragraph, 16_000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			h := highlighter(b, sheaf.Match{Text: "lazy fox wonders"})
			for b.Loop() {
				h.Snippet(c.text, snippet.Width)
			}
		})
	}
}

func FuzzSnippet(f *testing.F) {
	f.Add("# A\n\n[x](y) **red** fox", "red fox", 40)
	f.Add("数据库 a\r\n> |b| ![i](t)", "数据", 20)
	f.Add("```\nred", "r*", 0)
	f.Add("> [!red]- ==a== %%b%% [[red|c]] [^1] ^red\n- [ ] x\n# y {#red}", "red", 30)
	f.Fuzz(func(t *testing.T, text, query string, width int) {
		width = min(max(width, 0), 1000)
		q := sheaf.Bool{Should: []sheaf.TextQuery{sheaf.Match{Text: query}, sheaf.Prefix{Text: query},
			sheaf.Fuzzy{Text: query, Distance: 2}}}
		s := highlighter(t, q).Snippet(text, width)
		last := 0
		for _, m := range s.Matches {
			must.That(t, m.Start >= last && m.End > m.Start && m.End <= len(s.Text), "matches %v in %q", s.Matches, s.Text)
			last = m.End
		}
		must.That(t, utf8.ValidString(s.Text), "not UTF-8: %q", s.Text)
	})
}
