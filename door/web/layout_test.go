package web_test

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sheaf/collection/collectiontest"
	"sheaf/internal/check"
)

// reach lists accessibility faults: small controls without free space around them (WCAG 2.2), skipped heading levels,
// and a missing h1.
//
//go:embed testdata/reach.js
var reach string

// TestPageAccessibility checks the page for screen readers, keyboards and magnification by four.
func TestPageAccessibility(t *testing.T) {
	ctx, s := browsed(t)
	pin := chromedp.Tasks{until(`$$(".judge li").length > 2`),
		do(`$("svg.lab [role=button]").dispatchEvent(new MouseEvent("click", {bubbles: true}))`), until(`$(".why")`)}
	for _, width := range []int64{1280, 640, 320} {
		for _, view := range []struct {
			name, address string
			ready         chromedp.Action
		}{
			{"nothing asked", "/", until(`$(".empty")`)},
			{"results", "/?q=undo+commit&filter=ext:md",
				chromedp.Tasks{until(`$("#result-0")`),
					do(`for (const d of $$("aside details")) d.open = true`),
					click("#result-0 button.score"), until(`$(".why")`)}},
			{"document", "/?view=document&id=git.md",
				chromedp.Tasks{click(".facts button"), until(`$(".facts h2")`)}},
			{"plain text", "/?view=document&id=plain.txt", until(`$("article pre")`)},
			{"lab", "/?view=lab&q=commit", pin},
			{"status", "/?view=status", until(`$("main table")`)},
		} {
			var found []string
			var tree accessible
			step(t, ctx, view.name, screen(width, 800, 1, false),
				visit(s, view.address), until(shown), view.ready, chromedp.Evaluate(reach, &found),
				chromedp.ActionFunc(func(ctx context.Context) error {
					return cdp.Execute(ctx, "Accessibility.getFullAXTree", nil, &tree)
				}))
			for _, f := range found {
				t.Errorf("%s, %d wide: %s", view.name, width, f)
			}
			for _, nameless := range tree.nameless(t) {
				t.Errorf("%s, %d wide: a %s has no name", view.name, width, nameless)
			}
		}
	}
}

// TestPageFontSize checks that the page uses the browser's font size. Text of double size fits the
// width of a phone.
func TestPageFontSize(t *testing.T) {
	ctx, s := browsed(t)
	for _, view := range []string{"/?q=undo+commit&filter=ext:md", "/?view=document&id=git.md",
		"/?view=lab&q=commit&compare=rrf", "/?view=status"} {
		step(t, ctx, view, screen(360, 740, 1, false), page.SetFontSizes(&page.FontSizes{Standard: 32}), visit(s, view),
			until(shown), until(`getComputedStyle(document.body).fontSize === "32px" && $$("svg.lab").every((e) => `+
				`e.clientWidth === 2 * e.viewBox.baseVal.width)`), until(`document.documentElement.scrollWidth <= innerWidth`))
	}
}

// TestPageLongWord checks that a very long word of the query fits the width of a phone. Messages
// about missing words, documents and profiles repeat the word.
func TestPageLongWord(t *testing.T) {
	ctx, s := browsed(t)
	word := strings.Repeat("zyxwvutsr", 8)
	for _, view := range []struct{ address, said string }{{"/?q=commit+" + word, "nothing has"},
		{"/?view=document&id=" + word, "nothing is called"}, {"/?q=commit&profile=" + word, "profile"},
		{"/?view=lab&q=commit&filter=tag:" + word, "nothing has"}} {
		step(t, ctx, view.address[:20], screen(320, 700, 1, true), visit(s, view.address),
			until(`$("main h1") && document.body.innerText.includes("`+view.said+`")`),
			until(`document.documentElement.scrollWidth <= 320`))
	}
}

// TestPageShort checks that a small screen, as with magnification by four, shows the passage without the header.
func TestPageShort(t *testing.T) {
	ctx, s := browsed(t)
	step(t, ctx, "a passage", screen(320, 256, 4, false), visit(s, "/?view=document&id=git.md%23undo-a-commit"),
		until(shown), shoot("short"), until(`$("header").getBoundingClientRect().bottom < 1 && `+
			`Math.abs($(".hit").getBoundingClientRect().top - 8) < 3`))
}

// accessible is the accessibility tree of the page. The type of chromedp rejects property names of newer browsers.
type accessible struct {
	Nodes []struct {
		Ignored bool `json:"ignored"`
		Role    said `json:"role"`
		Name    said `json:"name"`
	} `json:"nodes"`
}

