package web_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store/storetest"
)

// TestObsidianSyntax checks how the page shows the additions of Obsidian to Markdown. Text that only looks
// like them stays text.
func TestObsidianSyntax(t *testing.T) {
	for _, c := range []struct{ name, note, want string }{
		{"marks", "This is ==highlighted *text*== here.", `<p>This is <span class="highlight">highlighted ` +
			`<em>text</em></span> here.</p>`},
		{"marks in a script without spaces", "这是==高亮==文字", `<p>这是<span class="highlight">高亮</span>文字</p>`},
		{"no marks", "a == b == c, a==b and c==d, ===x===, `==y==`", "<p>a == b == c, a==b and c==d, ===x===, " +
			"<code>==y==</code></p>"},
		{"comments", "%%secret%% Seen, %%of\ntwo lines%% too.", `<p><span class="comment">%%secret%%</span> Seen, <span ` +
			`class="comment">%%of` + "\n" + `two lines%%</span> too.</p>`},
		{"no comments", "Use %%a and %%b, 5%%x, `%%x%%`", "<p>Use %%a and %%b, 5%%x, <code>%%x%%</code></p>"},
		{"a link whose text has brackets", "[[1]](https://example.org/x) [[Ann]](boss)",
			`<p><a href="https://example.org/x" rel="noreferrer noopener" target="_blank">[1]</a> <a ` +
				`href="#">Ann</a>(boss)</p>`},
		{"addresses of other programs", "[plugin](obsidian://show-plugin?id=maps) <obsidian://open?vault=a%20b&file=c> " +
			"<a@example.org> [b](mailto:b@example.org) [c](zotero://1) <zotero://1> [d](HTTPS://x.org) [e](javascript:alert)",
			`<p><a href="obsidian://show-plugin?id=maps">plugin</a> <a ` +
				`href="obsidian://open?vault=a%20b&amp;file=c">obsidian://open?vault=a%20b&amp;file=c</a> <a ` +
				`href="mailto:a@example.org">a@example.org</a> <a href="mailto:b@example.org">b</a> <a href="#">c</a> ` +
				`zotero://1 <a href="HTTPS://x.org" rel="noreferrer noopener" target="_blank">d</a> <a href="#">e</a></p>`},
		{"comments of many paragraphs", "One.\n\n%%\n# A <b>\n\n- [[x]]\n%%\n\nTwo.", "<p>One.</p>\n" +
			`<div class="comment">%%` + "\n# A &lt;b&gt;\n\n- [[x]]\n%%\n</div>\n<p>Two.</p>"},
		{"a comment that does not end", "%%\n\nOne.\n\n%%x", "<p>%%</p>\n<p>One.</p>\n<p>%%x</p>"},
		{"names of blocks", "A paragraph. ^para-1\n\n- item ^a1\n\n> quote\n\n^quote-1", "<p>A paragraph. </p>\n<ul " +
			"dir=\"auto\">\n<li>item </li>\n</ul>\n<blockquote dir=\"auto\"><p>quote</p>\n</blockquote>\n<p></p>"},
		{"no names of blocks", "10 ^3\n\nx^a ^b c `^d`\n\nPress ^C\nto stop.", "<p>10 ^3</p>\n<p>x^a ^b c " +
			"<code>^d</code></p>\n<p>Press ^C\nto stop.</p>"},
		{"footnotes", "One[^1], two[^long note].\n\n[^1]: The *first*.\n[^long note]: https://example.org\n\n    More." +
			"\n\nText.",
			"<p>One" + footnoteMark("1", "1") + ", two" + footnoteMark("long%20note", "long note") + ".</p>\n" +
				footnote("1", "1", "<p>The <em>first</em>.</p>") + footnote("long%20note", "long note",
				`<p><a href="https://example.org" rel="noreferrer noopener" target="_blank">https://example.org</a></p>`,
				"<p>More.</p>") + "<p>Text.</p>"},
		{"a footnote of hostile name", "x[^\"><b>]\n\n[^\"><b>]: y",
			"<p>x" + footnoteMark("%22%3E%3Cb%3E", "&quot;&gt;&lt;b&gt;") + "</p>\n" +
				footnote("%22%3E%3Cb%3E", "&quot;&gt;&lt;b&gt;", "<p>y</p>")},
		{"a footnote to which nothing leads", "[^<b>]: y",
			`<div class="footnote" id="note:%3Cb%3E" role="note" tabindex="-1"><span>&lt;b&gt;</span>` + "\n<p>y</p>\n</div>"},
		{"footnotes in a link", "[see *a[^1]* and ![b[^2]](c.png)[^2]](https://example.org).\n\n[^1]: y\n[^2]: z",
			`<p><a href="https://example.org" rel="noreferrer noopener" target="_blank">see <em>a</em> and <span ` +
				`class="image">b</span></a>` + footnoteMark("1", "1") + footnoteMark("2", "2") +
				strings.Replace(footnoteMark("2", "2"), ` id="ref:2"`, "", 1) + ".</p>\n" +
				footnote("1", "1", "<p>y</p>") + footnote("2", "2", "<p>z</p>")},
		{"no footnotes", "A [^1] and [^a-z]+.", "<p>A [^1] and [^a-z]+.</p>"},
		{"formulas", `So $a_1*b*c\,d$ and $$x \\ y$$.`, `<p>So <code class="math">$a_1*b*c\,d$</code> and <code ` +
			`class="math">$$x \\ y$$</code>.</p>`},
		{"formulas of many lines", "Text\n$$\n\\begin{matrix} a \\\\\n- b\n\n= c\n$$\nbehind", "<p>Text</p>\n<pre " +
			"class=\"math\">$$\n\\begin{matrix} a \\\\\n- b\n\n= c\n$$\n</pre>\n<p>behind</p>"},
		{"no formulas", `It costs $5 or $6, US$7, $HOME/*a*/$PATH, ${x}:${y}, \$a\$`, `<p>It costs $5 or $6, US$7, ` +
			`$HOME/<em>a</em>/$PATH, ${x}:${y}, $a$</p>`},
		{"tasks", "- [ ] open\n- [x] done\n- [X](https://example.org)", "<ul dir=\"auto\">\n<li><input disabled=\"\" " +
			"type=\"checkbox\"> open</li>\n<li><input checked=\"\" disabled=\"\" type=\"checkbox\"> done</li>\n<li><a " +
			"href=\"https://example.org\" rel=\"noreferrer noopener\" target=\"_blank\">X</a></li>\n</ul>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := served(t, map[string]string{"near.md": c.note + "\n"})
			_, body := fetch(t, s.URL+"/ui/document?id=near.md")
			var got struct{ HTML string }
			err := json.Unmarshal([]byte(body), &got)
			check.That(t, err == nil && strings.TrimSpace(got.HTML) == strings.TrimSpace(c.want), "%v\ngot  %s\nwant %s", err,
				got.HTML, c.want)
		})
	}
}

