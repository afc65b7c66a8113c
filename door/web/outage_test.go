package web_test

import (
	"context"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/door/web"
	"sheaf/internal/check"
)

// TestPageArithmeticAfterOutage checks that arithmetic, explanations and the status requested during an
// outage arrive afterwards, and that the outage note disappears.
func TestPageArithmeticAfterOutage(t *testing.T) {
	ctx := browser(t)
	f := collectiontest.Open(t, notes, nil)
	h := site(t, f)
	var away atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			panic(http.ErrAbortHandler)
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	set := func(to bool) chromedp.Action {
		return chromedp.ActionFunc(func(ctx context.Context) error { away.Store(to); return nil })
	}
	said := until(`document.body.textContent.includes("the server does not answer: this page asks again until it does")`)
	over := until(`!document.body.textContent.includes("the server does not answer")`)
	step(t, ctx, "a result", visit(s, "/?q=undo"), until(shown), set(true), click("#result-0 button.score"), said,
		set(false), until(`$("#result-0 .why")`), over)
	step(t, ctx, "one of the lab", visit(s, "/?view=lab&q=undo"), until(`$(".judge li") && shown()`), set(true),
		do(`$("svg.lab [role=button]").dispatchEvent(new MouseEvent("click", {bubbles: true}))`), said, set(false),
		until(`$(".arithmetic .why")`), over)
	step(t, ctx, "why not", set(true), do(`{ const box = $(".lab-bar input"); box.value = "git.md"; `+
		`box.dispatchEvent(new Event("change")); }`), said, set(false),
		until(`$(".arithmetic h2")?.textContent === "notes:git.md"`), over)
	step(t, ctx, "the state", visit(s, "/?view=status"), until(`$("#looked, table") && shown()`), set(true), said,
		set(false), over)
}

// TestDocumentWhileTooManyFilesAreOpen checks that the answer asks for a retry and does not name the file.
func TestDocumentWhileTooManyFilesAreOpen(t *testing.T) {
	h := web.Handler(func(string) (*collection.Collection, error) {
		return nil, &fs.PathError{Op: "open", Path: "/secret/place", Err: syscall.EMFILE}
	}, access.Unrestricted(), nil)
	res := httptest.NewRecorder()
	h.ServeHTTP(res, httptest.NewRequest("GET", "/ui/document?id=a.md", nil))
	check.That(t, res.Code == 503 && res.Header().Get("Retry-After") != "" &&
		!strings.Contains(res.Body.String(), "secret"), "%d %v %s", res.Code, res.Header(), res.Body)
}

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
	step(t, ctx, "the lab", visit(s, "/?q=undo"), until(shown), click(`a[data-view="lab"]`), visible("svg.lab .node"),
		until(`$("#notes").textContent === ""`))
}

// TestPageIgnoresComposingKey checks that the page ignores a key that ends the composition of a letter. In
// Safari the key arrives after the composition.
func TestPageIgnoresComposingKey(t *testing.T) {
	ctx, s := browsed(t)
	step(t, ctx, "Escape", visit(s, "/?q=undo"), until(shown), focusOn("#query"), do(`$("#query").dispatchEvent(new `+
		`KeyboardEvent("keydown", {key: "Escape", keyCode: 229, bubbles: true, cancelable: true}))`),
		until(`document.activeElement.id === "query"`))
}

// TestPageFocusRing checks that the title has the focus ring, because the title cuts off a ring of its link.
func TestPageFocusRing(t *testing.T) {
	ctx, s := browsed(t)
	step(t, ctx, "a result", visit(s, "/?q=undo"), until(shown), focusOn("#query"), press(kb.ArrowDown),
		until(`document.activeElement.matches("h2 > a:focus-visible") && `+
			`getComputedStyle(document.activeElement).outlineStyle === "none" && `+
			`getComputedStyle(document.activeElement.parentElement).outlineStyle === "solid"`))
}

// TestLabEngines checks sliders, labels and the chart of the lab where browsers differ.
func TestLabEngines(t *testing.T) {
	ctx, s := browsed(t)
	open := visit(s, "/?view=lab&q=commit")
	// With step "any", an arrow key moves 1% of the range in Chromium and WebKit, but by 1 in Firefox.
	step(t, ctx, "arrows go a hundredth of a slider's way", open, visible("svg.lab .node"), until(shown),
		until(`$$(".lab-controls input[type=range]").every((r) => r.min === r.max || Number(r.step) > 0) && `+
			`Math.abs(Number($(".lab-controls input[type=range]").step) - 0.01) < 1e-9`))
	step(t, ctx, "both ends of every slider are reached, and from there the number of the profile", do(`window.off = [];
	for (const r of $$(".lab-controls input[type=range]:not(.reckoned)")) {
		const text = r.parentElement.querySelector("input[type=text]"), was = text.value;
		const [, least, most] = /, (.*)[.][.](.*)/.exec(text.ariaLabel);
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
	step(t, ctx, "the focus on the box of the sliders, a stop of Firefox", do(`window.faults = []; `+
		`addEventListener("error", (e) => faults.push(e.message)); $(".lab-controls").dispatchEvent(new `+
		`FocusEvent("focusin", {bubbles: true}))`), until(`faults.length === 0`))
	step(t, ctx, "what hides lines behind a label is below all of its letters", until(`!$("svg.lab :is(.under, .node `+
		`text):empty") && $$("svg.lab .node:has(text)").every((n) => { const under = n.previousElementSibling, label = `+
		`n.querySelector("text"); return n.querySelectorAll("text").length === 1 && under.ariaHidden === "true" && `+
		`under.textContent === label.textContent && getComputedStyle(label).stroke === "none" && `+
		`getComputedStyle(under).strokeWidth === "10px"; })`))
	step(t, ctx, "a result that gets the focus where the browser does not bring it into sight",
		focusOn(".lab-controls input"), press(kb.Tab),
		do(`$(".scroll").scrollLeft = 0; $$("svg.lab `+
			`[role=button]").at(-1).focus({preventScroll: true})`),
		until(`$(".scroll").scrollWidth > $(".scroll").clientWidth && `+
			`$(".scroll").scrollLeft > 0`),
		// including the focus ring
		until(`document.activeElement.getBoundingClientRect().right + 4 <= `+
			`$(".scroll").getBoundingClientRect().right`))
}