type said struct {
	Value any `json:"value"`
}

// nameless returns the roles of controls without a name.
func (a *accessible) nameless(t *testing.T) []string {
	var roles []string
	seen := 0
	for _, n := range a.Nodes {
		switch role, _ := n.Role.Value.(string); role {
		case "button", "link", "textbox", "searchbox", "combobox", "slider", "dialog", "image":
			seen++
			if name, _ := n.Name.Value.(string); !n.Ignored && name == "" {
				roles = append(roles, role)
			}
		}
	}
	check.That(t, seen >= 8, "only %d controls were looked at", seen)
	return roles
}

// TestPageKeyboard checks that the focus stays on the control that was used.
func TestPageKeyboard(t *testing.T) {
	ctx, s := browsed(t)
	step(t, ctx, "what folds", visit(s, "/?q=commit"), until(shown), focusOn("aside summary"), press(kb.Enter),
		until(`!$("aside details").open`), until(`document.body.dataset.view === "search"`))
	step(t, ctx, "letters that are still composed", visit(s, "/?q=commit"), until(shown), do(`{ const q = $("#query"); `+
		`q.focus(); for (const key of ["ArrowDown", "Escape"]) q.dispatchEvent(new KeyboardEvent("keydown", {key, `+
		`isComposing: true, bubbles: true, cancelable: true})) }`), until(`document.activeElement.id === "query"`))
	step(t, ctx, "a profile after another", visit(s, "/?view=lab&q=commit&profile=rrf"), visible("svg.lab .node"),
		focusOn(`select[aria-label="Beside it"]`), do(`{ const l = document.activeElement; l.value = "tree"; `+
			`l.dispatchEvent(new Event("change", {bubbles: true})); } 0`), until(`$$("svg.lab").length === 2 && `+
			`document.activeElement.ariaLabel === "Beside it" && document.activeElement.value === "tree"`))
	step(t, ctx, "a mark after another", focusOn(`.judge li:nth-child(2) button.wrong`), press(kb.Enter),
		until(`document.activeElement.matches(".judge li:nth-child(2) button.wrong[aria-pressed=true]")`), press(kb.Enter),
		until(`document.activeElement.matches(".judge li:nth-child(2) button.wrong[aria-pressed=false]")`))
	step(t, ctx, "a slider says its number and what that means", visit(s, "/?view=lab&q=commit&profile=rrf"),
		visible("svg.lab .node"), until(`$$(".lab-controls label").find((l) => l.textContent === `+
			`"rrf_k").querySelector("[type=range]").ariaValueText === "60"`),
		until(`$$(".lab-controls :is([type=range], select)").every((e) => e.ariaDescription === e.closest("label").title)`))
	step(t, ctx, "measuring", visit(s, "/?view=status"), until(shown), focusOn(`[aria-label=Recall] button`),
		press(kb.Enter), until(`$("[aria-label=Recall]").textContent.includes("Measured")`),
		until(`document.activeElement.textContent === "Measure"`))
}

// TestPagePrint checks that a dark theme prints light and no text is cut off. Controls for the
// screen are hidden.
func TestPagePrint(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"wide.md": "# Wide\n\nText.\n\n```\n" +
		strings.Repeat("a line of code ", 40) + "\n```\n"})
	step(t, ctx, "a document", visit(s, "/?view=document&id=wide.md"), until(shown),
		do(`document.documentElement.dataset.theme = "dark"`), emulation.SetEmulatedMedia().WithMedia("print"),
		shoot("print"), until(`getComputedStyle(document.body).color === "rgb(0, 0, 0)" && `+
			`getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)"`),
		until(`$("article").getBoundingClientRect().width > 900`),
		until(`(() => { const p = $("pre"); return p.scrollWidth <= p.clientWidth; })()`),
		until(`!$("header").checkVisibility() && !$(".outline").checkVisibility()`))
	step(t, ctx, "the lab", visit(s, "/?view=lab&q=text&compare=rrf"), until(`$$("svg.lab").length === 2 && shown()`),
		shoot("print-lab"), until(`document.documentElement.scrollWidth <= innerWidth`), until(`$$(".scroll, `+
			`.lab-controls").every((e) => e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight)`),
		until(`$$("svg.lab").every((e) => e.getBoundingClientRect().left >= 0 && e.getBoundingClientRect().right <= `+
			`innerWidth)`))
}