// footnoteMark returns the HTML of the mark of a footnote in a text. id is the name of the footnote in an address, and
// label is its name as HTML.
func footnoteMark(id, label string) string {
	return fmt.Sprintf(`<sup><a class="footnote" id="ref:%s" href="#note:%s" role="doc-noteref" `+
		`aria-label="footnote %s">%s</a></sup>`, id, id, label, label)
}

// footnote returns the HTML of a footnote with these paragraphs.
func footnote(id, label string, paragraphs ...string) string {
	return fmt.Sprintf(`<div class="footnote" id="note:%s" role="note" tabindex="-1"><a class="footnote" `+
		`href="#ref:%s" role="doc-backlink" aria-label="back from footnote %s">%s</a>`+"\n%s\n</div>\n", id, id, label, label,
		strings.Join(paragraphs, "\n"))
}

// TestUnclosedSignsAreBounded checks that many opening signs without an end render in at most 5 seconds of
// processor time.
func TestUnclosedSignsAreBounded(t *testing.T) {
	must.Whole(t, "megabytes of text")
	for _, sign := range []string{"==a ", "%%a ", "$a ", "$$a ", "[^a] ", " ^a", "\n%%", "\n$$", "\n[^a]: ", "[^1]: - ",
		"==a==", "\n\n%%a", "\n\n$$a"} {
		s := served(t, map[string]string{"near.md": "x " + strings.Repeat(sign, 200_000/len(sign)) + "\n\n[^a]: b\n"})
		began := storetest.CPU()
		r, _ := fetch(t, s.URL+"/ui/document?id=near.md")
		took := storetest.CPU() - began
		check.That(t, r.StatusCode == 200 && took <= 5*time.Second, "%q: %s after %v of a processor", sign, r.Status, took)
	}
}

