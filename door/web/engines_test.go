package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sheaf/collection/collectiontest"
)

// TestPageReloadsFailedModule checks that the page loads a view whose module failed to load. Firefox does
// not request a failed module address again, so the page uses another address.
func TestPageReloadsFailedModule(t *testing.T) {
	ctx := browser(t)
	f := collectiontest.Open(t, notes, nil)
	h := site(t, f)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.String() == "/ui/lab.js" {
			panic(http.ErrAbortHandler)
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	step(t, ctx, "the lab", chromedp.Navigate(s.URL+"/?q=undo"), until(shown), chromedp.Click(`a[data-view="lab"]`),
		chromedp.WaitVisible("svg.lab .node"), until(`document.getElementById("notes").textContent === ""`))
}

// TestPageIgnoresComposingKey checks that the page ignores a key that ends the composition of a letter. In
// Safari the key arrives after the composition.
func TestPageIgnoresComposingKey(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
	step(t, ctx, "Escape", chromedp.Navigate(s.URL+"/?q=undo"), until(shown), chromedp.Focus("#query"),
		do(`document.getElementById("query").dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", keyCode: 229, `+
			`bubbles: true, cancelable: true}))`), until(`document.activeElement.id === "query"`))
}

// TestPageFocusRing checks that the title has the focus ring, because the title cuts off a ring of its link.
func TestPageFocusRing(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
	step(t, ctx, "a result", chromedp.Navigate(s.URL+"/?q=undo"), until(shown), chromedp.Focus("#query"),
		chromedp.KeyEvent(kb.ArrowDown),
		until(`document.activeElement.matches("h2 > a:focus-visible") && `+
			`getComputedStyle(document.activeElement).outlineStyle === "none" && `+
			`getComputedStyle(document.activeElement.parentElement).outlineStyle === "solid"`))
}

// TestLabEngines checks sliders, labels and the chart of the lab where browsers differ.
func TestLabEngines(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
	open := chromedp.Navigate(s.URL + "/?view=lab&q=commit")
	// With step "any", an arrow key moves 1% of the range in Chromium and WebKit, but by 1 in Firefox.
	step(t, ctx, "arrows go a hundredth of a slider's way", open, chromedp.WaitVisible("svg.lab .node"), until(shown),
		until(`[...document.querySelectorAll(".lab-controls input[type=range]")].every((r) => r.min === r.max || `+
			`Number(r.step) > 0) && Math.abs(Number(document.querySelector(".lab-controls input[type=range]").step) - `+
			`0.01) < 1e-9`))
	step(t, ctx, "both ends of every slider are reached, and from there the number of the profile", do(`window.off = []; for (const r of document.querySelectorAll(".lab-controls input[type=range]:not(.reckoned)")) {
		const text = r.parentElement.querySelector("input[type=text]"), was = text.value, [, least, most] = /, (.*)[.][.](.*)/.exec(text.ariaLabel);
		for (const [to, want] of [[r.max, most], [r.min, least]]) {
			r.value = to;
			r.dispatchEvent(new Event("input", {bubbles: true}));
			if (text.value !== want) off.push(r.ariaLabel + ": " + text.value + " is not " + want);
		}
		for (let i = 0; i < 200 && text.value !== was; i++) {
			r.stepUp();
			r.dispatchEvent(new Event("input", {bubbles: true}));
		}
		if (r.parentElement.classList.contains("changed")) off.push(r.ariaLabel + " does not reach " + was);
	}`), until(`off.join() === ""`))
	step(t, ctx, "the focus on the box of the sliders, a stop of Firefox",
		do(`window.faults = []; addEventListener("error", (e) => faults.push(e.message)); `+
			`document.querySelector(".lab-controls").dispatchEvent(new FocusEvent("focusin", {bubbles: true}))`),
		until(`faults.length === 0`))
	step(t, ctx, "what hides lines behind a label is below all of its letters",
		until(`!document.querySelector("svg.lab :is(.under, .node text):empty") && [...document.querySelectorAll("svg.lab `+
			`.node:has(text)")].every((n) => { const under = n.previousElementSibling, label = n.querySelector("text"); `+
			`return n.querySelectorAll("text").length === 1 && under.ariaHidden === "true" && under.textContent === `+
			`label.textContent && getComputedStyle(label).stroke === "none" && getComputedStyle(under).strokeWidth `+
			`=== "10px"; })`))
	step(t, ctx, "a result that gets the focus where the browser does not bring it into sight",
		chromedp.Focus(".lab-controls input"), chromedp.KeyEvent(kb.Tab),
		do(`document.querySelector(".scroll").scrollLeft = 0; [...document.querySelectorAll("svg.lab `+
			`[role=button]")].at(-1).focus({preventScroll: true})`),
		until(`document.querySelector(".scroll").scrollWidth > document.querySelector(".scroll").clientWidth && `+
			`document.querySelector(".scroll").scrollLeft > 0`),
		// including the focus ring
		until(`document.activeElement.getBoundingClientRect().right + 4 <= `+
			`document.querySelector(".scroll").getBoundingClientRect().right`))
}