// TestPagePrintWhole checks printing. Colors of a dark theme become dark, and titles are complete.
// A table with very long words fits the paper, and charts print in landscape.
func TestPagePrintWhole(t *testing.T) {
	ctx := browser(t)
	long := strings.Repeat("Unbreakable", 30)
	s := served(t, map[string]string{"wide.md": "# " + long + " " + long + "\n\nText.\n\n| a | b |\n|---|---|\n| " + long +
		" | text |\n"})
	paper := chromedp.Tasks{do(`document.documentElement.dataset.theme = "dark"`),
		emulation.SetEmulatedMedia().WithMedia("print"), screen(700, 900, 1, false)}
	step(t, ctx, "a document", visit(s, "/?view=document&id=wide.md"), until(shown), paper,
		until(`document.documentElement.scrollWidth <= innerWidth`),
		until(`$("article table").getBoundingClientRect().right <= innerWidth`))
	step(t, ctx, "results", visit(s, "/?q=text"), until(shown), paper, until(`(() => { const h = $(".result h2"); return `+
		`h.clientHeight > 100 && h.scrollHeight <= h.clientHeight + 4; })()`))
	step(t, ctx, "the lab", visit(s, "/?view=lab&q=text&set.names=0.9"), until(shown), visible("svg.lab .node"), paper,
		until(`["--good", "--bad", "--edge"].every((name) => { const e = document.createElement("i"); e.style.color = `+
			`getComputedStyle(document.documentElement).getPropertyValue(name); document.body.append(e); const c = `+
			`getComputedStyle(e).color.match(/\d+/g).map(Number); e.remove(); return c.every((n) => n < 190); })`),
		until(`getComputedStyle($(".scroll")).page === "wide"`))
}

// TestPagePrintSheets checks printing on paper as narrow as a phone. Buttons are hidden, marks stay
// visible, and a heading stays with its text.
func TestPagePrintSheets(t *testing.T) {
	ctx, s := browsed(t)
	paper := chromedp.Tasks{emulation.SetEmulatedMedia().WithMedia("print"), screen(700, 900, 1, false)}
	bare := until(`$$("aside, button:not([aria-pressed=true])").every((e) => !e.checkVisibility())`)
	step(t, ctx, "results", visit(s, "/?q=undo+commit&filter=ext:md&why=1"), until(shown),
		until(`$(".why") && $("aside li")`), paper, bare, shoot("print-results"), until(`getComputedStyle($(".snippet `+
			`mark")).printColorAdjust === "exact" && getComputedStyle($(".result:not(:has(.why))")).breakInside === "avoid"`))
	step(t, ctx, "a document", visit(s, "/?view=document&id=git.md"), until(shown), bare,
		until(`getComputedStyle($("article h2")).breakAfter === "avoid" && getComputedStyle($("#main")).paddingBottom === `+
			`"0px"`))
	step(t, ctx, "the lab", visit(s, "/?view=lab&q=commit&filter=ext:md"), until(`$$(".judge li").length > 2`),
		do(`$(".judge li button").click()`), until(`$(".judge table")`),
		until(`$(".judge [aria-pressed=true]").checkVisibility() && $(".lab-bar span button").checkVisibility() && `+
			`!$(".lab-bar > button, .judge [aria-pressed=false]").checkVisibility()`),
		until(`!$(".lab-bar input").checkVisibility()`))
}

// TestPageDeepTitle checks that the passage title is visible below many long headings, also in a
// narrow window.
func TestPageDeepTitle(t *testing.T) {
	ctx := browser(t)
	head := func(level int, name string) string { return strings.Repeat("#", level) + " " + name + "\n\n" }
	long := "A heading of quite some words above others "
	s := served(t, map[string]string{"deep.md": head(1, long+"one") + head(2, long+"two") + head(3, long+"three") +
		head(4, long+"four") + head(5, long+"five") + head(6, "Kumquat") + "A kumquat.\n",
		"less.md": head(1, "Astro Renderer API") + head(2, "Renderer types reference") + head(3, "AstroComponentMetadata") +
			head(4, "AstroComponentMetadata.kumquatExport") + "A kumquat.\n"})
	for _, wide := range []int64{320, 400, 700, 1300} {
		step(t, ctx, fmt.Sprint(wide), screen(wide, 800, 1, false), visit(s, "/?q=kumquat"),
			until(`$$("#results > li").length > 1 && shown()`), shoot(fmt.Sprintf("deep-%d", wide)),
			until(`$$(".result h2").every((h) => { const r = document.createRange(); `+
				`r.selectNodeContents(h.querySelector("a").lastChild); return r.getBoundingClientRect().bottom <= `+
				`h.getBoundingClientRect().bottom + 3; })`))
	}
}

