package web_test

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
)

// many serves fifty notes.
func many(t *testing.T) *httptest.Server {
	t.Helper()
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("n/%02d.md", i)] = fmt.Sprintf("# Note %d\n\nA commit, number %d of all.\n\n## Part\n\nMore of "+
			"commit %d.\n", i, i, i)
	}
	f := collectiontest.Open(t, files, nil)
	s := httptest.NewServer(site(t, httpdoor.Options{Collections: []*collection.Collection{f.Collection},
		Open: access.Unrestricted(), Version: "test"}))
	t.Cleanup(s.Close)
	return s
}

// TestPageMore: more results than the first ones are there by a button, in the address, and
// the keyboard goes on at the first new one; a filter alone lists what it lets through.
func TestPageMore(t *testing.T) {
	ctx := browser(t)
	s := many(t)
	results := func(n int) chromedp.Action {
		return until(fmt.Sprintf(`document.querySelectorAll("#results > li").length === %d && %s`, n, shown))
	}
	first := func(n int) chromedp.Action { return until(fmt.Sprintf(`counts[0] === %d && counts.at(-1) === 20`, n)) }
	count := do(`{ const main = document.getElementById("main"); window.counts = []; new MutationObserver(() => ` +
		`counts.push(document.querySelectorAll("#results > li").length)).observe(main, { childList: true, subtree: true }); }`)
	step(t, ctx, "what is seen comes first", chromedp.Navigate(s.URL+"/?q=commit"), results(20), count,
		chromedp.SendKeys("#query", "s"), first(8))
	step(t, ctx, "below the first, all come at once", do(`scrollTo(0, 900)`), until(`scrollY === 900`), count,
		do(`{ const q = document.getElementById("query"); q.value = "commit"; q.dispatchEvent(new Event("input", { `+
			`bubbles: true })); }`), first(20), until(`scrollY === 900`))
	step(t, ctx, "more", chromedp.Navigate(s.URL+"/?q=commit"), results(20), chromedp.Focus("button.more"),
		chromedp.KeyEvent(kb.Enter), results(40),
		until(`location.search === "?q=commit&n=40" && document.activeElement === document.querySelector("#result-20 h2 a")`))
	step(t, ctx, "the arithmetic is of these results", chromedp.Click("#result-30 button.score"),
		until(`Math.abs(Number(document.querySelector("#result-30 .why b")?.textContent) - `+
			`Number(document.querySelector("#result-30 button.score").textContent)) < 0.001`))
	step(t, ctx, "fewer again", chromedp.NavigateBack(), results(20))
	step(t, ctx, "all that are shown", chromedp.Navigate(s.URL+"/?q=commit&n=1000"),
		until(`document.querySelectorAll("#results > li").length > 40 && `+shown),
		until(`!document.querySelector("button.more")`))
	step(t, ctx, "a filter alone", chromedp.Navigate(s.URL+"/?filter=path:n/0*"),
		until(`document.querySelectorAll("#results > li").length >= 10 && `+shown),
		until(`[...document.querySelectorAll("#results bdi[dir=ltr]")].every((e) => e.textContent.startsWith("n/0"))`))
}

// TestPageMoreThanKept: where a profile keeps fewer results than are shown, a button asks once whether there are any
// more.
func TestPageMoreThanKept(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"a.md": "# A\n\n" + strings.Repeat("## Commit\n\nA commit.\n\n", 200),
		"b.md": "# B\n\nA commit.\n"})
	step(t, ctx, "few", chromedp.Navigate(s.URL+"/?q=commit&profile=bench"),
		until(`document.querySelector("#result-0") && `+shown),
		until(`document.querySelectorAll("#results > li").length < 20`))
	step(t, ctx, "no more", chromedp.Click("button.more", chromedp.ByQuery),
		until(`location.search === "?q=commit&profile=bench&n=100" && `+shown),
		until(`!document.querySelector("button.more") && document.querySelector(".columns `+
			`.empty").textContent.startsWith("This profile keeps no more")`))
}