// TestPageFootnotesAndComments checks that a footnote leads to its definition and back without changing the
// address. A comment is visible only when it contains a word of the query.
func TestPageFootnotesAndComments(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"near.md": "# Near\n\nA zebra ==walks a zebra== by[^1]. %%secret " +
		"fox%% ^id\n\n^only\n\n" + strings.Repeat("Line.\n\n", 100) + "[^1]: So it is.\n\n## Last\n"})
	at := func(q string) string {
		return s.URL + "/?" + url.Values{"view": {"document"}, "id": {"notes:near.md"}, "q": {q}}.Encode()
	}
	const seen = `$("article .comment").checkVisibility()`
	var before, down, up, marks, again string
	var shown, found, empty bool
	run := func(actions ...chromedp.Action) {
		t.Helper()
		must.Do(t, chromedp.Run(ctx, actions...))
	}
	run(chromedp.Navigate(at("zebra")), visible("article mark"), chromedp.Evaluate(seen, &shown),
		chromedp.Evaluate(`$$("article p:empty, article p:not(:has(*))").some((p) => !p.textContent.trim() && `+
			`p.checkVisibility())`,
			&empty), chromedp.Evaluate(`$$("article mark").map((m) => m.textContent).join()`, &marks),
		chromedp.Location(&before),
		click("sup a.footnote"), until(`document.activeElement.id === "note:1" && scrollY > 500`),
		chromedp.Evaluate(`String(scrollY > 500)+" "+document.activeElement.id+" "+location.href`, &down),
		click("div.footnote > a.footnote"), until(`document.activeElement.id === "ref:1" && scrollY <= 500`),
		chromedp.Evaluate(`String(scrollY > 500)+" "+document.activeElement.id+" "+location.href`, &up),
		chromedp.Navigate(at("fox")), visible("article mark"), chromedp.Evaluate(seen, &found),
		chromedp.Evaluate(`$("article mark").textContent`, &again))
	check.That(t, !shown && !empty && marks == "zebra,zebra" && down == "true note:1 "+before &&
		up == "false ref:1 "+before && found && again == "fox", "%v",
		fmt.Sprint(shown, empty, marks, "; ", down, "; ", up, "; ", found, again))
}

// TestDocumentLayout checks table alignment, callouts with kind and title, task boxes instead of
// list markers, and the direction of lists. The content policy blocks nothing.
func TestDocumentLayout(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"note.md": "# Note\n\n| a | b | c |\n|:--|:-:|--:|\n| 1 | 2 | 3 |\n\n" +
		"> [!warning]- Take *care* here\n> It bites.\n>\n> Often.\n\n> [!NOTE]\n> Nothing else.\n\n> [!tip] Alone\n\n> " +
		"[no] callout\n\n" +
		"- [ ] to be done\n- [x] was done\n\n* פריט `code`\n\n> ציטוט\n\n- item\n"})
	step(t, ctx, "the note", visit(s, ""), until(shown), do(`window.forbidden = 0; `+
		`document.addEventListener("securitypolicyviolation", () => forbidden++); history.pushState({}, "", `+
		`"/?view=document&id=note.md"); dispatchEvent(new PopStateEvent("popstate"))`), until(`$("article") && shown()`),
		shoot("laid-out"))
	step(t, ctx, "a table", until(`$$("td").map((e) => getComputedStyle(e).textAlign).join() === "left,center,right"`),
		until(`forbidden === 0`))
	step(t, ctx, "callouts", until(`$$("blockquote").map((e) => [...e.children].map((p) => `+
		`p.textContent.trim()).join("|")).slice(0, 4).join() === "warning Take care here|It bites.|Often.,NOTE|Nothing `+
		`else.,tip Alone,[no] callout"`), until(`$(".callout em").textContent === "care"`))
	step(t, ctx, "tasks", until(`$$("li:has(input)").map((e) => getComputedStyle(e).listStyleType + " " + `+
		`e.querySelector("input").ariaLabel).join() === "none to do,none done"`))
	step(t, ctx, "from right to left", until(`$$("article ul").map((e) => getComputedStyle(e).direction).join() === `+
		`"ltr,rtl,ltr" && getComputedStyle($$("blockquote").at(-1)).borderRightStyle === "solid"`))
}