// TestPageLongTitle checks that a very long title leaves room for other results. The status view
// reports an unavailable store.
func TestPageLongTitle(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"long.md": "# " + strings.Repeat("A commit of a long title ", 60) +
		"\n\nA commit.\n", "short.md": "# Short\n\nA commit.\n"})
	step(t, ctx, "results", visit(s, "/?q=commit"), until(`$$("#results > li").length > 1 && shown()`),
		until(`$$(".result h2").every((e) => e.clientHeight < 80)`), shoot("long-title"))
	step(t, ctx, "a store that is away", do(`window.real = window.fetch; window.fetch = (path, o) => `+
		`path.startsWith("/readyz") ? Promise.resolve(new Response(JSON.stringify({detail: "it is away"}), {status: `+
		`503})) : real(path, o); 0`),
		click(`a[data-view="status"]`), until(`$("#notes").textContent === "it is away" && `+
			`$("table").textContent.includes("it is away")`))
	step(t, ctx, "files that are left out", do(`window.fetch = async (path, o) => {
		const r = await real(path, o);
		if (!path.startsWith("/v1/status")) return r;
		const st = await r.json();
		st.skipped = Array.from({length: 700}, (_, i) => ({path: i + ".md", reason: "too large", detail: i + " bytes"}));
		return new Response(JSON.stringify(st));
	}; 0`), click(`a[data-view="status"]`),
		until(`$$("main summary").length === 1 && `+
			`$("main summary").textContent === "too large: 700"`),
		until(`$$("main details li").length === 501 && $("main details `+
			`li").textContent === "0.md: 0 bytes"`),
		chromedp.Evaluate(`window.fetch = (path, o) => path.startsWith("/readyz") ? Promise.resolve(new `+
			`Response(JSON.stringify({detail: "it is away"}), {status: 503})) : real(path, o); 0`, nil),
		click(`a[data-view="status"]`), until(`$("#notes").textContent === "it is away"`))
	step(t, ctx, "it is back, without anything that is done", do(`window.fetch = window.real; 0`),
		until(`$("#notes").textContent === "" && $("table").textContent.includes("ready")`))
}

// turned lists text that a name with U+202E turns around: text behind it in the same node, except
// in explanations. It also lists later text of the line that is not to its right.
//
//go:embed testdata/turned.js
var turned string

// TestPageDirection checks that a name with a direction override does not turn the text beside it
// around. A right-to-left name keeps its direction.
func TestPageDirection(t *testing.T) {
	ctx := browser(t)
	const name = "a\u202emoc.md"
	s := served(t, map[string]string{
		name: "---\naliases: [\"one\u202emoc\", two]\nowner: [\"ann\u202emoc\", bob]\ntags: [\"t\u202emoc\", " +
			"other]\n---\n# One\u202emoc\n\nA commit.\n\n## Two\u202emoc\n\nA commit of two.\n\n### Three\n\nA commit of " +
			"three.\n\n## End\u2069\u202emoc\n\n### Four\n\nA commit of three and four.\n",
		"ملف.md": "# كيفية\n\n## التراجع\n\nللتراجع عن commit استخدم reset.\n",
	})
	id := url.QueryEscape("notes:" + name)
	for _, view := range []struct {
		what, address string
		ready         chromedp.Action
		least         int
	}{
		{"results", "/?q=commit&filter=" + url.QueryEscape("path:a*"),
			chromedp.Tasks{until(`$("#result-2") && shown()`), click("#result-0 button.score"),
				until(`$(".why")`)}, 5},
		{"document", "/?view=document&id=" + id,
			chromedp.Tasks{until(`$(".outline a")`), click(`.facts button`),
				until(`$(".facts h2")`)}, 3},
		{"lab", "/?view=lab&q=commit+three", chromedp.Tasks{until(`$$(".judge li").length > 2`),
			chromedp.Evaluate(`$$("svg.lab .node[role=button]").find((e) => `+
				`e.dataset.id.includes("\u202e")).dispatchEvent(new MouseEvent("click", {bubbles: true}))`, nil),
			until(`$(".why")`)}, 10},
	} {
		var got []string
		step(t, ctx, view.what, chromedp.EmulateViewport(2400, 900), /* in which no line wraps */
			visit(s, view.address), view.ready, do(`$(".why > button")?.click()`),
			shoot("direction-"+view.what), chromedp.Evaluate(turned, &got))
		var seen int
		if _, err := fmt.Sscan(got[0], &seen); err != nil || seen < view.least {
			t.Errorf("%s: only %s names were looked at, want %d", view.what, got[0], view.least)
		}
		for _, g := range got[1:] {
			t.Errorf("%s: %s", view.what, g)
		}
	}
	step(t, ctx, "a title alone", visit(s, "/?q="+url.QueryEscape("path:a*")),
		until(`$("#result-0 h2") && shown()`), until(`$("#result-0 h2").textContent === "One\u202emoc"`))
	step(t, ctx, "a title from right to left", visit(s, "/?q=reset"), until(`$("#result-0 h2 .above bdi") && shown()`),
		shoot("direction-rtl"), until(`(() => { const h2 = $("#result-0 h2"), r = document.createRange(); `+
			`r.selectNodeContents(h2); return r.getBoundingClientRect().right >= h2.getBoundingClientRect().right - 2 && `+
			`$("#result-0 .above").getBoundingClientRect().left > r.getBoundingClientRect().left + 2; })()`))
}

