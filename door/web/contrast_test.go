package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sheaf/collection/collectiontest"
)

// contrast lists what has too little contrast by WCAG 2.2. Text needs 4.5 to 1, or 3 to 1 if it is
// large. Edges of fields and lines of the lab need 3 to 1.
const contrast = `(() => {
	document.getAnimations().forEach((a) => a.finish()); // also what began since the picture was taken
	const rgba = (text) => { const n = text.match(/[\d.]+/g).map(Number); return [n[0], n[1], n[2], n[3] ?? 1]; };
	const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
	const light = (c) => c.slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
	const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
	const behind = (e) => { const all = []; for (; e; e = e.parentElement) all.push(rgba(getComputedStyle(e).backgroundColor)); return all.reverse().reduce((under, c) => over(c, under), [255, 255, 255, 1]); };
	const faint = new Map();
	let seen = 0;
	const hold = (what, color, back, least) => { seen++; const got = ratio(over(rgba(color), back), back); if (got < least) faint.set(what, got.toFixed(2) + " below " + least); };
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const e = walker.currentNode.parentElement;
		if (!walker.currentNode.data.trim() || e.closest("script, noscript, title, option, .under") || !e.checkVisibility() || e.closest(".hidden, .skip")) continue;
		const style = getComputedStyle(e), size = parseFloat(style.fontSize);
		hold((e.closest("[class], [id]")?.outerHTML || e.outerHTML).slice(0, 80) + " " + walker.currentNode.data.trim().slice(0, 30), e instanceof SVGElement ? style.fill : style.color, behind(e), size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5);
	}
	for (const e of document.querySelectorAll("input:not([type=range]), select, textarea")) if (e.checkVisibility()) {
		hold("edge of " + e.outerHTML.slice(0, 80), getComputedStyle(e).borderTopColor, behind(e.parentElement), 3);
		if (e.placeholder) hold("placeholder of " + e.outerHTML.slice(0, 80), getComputedStyle(e, "::placeholder").color, behind(e), 4.5);
	}
	for (const e of document.querySelectorAll("svg.lab .thread")) hold("line of the lab", getComputedStyle(e).stroke, behind(e), 3);
	return seen < 8 ? ["only " + seen + " pieces were looked at"] : [...faint].map((f) => f.join(": "));
})()`

// TestPageContrast checks that all text of the page has enough contrast in both themes.
func TestPageContrast(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
	still := chromedp.Evaluate(`document.getAnimations().forEach((a) => a.finish())`, nil)
	for _, theme := range []string{"light", "dark"} {
		for _, view := range []struct {
			name, address string
			ready         chromedp.Action
		}{
			{"results", "/?q=undo+commit&filter=ext:md",
				chromedp.Tasks{until(`document.querySelector("#result-0")`), chromedp.Click("#result-0 button.score"),
					until(`document.querySelector(".why")`),
					chromedp.Evaluate(`document.getElementById("notes").textContent = "a note"`, nil), chromedp.KeyEvent("j")}},
			{"nothing", "/?q=%22zzz+undefinable%22", until(`document.querySelector(".empty")`)},
			{"keys", "/?q=commit", chromedp.Tasks{until(`document.querySelector("#result-0")`), chromedp.Click("#help"),
				chromedp.WaitVisible("#keys")}},
			{"document", "/?view=document&id=notes:git.md%23undo-a-commit&q=commit",
				until(`document.querySelector(".hit mark")`)},
			{"lab", "/?view=lab&q=commit&set.nothing=9",
				chromedp.Tasks{chromedp.WaitVisible("svg.lab .node"), until(`document.querySelectorAll(".judge li").length > 2`),
					slide(`r.max`),
					until(`document.querySelector("label.changed")`),
					chromedp.Click(".judge li button", chromedp.ByQuery),
					chromedp.Click(".judge li:nth-child(2) button.wrong", chromedp.ByQuery),
					until(`document.querySelector(".judge table")`),
					chromedp.Evaluate(`[...document.querySelectorAll("svg.lab .node[role=button]")][0].dispatchEvent(new `+
						`MouseEvent("click", {bubbles: true}))`, nil), until(`document.querySelector(".why")`)}},
			{"status", "/?view=status", until(`document.querySelector("main table")`)},
		} {
			var faint []string
			step(t, ctx, view.name, chromedp.Navigate(s.URL),
				chromedp.Evaluate(`localStorage.clear(), localStorage.setItem("sheaf-theme", "`+theme+`")`, nil),
				chromedp.Navigate(s.URL+view.address), view.ready, still, shoot("contrast-"+theme+"-"+view.name),
				chromedp.Evaluate(contrast, &faint))
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
	step(t, ctx, "a page whose modules come late", chromedp.Navigate(s.URL), until(shown),
		until(`performance.getEntriesByName("first-paint").length`),
		until(`performance.getEntriesByName("first-paint")[0].startTime > `+
			`performance.getEntriesByType("resource").find((r) => r.name.endsWith("/search.js")).responseEnd`))
	step(t, ctx, "chosen in another window",
		do(`localStorage.setItem("sheaf-theme", "dark"); localStorage.setItem("sheaf-editor", "zed://file{path}"); `+
			`dispatchEvent(new StorageEvent("storage", {key: "sheaf-editor"}))`),
		until(`document.documentElement.dataset.theme === "dark" && document.getElementById("editor").value === `+
			`"zed://file{path}"`))
}
