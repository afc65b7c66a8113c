package web_test

import (
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
	"sheaf/eval/dataset"
	"sheaf/search/scan"
)

// TestPageKept: what the page was asked is kept on the way to another view, and counts
// there; the keys are shown where the page says so; a link that leads nowhere is none.
func TestPageKept(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
	shown := until(`document.getElementById("main").dataset.shown === location.search`)
	step(t, ctx, "the keys in an empty search box", chromedp.Navigate(s.URL+"/"),
		until(`document.activeElement === document.getElementById("query")`),
		chromedp.KeyEvent("?"), chromedp.WaitVisible("#keys"), chromedp.KeyEvent(kb.Escape), chromedp.WaitNotVisible("#keys"),
		until(`document.getElementById("query").value === ""`))
	step(t, ctx, "a mark within a query", chromedp.SendKeys("#query", "undo?"), until(`location.search === "?q=undo%3F"`))
	step(t, ctx, "letters faster than a browser lets an address change", chromedp.Navigate(s.URL+"/?q=undo"), shown,
		do(`window.let = history.replaceState; history.replaceState = () => { throw new DOMException("too often", `+
			`"SecurityError"); }`),
		chromedp.SendKeys("#query", " com"), chromedp.SendKeys("#query", "mit"), do(`history.replaceState = window.let`),
		until(`location.search === "?q=undo+commit"`), shown)
	step(t, ctx, "to the lab by key", chromedp.Navigate(s.URL+"/?q=commit&filter=tag%3Ahowto&profile=rrf"), shown,
		chromedp.Blur("#query"), chromedp.KeyEvent("l"),
		until(`location.search.includes("view=lab") && location.search.includes("filter=tag%3Ahowto") && `+
			`location.search.includes("profile=rrf")`))
	step(t, ctx, "what narrows there", chromedp.Click(`//*[@class="lab-bar"]//button[contains(., "tag:howto")]`,
		chromedp.BySearch), until(`!location.search.includes("filter=") && location.search.includes("profile=rrf") && `+
		`!document.querySelector(".lab-bar").textContent.includes("Narrowed")`), shown)
	step(t, ctx, "a filter alone", chromedp.Navigate(s.URL+"/?filter=tag%3Ahowto"), shown, chromedp.Blur("#query"),
		chromedp.KeyEvent("l"), until(`location.search.includes("view=lab") && document.querySelector("svg.lab .node")`))
	var before, after string
	step(t, ctx, "the lab's own link", chromedp.Navigate(s.URL+"/?view=lab&q=commit&filter=tag%3Ahowto"),
		chromedp.WaitVisible("svg.lab .node"),
		chromedp.Evaluate(`document.querySelector("nav a[data-view=lab]").getAttribute("href")`, &before),
		chromedp.Evaluate(`(() => { const r = document.querySelector(".lab-controls input[type=range]"); r.value = r.max; `+
			`r.dispatchEvent(new Event("input", {bubbles: true})); })()`, nil),
		until(`location.search.includes("set.")`),
		chromedp.Evaluate(`document.querySelector("nav a[data-view=lab]").getAttribute("href")`, &after))
	if !strings.Contains(before, "filter=") || strings.Contains(before, "set.") || !strings.Contains(after, "set.") {
		t.Errorf("the link to the lab: %s, with a number changed %s", before, after)
	}
	step(t, ctx, "why not", chromedp.Navigate(s.URL+"/?view=lab&q=commit&filter=tag%3Anosuch"), shown,
		chromedp.SendKeys(`input[placeholder="path or identifier"]`, "git.md"+kb.Enter),
		until(`document.querySelector("[aria-label=Arithmetic]").textContent.includes("the filter leaves it out")`))
	step(t, ctx, "a link that leads nowhere", chromedp.Navigate(s.URL+"/?view=document&id=git.md"),
		until(`document.querySelector("article a")`),
		until(`[...document.querySelectorAll("article a")].some((a) => a.textContent === "bad" && !a.hasAttribute("href") `+
			`&& !a.target && a.title)`),
		until(`[...document.querySelectorAll("article a")].some((a) => a.textContent === "out" && a.target === "_blank")`))
}