// TestPageTextDirection checks that text has the direction of most of its letters, whatever its first word is.
func TestPageTextDirection(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{
		"fa.md": "# ملاحظات\n\nObsidian به\u200cگونه\u200cای طراحی شده که به\u200cصورت آفلاین کار کند\n\n- Obsidian " +
			"به\u200cگونه\u200cای طراحی شده\n\n| Git | ملاحظات |\n|---|---|\n| Obsidian به\u200cگونه\u200cای طراحی شده | " +
			"ملاحظات ملاحظات |\n",
		"he.md":   "# ערך\n\n> [!important] כותר\n> גוף\n\n> [!important]\n> גוף\n",
		"code.md": "# התקנה\n\nהתקנה: הריצו `apt install docker-compose-plugin` ואז `--all`.\n",
		"mixed.md": "# ערך\n\n| ערך | כותר |\n|---|---|\n| Undo (all). | -5 |\n\n> גוף ציטוט ארוך\n>\n> Undo (all).\n\n- " +
			"פריט ארוך\n- Undo (all).\n",
		"ערך.md":  "- פריט\n- ערך ארוך\n- Undo all of it as ערך\n",
		"list.md": "# List\n\n- Undo all\n- Undo more of all commits\n- כותר\n",
		"en.md":   "# Words\n\nשלום is a word of Hebrew that means peace.\n",
	})
	runs := func(way string, elements ...string) chromedp.Action {
		var all chromedp.Tasks
		for _, e := range elements {
			all = append(all, until(`(e => e && getComputedStyle(e).direction === `+quote(way)+
				` && getComputedStyle(e).unicodeBidi !== "plaintext")($(`+quote(e)+`)) && shown()`))
		}
		return all
	}
	step(t, ctx, "a snippet", visit(s, "/?q="+url.QueryEscape("آفلاین")),
		until(`$("#result-0 .snippet")?.textContent.startsWith("Obsidian")`), runs("rtl", ".snippet"), shoot("most-letters"))
	step(t, ctx, "a document", visit(s, "/?view=document&id=fa.md"), runs("rtl", "article p", "article ul", "article li",
		"article td", "article table"), shoot("most-letters-document"))
	step(t, ctx, "callouts", visit(s, "/?view=document&id=he.md"), runs("rtl", ".callout", "blockquote",
		"blockquote:last-of-type", "blockquote:last-of-type .callout"),
		until(`$(".callout").textContent === "important כותר"`), shoot("most-letters-callouts"))
	step(t, ctx, "code, which does not count", visit(s, "/?view=document&id=code.md"), runs("rtl", "article p"),
		until(`(() => { const [c] = $("article p code:last-child").childNodes, at = (i) => { const r = `+
			`document.createRange(); r.setStart(c, i); r.setEnd(c, i + 1); return r.getBoundingClientRect().left; }; return `+
			`at(0) < at(2); })()`),
		visit(s, "/?q="+url.QueryEscape("הריצו")), runs("rtl", ".snippet"))
	step(t, ctx, "what has no letter from right to left, in what runs leftward", visit(s, "/?view=document&id=mixed.md"),
		runs("rtl", "article table", "article blockquote", "article ul"), shoot("most-letters-mixed"),
		until(`$$("article td, article blockquote p:last-child, article li:last-child").every((e) => { const at = (i) => { `+
			`const r = document.createRange(); r.setStart(e.firstChild, i); r.setEnd(e.firstChild, i + 1); return `+
			`r.getBoundingClientRect().left; }; return at(0) < at(e.textContent.length - 1); })`))
	step(t, ctx, "a title that is the name of the file", visit(s, "/?view=document&id="+url.QueryEscape("ערך.md")),
		runs("rtl", "article h1"))
	// The marker of an item is outside the item, on the side where the item's text begins.
	for _, name := range []string{"ערך.md", "list.md"} {
		step(t, ctx, "an item that runs against its list, in "+name, visit(s, "/?view=document&id="+url.QueryEscape(name)),
			until(`$("article li:last-child") && shown()`), until(`(() => { const item = $("article li:last-child"), list = `+
				`item.parentElement.getBoundingClientRect(), { left, right } = item.getBoundingClientRect(); return item.dir !== `+
				`item.parentElement.dir && (item.dir === "rtl" ? list.right - right : left - list.left) > 16; })()`),
			shoot("most-letters-list"))
	}
	step(t, ctx, "the other way round", visit(s, "/?view=document&id=en.md"), runs("ltr", "article p"))
}