// TestDocumentLongParagraph checks that a long paragraph gets the usual number of marks. It must
// not use unicode-bidi: plaintext, which takes quadratic time.
func TestDocumentLongParagraph(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"long.md": "# Long\n\n" + strings.Repeat("A walrus. ", 2100) + "\n",
		"he.md": "# ערך\n\n```\nA walrus.\n```\n"})
	step(t, ctx, "it", visit(s, "/?view=document&q=walrus&id=long.md"), until(shown),
		until(`$$("article mark").length === 2000`),
		// unicode-bidi: plaintext takes quadratic time
		until(`getComputedStyle($("article p")).unicodeBidi !== "plaintext"`))
	step(t, ctx, "lines beside letters that run leftward", visit(s, "/?view=document&id=he.md"), until(shown),
		until(`getComputedStyle($("article pre")).unicodeBidi === "plaintext"`))
}

// TestDocumentMarksWords checks that a document marks what the search matches, and neither words
// with the same beginning nor function words. In scripts without spaces it marks only the words of
// the query. Accents, composition and width of letters do not matter.
func TestDocumentMarksWords(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"ja.md": "# 旅\n\n京都への旅行について書きます。\n\n使用docker容器\n", "ko.md": "# 여행\n\n검색을 하다\n",
		"other.md": "---\nstatus: in istanbul\n---\n# Other\n\nThe caf\u00e9 and cafe\u0301, re\u0301sume\u0301. Straße, " +
			"Αθήνα, İstanbul, мой мои. مَدْرَسَة שָׁלוֹם हिन्दी में हाँ ภาษาไทย " +
			"\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165\n",
		"en.md": "# The commit\n\nThen the commits were committed: a common command, with a comment. What " +
			"getCommit(RFC7230) does is not what the RFC7231 says.\n",
		"forms.md": "# Forms\n\nＡＢＣ CI cited ﬁnal smørrebrød co\u00adoperate كـتاب سنة ٢٠٢٤ वर्ष २०२३ ﾄﾞｯｶｰ Łódź\n"})
	marks := func(want string) chromedp.Action {
		return until(`$$("article mark").map((e) => e.textContent).join() === ` + quote(want) + ` && shown()`)
	}
	step(t, ctx, "Japanese", visit(s, "/?view=document&id=ja.md&q=京都+旅行"), marks("京都,旅行"))
	step(t, ctx, "a word between others without spaces", visit(s, "/?view=document&id=ja.md&q=docker"), marks("docker"))
	step(t, ctx, "Korean", visit(s, "/?view=document&id=ko.md&q=검색"), marks("검색"))
	for query, want := range map[string]string{"what is the commit": "commit,commits,committed,Commit",
		"RFC7231": "RFC,RFC7231", "comman*": "command", "comand~": "command", "what is": "What,is,what"} {
		step(t, ctx, query, visit(s, "/?"+url.Values{"view": {"document"}, "id": {"en.md"}, "q": {query}}.Encode()),
			marks(want))
	}
	step(t, ctx, "properties", visit(s, "/?"+url.Values{"view": {"document"}, "id": {"other.md"},
		"q": {`cafe [status:other OR resume] status:"in istanbul" -[status:other]`}}.Encode()), marks("caf\u00e9,cafe\u0301"))
	for query, want := range map[string]string{"cafe": "caf\u00e9,cafe\u0301", "caf\u00e9": "caf\u00e9,cafe\u0301",
		"CAFE\u0301": "caf\u00e9,cafe\u0301", "resume": "re\u0301sume\u0301", "strasse": "Straße", "αθηνα": "Αθήνα",
		"istanbul": "İstanbul", "мой": "мой", "مدرسة": "مَدْرَسَة", "שלום": "שָׁלוֹם", "हिन्दी": "हिन्दी", "ภาษา": "ภาษา",
		"한국": "\u1112\u1161\u11ab\u1100\u116e\u11a8"} {
		step(t, ctx, query, visit(s, "/?"+url.Values{"view": {"document"}, "id": {"other.md"}, "q": {query}}.Encode()),
			marks(want))
	}
	for query, want := range map[string]string{"abc": "ＡＢＣ", "final": "ﬁnal", "smorrebrod": "smørrebrød",
		"cooperate": "co\u00adoperate", "\u06a9تاب": "كـتاب", "سنه": "سنة", "2024": "٢٠٢٤", "2023": "२०२३", "ドッカー": "ﾄﾞｯｶｰ",
		"lodz":       "Łódź",
		"std::final": "ﬁnal", "ci": "CI", "the ci": "CI", "body:abc -title:lodz": "ＡＢＣ", `-"co operate" lodz`: "Łódź",
		"prop.final:abc in:lodz/": ""} {
		step(t, ctx, query, visit(s, "/?"+url.Values{"view": {"document"}, "id": {"forms.md"}, "q": {query}}.Encode()),
			marks(want))
	}
}

