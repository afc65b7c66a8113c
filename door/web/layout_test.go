package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// reach lists accessibility faults: controls below 24 pixels without free space around them (WCAG
// 2.2), skipped heading levels, and headings without an h1.
const reach = `(() => {
	const found = [], all = [...document.querySelectorAll("a[href], button, input, select, summary, svg [role=button]")].filter((e) => e.checkVisibility() && !e.closest(".hidden, .skip, dialog:not([open]), article"))
		.filter((e) => { // what scrolls is only where it is seen
			const c = e.closest(".lab-controls")?.getBoundingClientRect(), b = e.getBoundingClientRect();
			return !c || (b.top >= c.top && b.bottom <= c.bottom);
		});
	const box = (e) => {
		const b = e.getBoundingClientRect(), h2 = e.closest(".result h2")?.getBoundingClientRect(); // which folds what is long
		return h2 ? new DOMRect(b.x, b.y, b.width, Math.min(b.bottom, h2.bottom + 3) - b.y) : b;
	}, middle = (e) => { const b = box(e); return [b.x + b.width / 2, b.y + b.height / 2]; };
	const small = (e) => Math.min(box(e).width, box(e).height) < 23.9;
	for (const e of all.filter(small)) {
		const [x, y] = middle(e);
		for (const other of all) {
			if (other === e || e.contains(other) || other.contains(e)) continue;
			const b = box(other), [ox, oy] = middle(other);
			const near = small(other) ? Math.hypot(x - ox, y - oy) < 24 : Math.hypot(x - Math.max(b.left, Math.min(x, b.right)), y - Math.max(b.top, Math.min(y, b.bottom))) < 12;
			if (near) { found.push("too small: " + e.outerHTML.slice(0, 90) + " beside " + other.outerHTML.slice(0, 60)); break; }
		}
	}
	const levels = [...document.querySelectorAll("main h1, main h2, main h3, main h4")].filter((e) => !e.closest("nav")).map((e) => Number(e.tagName[1]));
	if (levels.filter((n) => n === 1).length !== 1 || levels.some((n, i) => i && n > levels[i - 1] + 1)) found.push("headings: " + levels);
	if (document.documentElement.scrollWidth > innerWidth) found.push("the page is " + document.documentElement.scrollWidth + " wide");
	for (const e of document.querySelectorAll(".lab-controls")) if (e.scrollWidth > e.clientWidth) found.push("the sliders run to both sides");
	return found;
})()`