// TestPageFoundInFiles: what a profile finds in the files themselves, whose sections it numbers as the index
// does not, is opened, and counts and is saved where it is marked, by the name that the index has for it.
func TestPageFoundInFiles(t *testing.T) {
	ctx := browser(t)
	long := "# Git\n\n## Other things\n\n" + strings.Repeat("Nothing of interest stands here. ", 200) +
		"\n\n## Undo a commit\n\n" + strings.Repeat("Move the branch back. ", 200) + "\n"
	f := collectiontest.Open(t, map[string]string{"git.md": long, "far.md": "# Far\n\nA branch.\n"},
		func(o *collection.Options) {
			files, err := scan.New(scan.Options{Root: o.Ingest.Trees[0].Root, Tree: collectiontest.Tree, Analyzer: o.Analyzer})
			if err != nil {
				t.Fatal(err)
			}
			o.Scanner = files
		})
	s := httptest.NewServer(site(t, httpdoor.Options{Collections: []*collection.Collection{f.Collection},
		Open: access.Unrestricted(), Version: "test"}))
	t.Cleanup(s.Close)
	answer(ctx)
	const hit = `document.querySelector(".hit")?.textContent === "Undo a commit"`
	step(t, ctx, "a result", chromedp.Navigate(s.URL+"/?q=branch+back&profile=tiered"),
		until(`document.querySelector("#result-0 h2")?.textContent.includes("Undo a commit")`),
		chromedp.Click("#result-0 h2 a"), until(hit))
	step(t, ctx, "by the keyboard", chromedp.Navigate(s.URL+"/?q=branch+back&profile=tiered"),
		until(`document.querySelector("#result-0")`), chromedp.KeyEvent(kb.Enter), until(hit))
	step(t, ctx, "what is pointed at in the lab", chromedp.Navigate(s.URL+"/?view=lab&q=branch+back&profile=tiered"),
		until(`document.querySelector(".judge li") && document.querySelector("svg.lab .node[role=button]")`),
		do(`[...document.querySelectorAll("svg.lab .node[role=button]")].find((n) => `+
			`n.ariaLabel.includes("Undo")).dispatchEvent(new PointerEvent("pointerover", {bubbles: true}))`),
		do(`document.querySelector(".arithmetic h2 a").click()`), until(hit))
	step(t, ctx, "a mark", chromedp.Navigate(s.URL+"/?view=lab&q=branch+back&profile=tiered"),
		chromedp.WaitVisible(".judge li"), until(`document.querySelector(".judge li:first-child `+
			`a").textContent.includes("Undo")`), chromedp.Click(".judge li:first-child button"),
		until(`document.querySelector(".judge tbody tr:last-child td:last-child")?.textContent === "1.000"`),
		until(`document.querySelector(".judge li:first-child button").ariaPressed === "true" && `+
			`localStorage.getItem("sheaf-judged notes") === '{"branch back":{"notes:git.md#undo-a-commit":1}}'`))
	step(t, ctx, "it is saved", chromedp.Click(`//button[text()="Save as judged queries"]`, chromedp.BySearch),
		until(`document.getElementById("notes").textContent.includes("judged.yaml")`))
	if set, err := dataset.Notes(filepath.Join(f.Options.Judged, "judged.yaml"), ""); err != nil || set.Judgements() != 1 {
		t.Errorf("the saved marks: %+v, %v", set, err)
	}
	step(t, ctx, "by another profile", chromedp.Navigate(s.URL+"/?view=lab&q=branch+back"),
		until(`document.querySelector(".judge li:first-child button")?.ariaPressed === "true"`))
}

// TestPageFileNamedAsSection: a file whose name ends as the number of a section is no section, and the
// lab asks for no line of it: where that was refused, it asked again without end.
func TestPageFileNamedAsSection(t *testing.T) {
	ctx := browser(t)
	f := collectiontest.Open(t, map[string]string{"issue #12": "Move the branch back.\n"}, func(o *collection.Options) {
		o.Ingest.Walk.Include = []string{"issue*"}
	})
	s := httptest.NewServer(site(t, httpdoor.Options{Collections: []*collection.Collection{f.Collection},
		Open: access.Unrestricted(), Version: "test"}))
	t.Cleanup(s.Close)
	step(t, ctx, "the lab, whose searches fail", chromedp.Navigate(s.URL+"/?view=lab"), until(shown),
		do(`const whole = window.fetch; window.fetch = (path, ...more) => path === "/v1/search" ? Promise.reject(new `+
			`TypeError("away")) : whole(path, ...more)`),
		chromedp.SendKeys("#query", "branch"),
		until(`document.querySelector(".judge li a")?.search.includes("id=notes%3Aissue+%2312&")`))
}