// TestPageLongHeadings checks that long headings hide neither the passage title nor other entries of the outline.
func TestPageLongHeadings(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"long.md": "# " + strings.Repeat("A commit of a long title ", 60) +
		"\n\nA commit.\n\n## " + strings.Repeat("Another one that is long ", 60) + "\n\nText.\n\n### Walrus\n\nA walrus.\n"})
	for _, wide := range []int64{1300, 320} {
		step(t, ctx, "results", chromedp.EmulateViewport(wide, 900), visit(s, "/?q=walrus"),
			until(`$("#result-0") && shown()`), shoot("long-headings"), until(`(() => { const h = $("#result-0 h2"), r = `+
				`document.createRange(); r.selectNode(h.querySelector("a").lastChild); return r.toString() === "Walrus" && `+
				`r.getBoundingClientRect().bottom <= h.getBoundingClientRect().bottom + 3; })()`))
	}
	step(t, ctx, "the outline", chromedp.EmulateViewport(1300, 900), visit(s, "/?view=document&id=long.md"),
		until(`$(".outline a") && shown()`), until(`$$(".outline a").every((e) => e.clientHeight < 120)`),
		until(`$(".outline").scrollTop === 0`))
}

// TestLabNames checks that the accessible name of a lab result begins with its visible label, then has the full name.
func TestLabNames(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"long.md": "# A commit of a long title that is cut somewhere\n\nA commit.\n\n## " +
		"Another one that is long enough\n\nA commit.\n", "b.md": "# B\n\nA commit.\n"})
	step(t, ctx, "names", visit(s, "/?view=lab&q=commit"), until(`$("svg.lab [role=button]") && shown()`),
		until(`$$("svg.lab [role=button]").every((e) => `+
			`e.getAttribute("aria-label").startsWith(e.querySelector("text").textContent))`),
		until(`$$("svg.lab [role=button]").map((e) => e.getAttribute("aria-label").replace(/[\u2068\u2069]/g, `+
			`"")).some((name) => /^\d\. A commit.*….*: A commit of a long title that is cut somewhere.*, score /.test(name))`),
		until(`$$("svg.lab [role=button]").map((e) => e.getAttribute("aria-label").replace(/[\u2068\u2069]/g, `+
			`"")).some((name) => /^\d\. B, score /.test(name))`))
}

// TestLabPinnedResultLeavesRanking checks that the lab reports a pinned result that left the ranking, and offers to
// explain why.
func TestLabPinnedResultLeavesRanking(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"a.md": "# A\n\nA commit.\n", "b.md": "# B\n\nNothing of it.\n"})
	step(t, ctx, "gone", visit(s, "/?view=lab&q=%2Bcommit&pin=notes:b.md"),
		until(`$("[aria-label=Arithmetic]")?.textContent.includes("It is not among the results. Why not?") && shown()`),
		click("[aria-label=Arithmetic] button"), until(`$("[aria-label=Arithmetic] ul") && $(".lab-bar input").value === `+
			`"notes:b.md" && document.activeElement === $(".lab-bar input") && location.search.includes("not=") && `+
			`!location.search.includes("pin=")`))
}