// TestPageAddress: what is open, pinned, asked and set is in the address, which shows the same
// elsewhere, and who comes back finds the place.
func TestPageAddress(t *testing.T) {
	ctx := browser(t)
	s := many(t)
	again := chromedp.Reload() // as in another tab: nothing but the address is kept
	do := func(code string) chromedp.Action { return chromedp.Evaluate(code+"; 0", nil) }
	step(t, ctx, "arithmetic", chromedp.Navigate(s.URL+"/?q=commit"), until(shown),
		chromedp.Click("#result-1 button.score"), until(`location.search === "?q=commit&why=2"`), again,
		until(`document.querySelector("#result-1 .why") && document.querySelectorAll(".why").length === 1`),
		until(`document.querySelector("#result-1 button.score").ariaExpanded === "true"`),
		chromedp.Click("#result-1 button.score"), until(`location.search === "?q=commit"`))
	step(t, ctx, "the place", do(`document.querySelector("#result-12 h2 a").scrollIntoView({block: "end"}); `+
		`window.place = scrollY; document.querySelector("#result-12 h2 a").click()`),
		until(`document.body.dataset.view === "document" && `+shown+` && scrollY < place`),
		chromedp.NavigateBack(), until(`document.body.dataset.view === "search" && `+shown+` && place > 0 && `+
			`Math.abs(scrollY - place) < 2`))
	step(t, ctx, "a pinned result", chromedp.Navigate(s.URL+"/?view=lab&q=commit"), chromedp.WaitVisible("svg.lab .node"),
		do(`document.querySelectorAll("svg.lab [role=button]")[2].dispatchEvent(new MouseEvent("click", {bubbles: true}))`),
		until(`location.search.includes("pin=")`), again,
		until(`document.querySelectorAll("svg.lab [role=button]")[2]?.ariaPressed === "true" && `+
			`document.querySelector("[aria-label=Arithmetic] .why")`))
	step(t, ctx, "why not", chromedp.SendKeys(`.lab-bar input`, "n/49.md"+kb.Enter, chromedp.ByQuery),
		until(`location.search.includes("not=n%2F49.md") && !location.search.includes("pin=")`), again,
		until(`document.querySelector("[aria-label=Arithmetic] h2")?.textContent === "notes:n/49.md" && `+
			`document.querySelector(".lab-bar input").value === "n/49.md"`))
	step(t, ctx, "numbers of another address",
		do(`history.pushState(null, "", "/?view=lab&q=commit&set.meaning=0.9"); dispatchEvent(new PopStateEvent("popstate"))`), until(`document.querySelector(".lab-controls input").value === "0.9" && `+shown),
		chromedp.NavigateBack(), until(`document.querySelector(".lab-controls input").value !== "0.9" && `+shown))
	step(t, ctx, "no such profile", chromedp.Navigate(s.URL+"/?view=lab&q=commit&profile=nosuch"),
		until(`document.getElementById("notes").textContent.includes('there is no profile "nosuch"')`))
	step(t, ctx, "no such parameter", chromedp.Navigate(s.URL+"/?view=lab&q=commit&set.nosuch=1"),
		until(`document.getElementById("notes").textContent.includes("sheaf has no parameter nosuch")`))
}

// TestPageNames: a passage is found by whatever names it: its identifier, a path with its
// heading or block, also a path with a colon.
func TestPageNames(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"near.md": "# Near\n\nA walrus.\n\n## Part two\n\nText of it. ^block\n\n## " +
		"Other\n\nA walrus.\n", "colon: c.md": "# Colon\n\nText.\n"})
	for _, id := range []string{"notes:near.md#part-two", "near.md#part-two", "near.md#Part two", "near.md#^block",
		"near.md:7"} {
		step(t, ctx, id, chromedp.Navigate(s.URL+"/?"+url.Values{"view": {"document"}, "id": {id}}.Encode()),
			until(`document.querySelector("article .hit")?.textContent === "Part two" && `+shown))
		step(t, ctx, "why not "+id, chromedp.Navigate(s.URL+"/?"+
			url.Values{"view": {"lab"}, "q": {"walrus"}, "not": {id}}.Encode()),
			until(`document.querySelector("[aria-label=Arithmetic] h2")?.textContent === "notes:near.md#part-two"`))
	}
	for _, id := range []string{"colon: c.md", "notes:colon: c.md"} {
		step(t, ctx, "why not "+id, chromedp.Navigate(s.URL+"/?"+
			url.Values{"view": {"lab"}, "q": {"walrus"}, "not": {id}}.Encode()),
			until(`document.querySelector("[aria-label=Arithmetic] h2")?.textContent === "notes:colon: c.md"`))
	}
}