// contrast lists what has too little contrast by WCAG 2.2. Text needs 4.5 to 1, or 3 to 1 if it is
// large. Edges of fields and lines of the lab need 3 to 1.
//
//go:embed testdata/contrast.js
var contrast string

// TestPageContrast checks that all text of the page has enough contrast in both themes.
func TestPageContrast(t *testing.T) {
	ctx, s := browsed(t)
	still := do(`document.getAnimations().forEach((a) => a.finish())`)
	for _, theme := range []string{"light", "dark"} {
		for _, view := range []struct {
			name, address string
			ready         chromedp.Action
		}{
			{"results", "/?q=undo+commit&filter=ext:md",
				chromedp.Tasks{until(`$("#result-0")`), click("#result-0 button.score"),
					until(`$(".why")`),
					do(`$("#notes").textContent = "a note"`), press("j")}},
			{"nothing", "/?q=%22zzz+undefinable%22", until(`$(".empty")`)},
			{"keys", "/?q=commit", chromedp.Tasks{until(`$("#result-0")`), click("#help"),
				visible("#keys")}},
			{"document", "/?view=document&id=notes:git.md%23undo-a-commit&q=commit",
				until(`$(".hit mark")`)},
			{"lab", "/?view=lab&q=commit&set.nothing=9",
				chromedp.Tasks{visible("svg.lab .node"), until(`$$(".judge li").length > 2`),
					slide(`r.max`),
					until(`$("label.changed")`),
					click(".judge li button"),
					click(".judge li:nth-child(2) button.wrong"),
					until(`$(".judge table")`),
					chromedp.Evaluate(`$$("svg.lab .node[role=button]")[0].dispatchEvent(new `+
						`MouseEvent("click", {bubbles: true}))`, nil), until(`$(".why")`)}},
			{"status", "/?view=status", until(`$("main table")`)},
		} {
			var faint []string
			step(t, ctx, view.name, visit(s, ""),
				chromedp.Evaluate(`localStorage.clear(), localStorage.setItem("sheaf-theme", "`+theme+`")`, nil), visit(s,
					view.address), view.ready, still, shoot("contrast-"+theme+"-"+view.name), chromedp.Evaluate(contrast, &faint))
			for _, f := range faint {
				t.Errorf("%s, %s: %s", theme, view.name, f)
			}
		}
	}
}

// TestPageThemeAtOnce checks that the first paint waits for a late module and so has the chosen
// theme. A theme chosen in another window applies here too.
func TestPageThemeAtOnce(t *testing.T) {
	ctx := browser(t)
	f := collectiontest.Open(t, notes, nil)
	h := site(t, f)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/ui/search.js" {
			time.Sleep(500 * time.Millisecond)
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	step(t, ctx, "a page whose modules come late", visit(s, ""), until(shown),
		until(`performance.getEntriesByName("first-paint").length`),
		until(`performance.getEntriesByName("first-paint")[0].startTime > `+
			`performance.getEntriesByType("resource").find((r) => r.name.endsWith("/search.js")).responseEnd`))
	step(t, ctx, "chosen in another window", do(`localStorage.setItem("sheaf-theme", "dark"); `+
		`localStorage.setItem("sheaf-editor", "zed://file{path}"); dispatchEvent(new StorageEvent("storage", {key: `+
		`"sheaf-editor"}))`),
		until(`document.documentElement.dataset.theme === "dark" && $("#editor").value === "zed://file{path}"`))
}