// TestPageOutline checks that the outline of a long document marks the section in view and scrolls
// to it. Focus, address and history do not change. A requested section is marked even if the end of
// the page keeps it from the top.
func TestPageOutline(t *testing.T) {
	ctx := browser(t)
	var long strings.Builder
	long.WriteString("# Long\n\n" + strings.Repeat("A commit. ", 80) + "\n\n")
	for i := range 82 {
		fmt.Fprintf(&long, "## Section %d\n\n%s\n\n", i, strings.Repeat("Words of a section. ", 25+i%4*10))
	}
	s := served(t, map[string]string{"long.md": long.String(), "short.md": "# Short\n\nA commit.\n\n## " +
		"Next\n\nMore.\n",
		"untitled.md": strings.Repeat("A [commit](short.md).\n\n", 60) + "## Last\n\nOf all.\n"})
	marked := func(title string) chromedp.Action {
		return until(`(() => {
			const all = $$(".outline [aria-current]"), at = all[0]?.getBoundingClientRect();
			const box = $(".outline").getBoundingClientRect();
			return all.length === 1 && all[0].textContent === ` + quote(title) + `
				&& at.top >= box.top && at.bottom <= box.bottom + 1;
		})()`)
	}
	scroll := func(section int) chromedp.Action {
		return do(fmt.Sprintf(`$("[data-id='notes:long.md#section-%d']").scrollIntoView()`, section))
	}
	const same = `location.search === was.search && history.length === was.length && document.activeElement === ` +
		`was.focus && performance.getEntriesByType("resource").length === was.asked`

	step(t, ctx, "the top", visit(s, "/?view=document&id=long.md"),
		until(`$$(".outline > ul a").length === 83 && shown()`), marked("Long"))
	step(t, ctx, "what must stay", do(`$(".facts button").focus(); window.was = {search: location.search, length: `+
		`history.length, focus: document.activeElement, asked: performance.getEntriesByType("resource").length}`))
	for _, section := range []int{40, 41, 20, 70, 0} {
		step(t, ctx, fmt.Sprint("scroll to ", section), scroll(section), marked(fmt.Sprint("Section ", section)), until(same))
	}
	step(t, ctx, "the end", do(`scrollTo(0, 1e9)`), marked("Section 81"), shoot("outline-end"), do(`scrollTo(0, 0)`),
		marked("Long"), until(same))
	step(t, ctx, "every section is met", do(`(async () => {
		const met = new Set(), frame = () => new Promise(requestAnimationFrame);
		const longest = document.documentElement.scrollHeight - innerHeight;
		for (let y = 0; y <= longest + 100; y += 100) {
			scrollTo(0, y);
			await frame(); await frame();
			met.add($(".outline [aria-current]").textContent);
		}
		window.met = met.size;
	})(); 0`), until(`window.met === 83`), until(same))

	step(t, ctx, "an entry, near the end", scroll(81), marked("Section 81"), do(`window.entry = $$(".outline > ul `+
		`a").find((a) => a.textContent === "Section 80"); window.height = entry.getBoundingClientRect().top; entry.click()`),
		until(`location.search.includes("section-80") && shown()`), marked("Section 80"), until(`entry.isConnected`),
		until(`location.search.includes("section-80") && document.activeElement.textContent === "Section 80"`),
		until(`Math.abs($(".outline [aria-current]").getBoundingClientRect().top - height) < 2`), shoot("outline-asked"))
	step(t, ctx, "it stays so", visit(s, "/?view=document&id="+url.QueryEscape("long.md#section-80")),
		until(`$(".hit") && shown()`), do(`window.frames = 0, (function next() { if (++frames < 10) `+
			`requestAnimationFrame(next); })(), 0`), until(`frames >= 10`), marked("Section 80"))
	step(t, ctx, "until it is scrolled", do(`scrollBy(0, -2500)`),
		until(`!/Section (7[6-9]|8)/.test($(".outline [aria-current]").textContent)`))
	step(t, ctx, "an address", visit(s, "/?view=document&id="+url.QueryEscape("long.md#section-50")),
		until(`$(".hit") && shown()`), marked("Section 50"), shoot("outline"))
	step(t, ctx, "all in view", visit(s, "/?view=document&id=short.md"),
		until(`$$(".outline > ul a").length === 2 && shown()`), marked("Short"))
	step(t, ctx, "a note without a title", visit(s, "/?view=document&id=untitled.md"),
		until(`$$(".outline > ul a").length === 2 && shown()`), click(".facts button"), until(`$(".facts h2")`),
		do(`$(".outline details").open = true; $$(".outline > ul a").at(-1).click()`),
		until(`scrollY > 100 && $(".hit") && shown()`), until(`$(".facts h2") && $(".outline details").open`))
	step(t, ctx, "its top", do(`$(".outline > ul a").click()`),
		until(`scrollY === 0 && !$(".hit") && !location.search.includes("last") && shown()`), marked("untitled"))
	step(t, ctx, "another view", do(`$('nav a[data-view=search]').click()`),
		until(`document.body.dataset.view === "search" && shown()`),
		do(`dispatchEvent(new Event("scroll")); dispatchEvent(new Event("resize"))`))
}

