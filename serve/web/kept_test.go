package web_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestPageKept: what the page was asked is kept on the way to another view, and counts
// there; the keys are shown where the page says so; a link that leads nowhere is none.
func TestPageKept(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
	shown := until(`document.getElementById("main").dataset.shown === location.search`)
	step(t, ctx, "the keys in an empty search box", chromedp.Navigate(s.URL+"/"), until(`document.activeElement === document.getElementById("query")`),
		chromedp.KeyEvent("?"), chromedp.WaitVisible("#keys"), chromedp.KeyEvent(kb.Escape), chromedp.WaitNotVisible("#keys"), until(`document.getElementById("query").value === ""`))
	step(t, ctx, "a mark within a query", chromedp.SendKeys("#query", "undo?"), until(`location.search === "?q=undo%3F"`))
	step(t, ctx, "letters faster than a browser lets an address change", chromedp.Navigate(s.URL+"/?q=undo"), shown, do(`window.let = history.replaceState; history.replaceState = () => { throw new DOMException("too often", "SecurityError"); }`),
		chromedp.SendKeys("#query", " com"), chromedp.SendKeys("#query", "mit"), do(`history.replaceState = window.let`), until(`location.search === "?q=undo+commit"`), shown)
	step(t, ctx, "to the lab by key", chromedp.Navigate(s.URL+"/?q=commit&filter=tag%3Ahowto&profile=rrf"), shown, chromedp.Blur("#query"), chromedp.KeyEvent("l"),
		until(`location.search.includes("view=lab") && location.search.includes("filter=tag%3Ahowto") && location.search.includes("profile=rrf")`))
	step(t, ctx, "what narrows there", chromedp.Click(`//*[@class="lab-bar"]//button[contains(., "tag:howto")]`, chromedp.BySearch), until(`!location.search.includes("filter=") && location.search.includes("profile=rrf") && !document.querySelector(".lab-bar").textContent.includes("Narrowed")`), shown)
	step(t, ctx, "a filter alone", chromedp.Navigate(s.URL+"/?filter=tag%3Ahowto"), shown, chromedp.Blur("#query"), chromedp.KeyEvent("l"), until(`location.search.includes("view=lab") && document.querySelector("svg.lab .node")`))
	var before, after string
	step(t, ctx, "the lab's own link", chromedp.Navigate(s.URL+"/?view=lab&q=commit&filter=tag%3Ahowto"), chromedp.WaitVisible("svg.lab .node"),
		chromedp.Evaluate(`document.querySelector("nav a[data-view=lab]").getAttribute("href")`, &before),
		chromedp.Evaluate(`(() => { const r = document.querySelector(".lab-controls input[type=range]"); r.value = r.max; r.dispatchEvent(new Event("input", {bubbles: true})); })()`, nil),
		until(`location.search.includes("set.")`), chromedp.Evaluate(`document.querySelector("nav a[data-view=lab]").getAttribute("href")`, &after))
	if !strings.Contains(before, "filter=") || strings.Contains(before, "set.") || !strings.Contains(after, "set.") {
		t.Errorf("the link to the lab: %s, with a number changed %s", before, after)
	}
	step(t, ctx, "why not", chromedp.Navigate(s.URL+"/?view=lab&q=commit&filter=tag%3Anosuch"), shown,
		chromedp.SendKeys(`input[placeholder="path or identifier"]`, "git.md"+kb.Enter), until(`document.querySelector("[aria-label=Arithmetic]").textContent.includes("the filter leaves it out")`))
	step(t, ctx, "a link that leads nowhere", chromedp.Navigate(s.URL+"/?view=document&id=git.md"), until(`document.querySelector("article a")`),
		until(`[...document.querySelectorAll("article a")].some((a) => a.textContent === "bad" && !a.hasAttribute("href") && !a.target && a.title)`),
		until(`[...document.querySelectorAll("article a")].some((a) => a.textContent === "out" && a.target === "_blank")`))
}
