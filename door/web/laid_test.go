package web_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestDocumentLaidOut: columns of tables run as the note says, a callout begins with its kind and
// title, a task has its box instead of a mark, and lists run as their text does. The policy finds nothing to forbid.
func TestDocumentLaidOut(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"note.md": "# Note\n\n| a | b | c |\n|:--|:-:|--:|\n| 1 | 2 | 3 |\n\n" +
		"> [!warning]- Take *care* here\n> It bites.\n>\n> Often.\n\n> [!NOTE]\n> Nothing else.\n\n> [!tip] Alone\n\n> " +
		"[no] callout\n\n" +
		"- [ ] to be done\n- [x] was done\n\n* פריט `code`\n\n> ציטוט\n\n- item\n"})
	step(t, ctx, "the note", chromedp.Navigate(s.URL), until(shown),
		do(`window.forbidden = 0; document.addEventListener("securitypolicyviolation", () => forbidden++); `+
			`history.pushState({}, "", "/?view=document&id=note.md"); dispatchEvent(new PopStateEvent("popstate"))`),
		until(`document.querySelector("article") && `+shown), shoot("laid-out"))
	step(t, ctx, "a table", until(`[...document.querySelectorAll("td")].map((e) => `+
		`getComputedStyle(e).textAlign).join() === "left,center,right"`), until(`forbidden === 0`))
	step(t, ctx, "callouts", until(`[...document.querySelectorAll("blockquote")].map((e) => [...e.children].map((p) => `+
		`p.textContent.trim()).join("|")).slice(0, 4).join() === "warning Take care here|It bites.|Often.,NOTE|Nothing `+
		`else.,tip Alone,[no] callout"`),
		until(`document.querySelector(".callout em").textContent === "care"`))
	step(t, ctx, "tasks", until(`[...document.querySelectorAll("li:has(input)")].map((e) => `+
		`getComputedStyle(e).listStyleType + " " + e.querySelector("input").ariaLabel).join() === "none to do,none done"`))
	step(t, ctx, "from right to left", until(`[...document.querySelectorAll("article ul")].map((e) => `+
		`getComputedStyle(e).direction).join() === "ltr,rtl,ltr" && `+
		`getComputedStyle([...document.querySelectorAll("blockquote")].at(-1)).borderRightStyle === "solid"`))
}

// TestDocumentLongParagraph: a paragraph of megabytes is laid out as one of its length is, not as its square, and
// has as many marks as others.
func TestDocumentLongParagraph(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"long.md": "# Long\n\n" + strings.Repeat("A walrus. ", 2100) + "\n",
		"he.md": "# ערך\n\n```\nA walrus.\n```\n"})
	step(t, ctx, "it", chromedp.Navigate(s.URL+"/?view=document&q=walrus&id=long.md"), until(shown),
		until(`document.querySelectorAll("article mark").length === 2000`),
		// which is what takes the time
		until(`getComputedStyle(document.querySelector("article p")).unicodeBidi !== "plaintext"`))
	step(t, ctx, "lines beside letters that run leftward", chromedp.Navigate(s.URL+"/?view=document&id=he.md"),
		until(shown), until(`getComputedStyle(document.querySelector("article pre")).unicodeBidi === "plaintext"`))
}

// TestDocumentMarksWords: what searches find is marked, and neither other words that begin so nor those that tell
// nothing. Where no spaces stand between words, only what was asked for is marked; accents, how letters are composed,
// their width and what else is one to searches do not count.
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
		return until(`[...document.querySelectorAll("article mark")].map((e) => e.textContent).join() === ` + quote(want) +
			` && ` + shown)
	}
	step(t, ctx, "Japanese", chromedp.Navigate(s.URL+"/?view=document&id=ja.md&q=京都+旅行"), marks("京都,旅行"))
	step(t, ctx, "a word between others without spaces", chromedp.Navigate(s.URL+"/?view=document&id=ja.md&q=docker"),
		marks("docker"))
	step(t, ctx, "Korean", chromedp.Navigate(s.URL+"/?view=document&id=ko.md&q=검색"), marks("검색"))
	for query, want := range map[string]string{"what is the commit": "commit,commits,committed,Commit",
		"RFC7231": "RFC,RFC7231", "comman*": "command", "comand~": "command", "what is": "What,is,what"} {
		step(t, ctx, query, chromedp.Navigate(s.URL+"/?"+
			url.Values{"view": {"document"}, "id": {"en.md"}, "q": {query}}.Encode()), marks(want))
	}
	step(t, ctx, "properties", chromedp.Navigate(s.URL+"/?"+
		url.Values{"view": {"document"}, "id": {"other.md"},
			"q": {`cafe [status:other OR resume] status:"in istanbul" -[status:other]`}}.Encode()),
		marks("caf\u00e9,cafe\u0301"))
	for query, want := range map[string]string{"cafe": "caf\u00e9,cafe\u0301", "caf\u00e9": "caf\u00e9,cafe\u0301",
		"CAFE\u0301": "caf\u00e9,cafe\u0301", "resume": "re\u0301sume\u0301", "strasse": "Straße", "αθηνα": "Αθήνα",
		"istanbul": "İstanbul", "мой": "мой", "مدرسة": "مَدْرَسَة", "שלום": "שָׁלוֹם", "हिन्दी": "हिन्दी", "ภาษา": "ภาษา",
		"한국": "\u1112\u1161\u11ab\u1100\u116e\u11a8"} {
		step(t, ctx, query, chromedp.Navigate(s.URL+"/?"+
			url.Values{"view": {"document"}, "id": {"other.md"}, "q": {query}}.Encode()), marks(want))
	}
	for query, want := range map[string]string{"abc": "ＡＢＣ", "final": "ﬁnal", "smorrebrod": "smørrebrød",
		"cooperate": "co\u00adoperate", "\u06a9تاب": "كـتاب", "سنه": "سنة", "2024": "٢٠٢٤", "2023": "२०२३", "ドッカー": "ﾄﾞｯｶｰ",
		"lodz":       "Łódź",
		"std::final": "ﬁnal", "ci": "CI", "the ci": "CI", "body:abc -title:lodz": "ＡＢＣ", `-"co operate" lodz`: "Łódź",
		"prop.final:abc in:lodz/": ""} {
		step(t, ctx, query, chromedp.Navigate(s.URL+"/?"+
			url.Values{"view": {"document"}, "id": {"forms.md"}, "q": {query}}.Encode()), marks(want))
	}
}