// TestPageLinkOpensDocumentAtTop checks that a link beside a long, scrolled document opens another one at
// its top. A tag leads to the documents with this tag.
func TestPageLinkOpensDocumentAtTop(t *testing.T) {
	ctx := browser(t)
	long := strings.Repeat("Words.\n\n", 100)
	s := served(t, map[string]string{"a.md": "---\ntags: [\"two words\", other]\n---\n# A\n\nTo [b](b.md).\n\n" + long,
		"b.md": "# B\n\n" + long})
	read := do(`scrollTo(0, 2000); $(".outline details").open = true`)
	step(t, ctx, "read", visit(s, "/?view=document&id=a.md"), until(`$("article h1")?.textContent === "A" && shown()`),
		read, until(`scrollY === 2000`))
	step(t, ctx, "another one", click(".outline details a"), until(`$("article h1")?.textContent === "B" && shown()`),
		until(`scrollY === 0`))
	step(t, ctx, "back", chromedp.NavigateBack(), until(`$("article h1")?.textContent === "A" && shown()`),
		until(`scrollY === 2000`))
	step(t, ctx, "a tag", click(".facts dd a"), until(`$$("#results > li").length === 1 && shown()`),
		until(`new URLSearchParams(location.search).get("filter") === 'tag:"two words"' && scrollY === 0`))
}

// TestDocumentManyTags checks that a button folds most of 200 tags, aliases and values away.
func TestDocumentManyTags(t *testing.T) {
	ctx := browser(t)
	list := func(name string) string {
		all := make([]string, 200)
		for i := range all {
			all[i] = fmt.Sprint(name, i)
		}
		return strings.Join(all, ", ")
	}
	s := served(t, map[string]string{"many.md": "---\ntags: [" + list("tag") + "]\naliases: [" + list("alias") +
		"]\nseen: [" + list("place") + "]\n---\n# Many\n\nText.\n"})
	step(t, ctx, "it", visit(s, "/?view=document&id=many.md"), until(shown),
		until(`$(".outline > ul a").getBoundingClientRect().bottom < 700`), shoot("many-tags"), until(`$$(".facts dd `+
			`button").map((e) => e.textContent).join() === "188 more,188 more,188 more" && $$(".facts dd a").filter((e) => `+
			`e.checkVisibility()).length === 12`))
	step(t, ctx, "the others", click(".facts dd button"), until(`$$(".facts dd a").filter((e) => `+
		`e.checkVisibility()).length === 200 && document.activeElement.textContent === "#tag12"`),
		do(`$$(".facts dd button")[0].click()`), until(`$(".facts").textContent.includes("alias11, alias12")`),
		until(`$$(".facts dd button").length === 1`))
}