// TestPageAccessibility checks the page for screen readers, keyboards and magnification by four.
func TestPageAccessibility(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
	pin := chromedp.Tasks{until(`document.querySelectorAll(".judge li").length > 2`),
		chromedp.Evaluate(`document.querySelector("svg.lab [role=button]").dispatchEvent(new MouseEvent("click", `+
			`{bubbles: true}))`, nil), until(`document.querySelector(".why")`)}
	for _, width := range []int64{1280, 640, 320} {
		for _, view := range []struct {
			name, address string
			ready         chromedp.Action
		}{
			{"nothing asked", "/", until(`document.querySelector(".empty")`)},
			{"results", "/?q=undo+commit&filter=ext:md",
				chromedp.Tasks{until(`document.querySelector("#result-0")`),
					chromedp.Evaluate(`for (const d of document.querySelectorAll("aside details")) d.open = true`, nil),
					chromedp.Click("#result-0 button.score"), until(`document.querySelector(".why")`)}},
			{"document", "/?view=document&id=git.md",
				chromedp.Tasks{chromedp.Click(".facts button", chromedp.ByQuery), until(`document.querySelector(".facts h2")`)}},
			{"plain text", "/?view=document&id=plain.txt", until(`document.querySelector("article pre")`)},
			{"lab", "/?view=lab&q=commit", pin},
			{"status", "/?view=status", until(`document.querySelector("main table")`)},
		} {
			var found []string
			var tree accessible
			step(t, ctx, view.name, emulation.SetDeviceMetricsOverride(width, 800, 1, false),
				chromedp.Navigate(s.URL+view.address), until(shown), view.ready, chromedp.Evaluate(reach, &found),
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
	ctx := browser(t)
	s, _ := start(t)
	for _, view := range []string{"/?q=undo+commit&filter=ext:md", "/?view=document&id=git.md",
		"/?view=lab&q=commit&compare=rrf", "/?view=status"} {
		step(t, ctx, view, emulation.SetDeviceMetricsOverride(360, 740, 1, false),
			page.SetFontSizes(&page.FontSizes{Standard: 32}), chromedp.Navigate(s.URL+view), until(shown),
			until(`getComputedStyle(document.body).fontSize === "32px" && `+
				`[...document.querySelectorAll("svg.lab")].every((e) => e.clientWidth === 2 * e.viewBox.baseVal.width)`),
			until(`document.documentElement.scrollWidth <= innerWidth`))
	}
}

// TestPageLongWord checks that a very long word of the query fits the width of a phone. Messages
// about missing words, documents and profiles repeat the word.
func TestPageLongWord(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
	word := strings.Repeat("zyxwvutsr", 8)
	for _, view := range []struct{ address, said string }{{"/?q=commit+" + word, "nothing has"},
		{"/?view=document&id=" + word, "nothing is called"}, {"/?q=commit&profile=" + word, "profile"},
		{"/?view=lab&q=commit&filter=tag:" + word, "nothing has"}} {
		step(t, ctx, view.address[:20], emulation.SetDeviceMetricsOverride(320, 700, 1, true),
			chromedp.Navigate(s.URL+view.address),
			until(`document.querySelector("main h1") && document.body.innerText.includes("`+view.said+`")`),
			until(`document.documentElement.scrollWidth <= 320`))
	}
}

// TestPageShort checks that a small screen, as with magnification by four, shows the passage without the header.
func TestPageShort(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
	step(t, ctx, "a passage", emulation.SetDeviceMetricsOverride(320, 256, 4, false),
		chromedp.Navigate(s.URL+"/?view=document&id=git.md%23undo-a-commit"), until(shown), shoot("short"),
		until(`document.querySelector("header").getBoundingClientRect().bottom < 1 && `+
			`Math.abs(document.querySelector(".hit").getBoundingClientRect().top - 8) < 3`))
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
	if seen < 8 {
		t.Errorf("only %d controls were looked at", seen)
	}
	return roles
}

// TestPageKeyboard checks that the focus stays on the control that was used.
func TestPageKeyboard(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
	step(t, ctx, "what folds", chromedp.Navigate(s.URL+"/?q=commit"), until(shown),
		chromedp.Focus("aside summary", chromedp.ByQuery), chromedp.KeyEvent(kb.Enter),
		until(`!document.querySelector("aside details").open`), until(`document.body.dataset.view === "search"`))
	step(t, ctx, "letters that are still composed", chromedp.Navigate(s.URL+"/?q=commit"), until(shown),
		do(`{ const q = document.getElementById("query"); q.focus(); for (const key of ["ArrowDown", "Escape"]) `+
			`q.dispatchEvent(new KeyboardEvent("keydown", {key, isComposing: true, bubbles: true, cancelable: true})) }`),
		until(`document.activeElement.id === "query"`))
	step(t, ctx, "a profile after another", chromedp.Navigate(s.URL+"/?view=lab&q=commit&profile=rrf"),
		chromedp.WaitVisible("svg.lab .node"), chromedp.Focus(`select[aria-label="Beside it"]`),
		chromedp.Evaluate(`{ const l = document.activeElement; l.value = "tree"; l.dispatchEvent(new Event("change", `+
			`{bubbles: true})); } 0`, nil),
		until(`document.querySelectorAll("svg.lab").length === 2 && document.activeElement.ariaLabel === "Beside it" && `+
			`document.activeElement.value === "tree"`))
	step(t, ctx, "a mark after another", chromedp.Focus(`.judge li:nth-child(2) button.wrong`, chromedp.ByQuery),
		chromedp.KeyEvent(kb.Enter), until(`document.activeElement.matches(".judge li:nth-child(2) `+
			`button.wrong[aria-pressed=true]")`),
		chromedp.KeyEvent(kb.Enter), until(`document.activeElement.matches(".judge li:nth-child(2) `+
			`button.wrong[aria-pressed=false]")`))
	step(t, ctx, "a slider says its number and what that means",
		chromedp.Navigate(s.URL+"/?view=lab&q=commit&profile=rrf"), chromedp.WaitVisible("svg.lab .node"),
		until(`[...document.querySelectorAll(".lab-controls label")].find((l) => l.textContent === `+
			`"rrf_k").querySelector("[type=range]").ariaValueText === "60"`),
		until(`[...document.querySelectorAll(".lab-controls :is([type=range], select)")].every((e) => e.ariaDescription `+
			`=== e.closest("label").title)`))
	step(t, ctx, "measuring", chromedp.Navigate(s.URL+"/?view=status"), until(shown),
		chromedp.Focus(`[aria-label=Recall] button`, chromedp.ByQuery), chromedp.KeyEvent(kb.Enter),
		until(`document.querySelector("[aria-label=Recall]").textContent.includes("Measured")`),
		until(`document.activeElement.textContent === "Measure"`))
}

// TestPagePrint checks that a dark theme prints light and no text is cut off. Controls for the
// screen are hidden.
func TestPagePrint(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"wide.md": "# Wide\n\nText.\n\n```\n" +
		strings.Repeat("a line of code ", 40) + "\n```\n"})
	step(t, ctx, "a document", chromedp.Navigate(s.URL+"/?view=document&id=wide.md"), until(shown),
		chromedp.Evaluate(`document.documentElement.dataset.theme = "dark"`, nil),
		emulation.SetEmulatedMedia().WithMedia("print"), shoot("print"),
		until(`getComputedStyle(document.body).color === "rgb(0, 0, 0)" && `+
			`getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)"`),
		until(`document.querySelector("article").getBoundingClientRect().width > 900`),
		until(`(() => { const p = document.querySelector("pre"); return p.scrollWidth <= p.clientWidth; })()`),
		until(`!document.querySelector("header").checkVisibility() && !document.querySelector(".outline").checkVisibility()`))
	step(t, ctx, "the lab", chromedp.Navigate(s.URL+"/?view=lab&q=text&compare=rrf"),
		until(`document.querySelectorAll("svg.lab").length === 2 && `+shown), shoot("print-lab"),
		until(`document.documentElement.scrollWidth <= innerWidth`),
		until(`[...document.querySelectorAll(".scroll, .lab-controls")].every((e) => e.scrollWidth <= e.clientWidth && `+
			`e.scrollHeight <= e.clientHeight)`),
		until(`[...document.querySelectorAll("svg.lab")].every((e) => e.getBoundingClientRect().left >= 0 && `+
			`e.getBoundingClientRect().right <= innerWidth)`))
}

// TestPagePrintWhole checks printing. Colors of a dark theme become dark, and titles are complete.
// A table with very long words fits the paper, and charts print in landscape.
func TestPagePrintWhole(t *testing.T) {
	ctx := browser(t)
	long := strings.Repeat("Unbreakable", 30)
	s := served(t, map[string]string{"wide.md": "# " + long + " " + long + "\n\nText.\n\n| a | b |\n|---|---|\n| " + long +
		" | text |\n"})
	paper := chromedp.Tasks{do(`document.documentElement.dataset.theme = "dark"`),
		emulation.SetEmulatedMedia().WithMedia("print"), emulation.SetDeviceMetricsOverride(700, 900, 1, false)}
	step(t, ctx, "a document", chromedp.Navigate(s.URL+"/?view=document&id=wide.md"), until(shown), paper,
		until(`document.documentElement.scrollWidth <= innerWidth`),
		until(`document.querySelector("article table").getBoundingClientRect().right <= innerWidth`))
	step(t, ctx, "results", chromedp.Navigate(s.URL+"/?q=text"), until(shown), paper,
		until(`(() => { const h = document.querySelector(".result h2"); return h.clientHeight > 100 && h.scrollHeight <= `+
			`h.clientHeight + 4; })()`))
	step(t, ctx, "the lab", chromedp.Navigate(s.URL+"/?view=lab&q=text&set.names=0.9"), until(shown),
		chromedp.WaitVisible("svg.lab .node"), paper,
		until(`["--good", "--bad", "--edge"].every((name) => { const e = document.createElement("i"); e.style.color = `+
			`getComputedStyle(document.documentElement).getPropertyValue(name); document.body.append(e); const c = `+
			`getComputedStyle(e).color.match(/\d+/g).map(Number); e.remove(); return c.every((n) => n < 190); })`),
		until(`getComputedStyle(document.querySelector(".scroll")).page === "wide"`))
}

// TestPagePrintSheets checks printing on paper as narrow as a phone. Buttons are hidden, marks stay
// visible, and a heading stays with its text.
func TestPagePrintSheets(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
	paper := chromedp.Tasks{emulation.SetEmulatedMedia().WithMedia("print"),
		emulation.SetDeviceMetricsOverride(700, 900, 1, false)}
	bare := until(`[...document.querySelectorAll("aside, button:not([aria-pressed=true])")].every((e) => ` +
		`!e.checkVisibility())`)
	step(t, ctx, "results", chromedp.Navigate(s.URL+"/?q=undo+commit&filter=ext:md&why=1"), until(shown),
		until(`document.querySelector(".why") && document.querySelector("aside li")`), paper, bare, shoot("print-results"),
		until(`getComputedStyle(document.querySelector(".snippet mark")).printColorAdjust === "exact" && `+
			`getComputedStyle(document.querySelector(".result:not(:has(.why))")).breakInside === "avoid"`))
	step(t, ctx, "a document", chromedp.Navigate(s.URL+"/?view=document&id=git.md"), until(shown), bare,
		until(`getComputedStyle(document.querySelector("article h2")).breakAfter === "avoid" && `+
			`getComputedStyle(document.getElementById("main")).paddingBottom === "0px"`))
	step(t, ctx, "the lab", chromedp.Navigate(s.URL+"/?view=lab&q=commit&filter=ext:md"),
		until(`document.querySelectorAll(".judge li").length > 2`), do(`document.querySelector(".judge li button").click()`),
		until(`document.querySelector(".judge table")`),
		until(`document.querySelector(".judge [aria-pressed=true]").checkVisibility() && document.querySelector(".lab-bar `+
			`span button").checkVisibility() && !document.querySelector(".lab-bar > button, .judge `+
			`[aria-pressed=false]").checkVisibility()`),
		until(`!document.querySelector(".lab-bar input").checkVisibility()`))
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
		step(t, ctx, fmt.Sprint(wide), emulation.SetDeviceMetricsOverride(wide, 800, 1, false),
			chromedp.Navigate(s.URL+"/?q=kumquat"), until(`document.querySelectorAll("#results > li").length > 1 && `+shown),
			shoot(fmt.Sprintf("deep-%d", wide)),
			until(`[...document.querySelectorAll(".result h2")].every((h) => { const r = document.createRange(); `+
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
	step(t, ctx, "results", chromedp.Navigate(s.URL+"/?q=commit"),
		until(`document.querySelectorAll("#results > li").length > 1 && `+shown),
		until(`[...document.querySelectorAll(".result h2")].every((e) => e.clientHeight < 80)`), shoot("long-title"))
	step(t, ctx, "a store that is away", chromedp.Evaluate(`window.real = window.fetch; window.fetch = (path, o) => `+
		`path.startsWith("/readyz") ? Promise.resolve(new Response(JSON.stringify({detail: "it is away"}), {status: `+
		`503})) : real(path, o); 0`, nil),
		chromedp.Click(`a[data-view="status"]`),
		until(`document.getElementById("notes").textContent === "it is away" && `+
			`document.querySelector("table").textContent.includes("it is away")`))
	step(t, ctx, "files that are left out", chromedp.Evaluate(`window.fetch = async (path, o) => {
		const r = await real(path, o);
		if (!path.startsWith("/v1/status")) return r;
		const st = await r.json();
		st.skipped = Array.from({length: 700}, (_, i) => ({path: i + ".md", reason: "too large", detail: i + " bytes"}));
		return new Response(JSON.stringify(st));
	}; 0`, nil), chromedp.Click(`a[data-view="status"]`), until(`document.querySelectorAll("main summary").length === 1 && document.querySelector("main summary").textContent === "too large: 700"`),
		until(`document.querySelectorAll("main details li").length === 501 && document.querySelector("main details `+
			`li").textContent === "0.md: 0 bytes"`),
		chromedp.Evaluate(`window.fetch = (path, o) => path.startsWith("/readyz") ? Promise.resolve(new `+
			`Response(JSON.stringify({detail: "it is away"}), {status: 503})) : real(path, o); 0`, nil),
		chromedp.Click(`a[data-view="status"]`), until(`document.getElementById("notes").textContent === "it is away"`))
	step(t, ctx, "it is back, without anything that is done", chromedp.Evaluate(`window.fetch = window.real; 0`, nil),
		until(`document.getElementById("notes").textContent === "" && `+
			`document.querySelector("table").textContent.includes("ready")`))
}