// TestPageLongHeadings: long headings hide neither the title of a passage nor, in the outline, what else there is.
func TestPageLongHeadings(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"long.md": "# " + strings.Repeat("A commit of a long title ", 60) +
		"\n\nA commit.\n\n## " + strings.Repeat("Another one that is long ", 60) + "\n\nText.\n\n### Walrus\n\nA walrus.\n"})
	for _, wide := range []int64{1300, 320} {
		step(t, ctx, "results", chromedp.EmulateViewport(wide, 900), chromedp.Navigate(s.URL+"/?q=walrus"),
			until(`document.querySelector("#result-0") && `+shown), shoot("long-headings"),
			until(`(() => { const h = document.querySelector("#result-0 h2"), r = document.createRange(); `+
				`r.selectNode(h.querySelector("a").lastChild); return r.toString() === "Walrus" && `+
				`r.getBoundingClientRect().bottom <= h.getBoundingClientRect().bottom + 3; })()`))
	}
	step(t, ctx, "the outline", chromedp.EmulateViewport(1300, 900), chromedp.Navigate(s.URL+"/?view=document&id=long.md"),
		until(`document.querySelector(".outline a") && `+shown),
		until(`[...document.querySelectorAll(".outline a")].every((e) => e.clientHeight < 120)`),
		until(`document.querySelector(".outline").scrollTop === 0`))
}

// TestLabNames: a result in the lab is called what is seen of it, and then its whole name.
func TestLabNames(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"long.md": "# A commit of a long title that is cut somewhere\n\nA commit.\n\n## " +
		"Another one that is long enough\n\nA commit.\n", "b.md": "# B\n\nA commit.\n"})
	step(t, ctx, "names", chromedp.Navigate(s.URL+"/?view=lab&q=commit"),
		until(`document.querySelector("svg.lab [role=button]") && `+shown),
		until(`[...document.querySelectorAll("svg.lab [role=button]")].every((e) => `+
			`e.getAttribute("aria-label").startsWith(e.querySelector("text").textContent))`),
		until(`[...document.querySelectorAll("svg.lab [role=button]")].map((e) => `+
			`e.getAttribute("aria-label").replace(/[\u2068\u2069]/g, "")).some((name) => /^\d\. A commit.*….*: A commit of a `+
			`long title that is cut somewhere.*, score /.test(name))`),
		until(`[...document.querySelectorAll("svg.lab [role=button]")].map((e) => `+
			`e.getAttribute("aria-label").replace(/[\u2068\u2069]/g, "")).some((name) => /^\d\. B, score /.test(name))`))
}

// TestLabPinnedGone: where numbers lose the result that is kept, the lab says so and offers to say why.
func TestLabPinnedGone(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"a.md": "# A\n\nA commit.\n", "b.md": "# B\n\nNothing of it.\n"})
	step(t, ctx, "gone", chromedp.Navigate(s.URL+"/?view=lab&q=%2Bcommit&pin=notes:b.md"),
		until(`document.querySelector("[aria-label=Arithmetic]")?.textContent.includes("It is not among the results. `+
			`Why not?") && `+shown),
		chromedp.Click("[aria-label=Arithmetic] button", chromedp.ByQuery),
		until(`document.querySelector("[aria-label=Arithmetic] ul") && document.querySelector(".lab-bar input").value === `+
			`"notes:b.md" && document.activeElement === document.querySelector(".lab-bar input") && `+
			`location.search.includes("not=") && !location.search.includes("pin=")`))
}
