package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sheaf/collection"
	"sheaf/collection/collectiontest"
	"sheaf/eval/dataset"
	"sheaf/internal/must"
	"sheaf/search/scan"
)

// many serves fifty notes.
func many(t *testing.T) *httptest.Server {
	t.Helper()
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("n/%02d.md", i)] = fmt.Sprintf("# Note %d\n\nA commit, number %d of all.\n\n## Part\n\nMore of "+
			"commit %d.\n", i, i, i)
	}
	return served(t, files)
}

// TestPageMore checks that a button adds results, also to the address. The focus moves to the first
// new result. A filter without a query lists its documents.
func TestPageMore(t *testing.T) {
	ctx := browser(t)
	s := many(t)
	results := func(n int) chromedp.Action {
		return until(fmt.Sprintf(`document.querySelectorAll("#results > li").length === %d && %s`, n, shown))
	}
	first := func(n int) chromedp.Action { return until(fmt.Sprintf(`counts[0] === %d && counts.at(-1) === 20`, n)) }
	count := do(`{ const main = document.getElementById("main"); window.counts = []; new MutationObserver(() => ` +
		`counts.push(document.querySelectorAll("#results > li").length)).observe(main, ` +
		`{ childList: true, subtree: true }); }`)
	step(t, ctx, "what is seen comes first", chromedp.Navigate(s.URL+"/?q=commit"), results(20), count,
		chromedp.SendKeys("#query", "s"), first(8))
	step(t, ctx, "below the first, all come at once", do(`scrollTo(0, 900)`), until(`scrollY === 900`), count,
		retype("commit"), first(20), until(`scrollY === 900`))
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

// TestPageMoreThanProfileReturns checks that for a profile which returns fewer results than a page, the
// button asks once for more.
func TestPageMoreThanProfileReturns(t *testing.T) {
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

// TestPageAddress checks that the address holds opened, pinned and changed state and restores it
// elsewhere. Going back restores the scroll position.
func TestPageAddress(t *testing.T) {
	ctx := browser(t)
	s := many(t)
	again := chromedp.Reload() // as in another tab: only the address is kept
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
		do(`history.pushState(null, "", "/?view=lab&q=commit&set.meaning=0.9"); `+
			`dispatchEvent(new PopStateEvent("popstate"))`),
		until(`document.querySelector(".lab-controls input").value === "0.9" && `+shown),
		chromedp.NavigateBack(), until(`document.querySelector(".lab-controls input").value !== "0.9" && `+shown))
	step(t, ctx, "no such profile", chromedp.Navigate(s.URL+"/?view=lab&q=commit&profile=nosuch"),
		until(`document.getElementById("notes").textContent.includes('there is no profile "nosuch"')`))
	step(t, ctx, "no such parameter", chromedp.Navigate(s.URL+"/?view=lab&q=commit&set.nosuch=1"),
		until(`document.getElementById("notes").textContent.includes("sheaf has no parameter nosuch")`))
}

// TestPageNames checks that every name of a passage works: its identifier, and a path with heading,
// block or line. The path may have a colon.
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

// slow delays every answer of an address by this time.
func slow(address string, milliseconds int) chromedp.Action {
	return do(fmt.Sprintf(`window.real ||= window.fetch; window.fetch = async (path, o) => {
		if (path.startsWith(%s)) await new Promise((done) => setTimeout(done, %d));
		return real(path, o);
	}`, quote(address), milliseconds))
}

// held delays the answers of an address until free runs.
func held(address string) chromedp.Action {
	return do(fmt.Sprintf(`window.real ||= window.fetch;
	window.held = new Promise((done) => { window.free = done; });
	window.fetch = async (path, o) => {
		if (path.startsWith(%s)) await window.held;
		return real(path, o);
	}`, quote(address)))
}

var free = do(`window.free()`)

// TestPageEnterWaits checks that Enter opens a result of the typed query, not of an earlier answer.
// The page says when it waits.
func TestPageEnterWaits(t *testing.T) {
	ctx, s := browsed(t)
	typed := func(query string) chromedp.Action {
		return do(`{ const q = document.getElementById("query"); q.focus(); q.value = ` + quote(query) +
			`; q.dispatchEvent(new Event("input", {bubbles: true})); }`)
	}
	step(t, ctx, "an answer", chromedp.Navigate(s.URL+"/?q=hostile"),
		until(`document.querySelector("#result-0") && `+shown))
	step(t, ctx, "Enter before the next", slow("/v1/search", 300), typed("undo commit"), chromedp.KeyEvent(kb.Enter),
		until(`document.body.dataset.view === "document" && `+shown),
		until(`location.search.includes("undo-a-commit") && location.search.includes("q=undo+commit")`))
	step(t, ctx, "Enter before the first", chromedp.Navigate(s.URL), until(shown), slow("/v1/search", 300), typed("stash"),
		chromedp.KeyEvent(kb.Enter), until(`location.search.includes("id=notes%3Agit.md%23stash") && `+shown))
	step(t, ctx, "a letter after Enter", chromedp.Navigate(s.URL+"/?q=hostile"),
		until(`document.querySelector("#result-0") && `+shown), slow("/v1/search", 300), typed("undo"),
		chromedp.KeyEvent(kb.Enter), typed("undo commit"), until(`location.search === "?q=undo+commit" && `+shown))
	step(t, ctx, "a slow answer", held("/v1/search"), typed("stash"),
		until(`document.getElementById("count").textContent === "Waiting for the server…" && `+
			`document.getElementById("main").ariaBusy === "true"`), shoot("slow"), free,
		until(`document.getElementById("count").textContent.includes("results in") && `+
			`document.getElementById("main").ariaBusy !== "true" && `+shown))
	step(t, ctx, "an answer overtakes a slow one", slow("/v1/search", 1500), typed("st"),
		do(`window.fetch = window.real; window.begun = performance.now()`), typed("stash"),
		until(`document.getElementById("count").textContent.includes("results in") && `+shown),
		until(`performance.now() - begun > 1700`),
		until(`document.getElementById("count").textContent.includes("results in")`))
	step(t, ctx, "a slow document", held("/ui/document"), chromedp.Click("#result-0 h2 a"),
		until(`document.getElementById("count").textContent === "Waiting for the server…"`), free,
		until(`document.getElementById("count").textContent === "" && `+shown))
	step(t, ctx, "nothing, and why comes slowly", chromedp.Navigate(s.URL+"/?q=stash"), until(shown),
		slow("/v1/status", 1500), typed(`"zzz undefinable"`),
		until(`document.querySelector(".empty")?.textContent.includes("Nothing found") && `+shown),
		until(`document.getElementById("count").textContent.startsWith("0 results in")`))
}

// TestPageEditor checks that a new editor address applies at once, points to the passage, and handles Windows paths.
func TestPageEditor(t *testing.T) {
	ctx := browser(t)
	s, f := start(t)
	at := func(line int) chromedp.Action {
		return until(fmt.Sprintf(`document.querySelector("main [data-editor]")?.getAttribute("href") === %s && `+shown,
			quote(fmt.Sprintf("vscode://file%s/git.md:%d", f.Root, line))))
	}
	choose := func(pattern string) chromedp.Action {
		return chromedp.Tasks{chromedp.Click("#help"), chromedp.WaitVisible("#editor"),
			do(`{ const e = document.getElementById("editor"); e.value = ` + quote(pattern) + `; e.dispatchEvent(new ` +
				`Event("change", {bubbles: true})); }`), chromedp.KeyEvent(kb.Escape)}
	}
	step(t, ctx, "results", chromedp.Navigate(s.URL+"/?q=undo"),
		until(`document.querySelector("#result-0 [data-editor]")?.href.startsWith("obsidian:") && `+shown),
		choose("vscode://file{path}:{line}"), at(17))
	step(t, ctx, "a passage", chromedp.Click("#result-0 h2 a"), at(15))
	step(t, ctx, "a document", chromedp.Navigate(s.URL+"/?view=document&id=git.md"), at(1),
		choose("zed://file{path}:{line}"), until(`document.querySelector("main `+
			`[data-editor]").getAttribute("href").startsWith("zed:") && `+shown))
	for file, want := range map[string]string{`C:\Users\a b\n#1.md`: "zed://file/C:/Users/a%20b/n%231.md:7",
		`/home/a\b.md`: "zed://file/home/a%5Cb.md:7", `\\server\notes\n.md`: "zed://file//server/notes/n.md:7"} {
		step(t, ctx, file, until(`import("/ui/api.js").then((m) => m.editorAddress(`+quote(file)+`, 7) === `+quote(want)+`)`))
	}
}

// TestPageBackFromDocument checks that going back from a document restores filter and profile. Escape leads
// to the results even without history.
func TestPageBackFromDocument(t *testing.T) {
	ctx, s := browsed(t)
	step(t, ctx, "a document", chromedp.Navigate(s.URL+"/?q=commit&filter=ext:md&profile=rrf"),
		until(`document.querySelector("#result-0") && `+shown), chromedp.Click("#result-0 h2 a"),
		until(`document.querySelector("article") && `+shown))
	all := until(`((a) => a.get("q") === "commit" && a.get("filter") === "ext:md" && a.get("profile") === "rrf")(new ` +
		`URL(document.querySelector("nav a[data-view=search]").href).searchParams)`)
	step(t, ctx, "its results", all, chromedp.Click(".outline > ul a", chromedp.ByQuery), until(shown), all)
	var document string
	step(t, ctx, "its address", chromedp.Location(&document))

	other := tab(t, ctx)
	step(t, other, "a new tab", chromedp.Navigate(document), until(`document.querySelector("article") && `+shown),
		chromedp.KeyEvent(kb.Escape), until(`document.body.dataset.view === "search" && `+
			`document.querySelector("#result-0") && `+shown), all)
	step(t, other, "and back", chromedp.Click("#result-0 h2 a"), until(`document.querySelector("article") && `+shown),
		do(`window.long = history.length`), chromedp.KeyEvent(kb.Escape),
		until(`document.body.dataset.view === "search" && history.length === long && `+shown))
}

// TestPageHeader checks that the fixed header does not cover the result selected by the keyboard.
func TestPageHeader(t *testing.T) {
	ctx := browser(t)
	s := many(t)
	for _, width := range []int64{1300, 390} {
		step(t, ctx, "results", emulation.SetDeviceMetricsOverride(width, 700, 1, false),
			chromedp.Navigate(s.URL+"/?q=commit"), until(`document.querySelectorAll("#results > li").length === 20 && `+shown),
			chromedp.KeyEvent(kb.Escape))
		step(t, ctx, "up", chromedp.KeyEvent(strings.Repeat("j", 15)), chromedp.KeyEvent(strings.Repeat("k", 12)),
			until(`document.querySelector("#result-2.selected") && `+
				`document.querySelector(".selected").getBoundingClientRect().top >= `+
				`document.querySelector("header").getBoundingClientRect().bottom`))
	}
}

// TestDocumentHeadingAttributes checks that a heading shows no attribute list.
func TestDocumentHeadingAttributes(t *testing.T) {
	s := served(t, map[string]string{"a.md": "# Use {/*use-me*/}\n\nA {#text}.\n\n## `two` {#two} " +
		"##\n\nB.\n\nUnder\nlined {#three}\n---\n\nC.\n\n## Kept {a, b}\n\nD.\n\nEarly {#early}\nline\n---\n\nE.\n\n## " +
		"Six { #six .c k=\"}\" } ##\n\nF.\n\n## Seven {.unnumbered}\n\nG.\n"})
	_, body := fetch(t, s.URL+"/ui/document?id=a.md")
	for _, want := range []string{`a.md#use-me\" tabindex=\"-1\"\u003eUse\u003c/h1`, `a.md#two\" ` +
		`tabindex=\"-1\"\u003e\u003ccode\u003etwo\u003c/code\u003e\u003c/h2`, `Under\nlined\u003c/h2`, `A {#text}.`,
		`Kept {a, b}\u003c`, `Early {#early}`, `Six\u003c/h2`, `Seven\u003c/h2`} {
		if !strings.Contains(body, want) {
			t.Errorf("the document lacks %s:\n%s", want, body)
		}
	}
}

// TestPageFacts checks that on a phone the facts of a document are above its outline and not scrolled away.
func TestPageFacts(t *testing.T) {
	ctx := browser(t)
	text := "---\nstatus: done\nauthor: [A, B]\nkind: note\n---\n# Long\n\n" + strings.Repeat("## More\n\nText.\n\n", 40)
	s := served(t, map[string]string{"long.md": text})
	step(t, ctx, "a phone", emulation.SetDeviceMetricsOverride(390, 800, 2, true),
		chromedp.Navigate(s.URL+"/?view=document&id=long.md"),
		until(`document.querySelector(".outline [aria-current]") && document.querySelector(".outline").scrollTop === 0 && `+
			shown), shoot("phone-facts"))
	step(t, ctx, "a section", chromedp.Navigate(s.URL+"/?view=document&id="+url.QueryEscape("long.md#more-30")),
		until(`document.querySelector(".hit") && document.querySelector(".outline").scrollTop > 0 && `+shown))
}

// TestPageReturn checks that returning to the window shows new documents, and redraws nothing without a change.
func TestPageReturn(t *testing.T) {
	ctx := browser(t)
	s, f := start(t)
	back := do(`window.dispatchEvent(new Event("focus"))`)
	step(t, ctx, "results", chromedp.Navigate(s.URL+"/?q=walrus"), until(`document.querySelector("main h1") && `+shown))
	f.Write(t, "walrus.md", "# Walrus\n\nA walrus.\n")
	f.Index(t)
	step(t, ctx, "back", back, until(`document.querySelector("#results")?.textContent.includes("A walrus.")`))
	step(t, ctx, "back, and nothing has changed",
		do(`window.first = document.querySelector("#result-0"); window.real = fetch; window.asked = 0; window.fetch = `+
			`(...a) => real(...a).finally(() => asked++)`), back, until(`asked === 1`), chromedp.Sleep(100*time.Millisecond),
		until(`document.querySelector("#result-0") === first`))
	step(t, ctx, "a document", chromedp.Navigate(s.URL+"/?view=document&id=walrus.md"),
		until(`document.querySelector("article") && `+shown),
		do(`window.first = document.querySelector("article"); window.real = fetch; window.asked = 0; window.fetch = `+
			`(...a) => real(...a).finally(() => asked++)`),
		back, until(`asked === 1`), chromedp.Sleep(100*time.Millisecond),
		until(`document.querySelector("article") === first`))
	f.Write(t, "walrus.md", "# Walrus\n\nTwo of them.\n")
	f.Index(t)
	step(t, ctx, "back to it", back, until(`document.querySelector("article").textContent.includes("Two of them.")`))
	step(t, ctx, "a passage, the search box", chromedp.Navigate(s.URL+"/?view=document&id=walrus.md%23walrus"),
		until(`document.activeElement.matches(".hit") && `+shown), do(`document.getElementById("query").focus()`))
	f.Write(t, "walrus.md", "# Walrus\n\nThree of them.\n")
	f.Index(t)
	step(t, ctx, "back to the box", back, until(`document.querySelector("article").textContent.includes("Three of `+
		`them.") && `+shown), until(`document.activeElement.id === "query"`))
	f.Write(t, "walrus.md", "# Seal\n\nFour of them.\n")
	f.Index(t)
	step(t, ctx, "its heading is another one", back,
		until(`document.querySelector("article")?.textContent.includes("Four of them.") && `+
			`document.getElementById("notes").textContent.includes('no section "walrus"') && `+shown))
	f.Write(t, "walrus.md", "# Walrus\n\nFour of them.\n")
	f.Index(t)
	step(t, ctx, "it is there again", back,
		until(`document.querySelector("article .hit") && document.getElementById("notes").textContent === "" && `+shown))
}

// TestLabReturn checks that returning to the lab loads the numbers of a profile saved elsewhere,
// and ranks by them.
func TestLabReturn(t *testing.T) {
	ctx, s := browsed(t)
	const number = `document.querySelector("[data-name=meaning] input[type=text]").value`
	save := func(meaning string) chromedp.Action {
		return do(`fetch("/v1/profiles/mine", {method: "PUT", headers: {"Content-Type": "application/json"}, body: ` +
			`JSON.stringify({extends: "sheaf", parameters: {meaning: "` + meaning + `"}, replace: true})}).then((r) => { ` +
			`window.saved = r.status; })`)
	}
	step(t, ctx, "a profile", chromedp.Navigate(s.URL), until(shown), save("0.3"), until(`window.saved < 300`),
		chromedp.Navigate(s.URL+"/?view=lab&q=commit&profile=mine&set.names=0.7"), until(shown), until(number+` === "0.3"`))
	step(t, ctx, "another window saves it", save("0.6"), until(`window.saved < 300`),
		do(`dispatchEvent(new Event("focus"))`), until(number+` === "0.6" && location.search.includes("set.names=0.7")`))
}

// TestPageReturnToDeletedNote checks that returning to a deleted note says so, and shows the note again
// once it is back.
func TestPageReturnToDeletedNote(t *testing.T) {
	ctx := browser(t)
	s, f := start(t)
	back := do(`window.dispatchEvent(new Event("focus"))`)
	f.Write(t, "walrus.md", "# Walrus\n\nA walrus.\n")
	f.Index(t)
	step(t, ctx, "a note", chromedp.Navigate(s.URL+"/?view=document&id=walrus.md"),
		until(`document.querySelector("article") && `+shown))
	must.Do(t, os.Remove(filepath.Join(f.Root, "walrus.md")))
	f.Index(t)
	step(t, ctx, "it is gone", back, until(`!document.querySelector("article") && `+
		`document.getElementById("notes").textContent.includes('nothing is called "walrus.md"')`))
	step(t, ctx, "still", back, chromedp.Sleep(time.Second),
		until(`document.getElementById("notes").textContent.includes('nothing is called "walrus.md"')`))
	f.Write(t, "walrus.md", "# Walrus\n\nAnother one.\n")
	f.Index(t)
	step(t, ctx, "it is there again", back,
		until(`document.querySelector("article")?.textContent.includes("Another one.") && `+
			`document.getElementById("notes").textContent === "" && `+shown))
}

// TestPageBackToResult checks that going back from a document without a marked passage focuses the
// result again.
func TestPageBackToResult(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"a.md": "A walrus.\n", "b.md": "A walrus and another.\n"})
	step(t, ctx, "there", chromedp.Navigate(s.URL+"/?q=walrus"), until(`document.querySelector("#result-1") && `+shown),
		chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown),
		until(`document.activeElement.closest("#result-1")`),
		chromedp.KeyEvent(kb.Enter), until(`document.querySelector("article") && document.activeElement.id === "main" && `+
			shown))
	step(t, ctx, "and back", do(`history.back()`), until(`document.activeElement.closest("#result-1 h2") && `+shown))
}

// TestPageKeepsQueryAcrossViews checks that query, filter and profile stay when the view changes. "?" shows the
// keys, and a link without a target has no address.
func TestPageKeepsQueryAcrossViews(t *testing.T) {
	ctx, s := browsed(t)
	step(t, ctx, "the keys in an empty search box", chromedp.Navigate(s.URL+"/"),
		until(`document.activeElement === document.getElementById("query")`),
		chromedp.KeyEvent("?"), chromedp.WaitVisible("#keys"), chromedp.KeyEvent(kb.Escape), chromedp.WaitNotVisible("#keys"),
		until(`document.getElementById("query").value === ""`))
	step(t, ctx, "a mark within a query", chromedp.SendKeys("#query", "undo?"), until(`location.search === "?q=undo%3F"`))
	step(t, ctx, "letters faster than a browser lets an address change", chromedp.Navigate(s.URL+"/?q=undo"), until(shown),
		do(`window.let = history.replaceState; history.replaceState = () => { throw new DOMException("too often", `+
			`"SecurityError"); }`),
		chromedp.SendKeys("#query", " com"), chromedp.SendKeys("#query", "mit"), do(`history.replaceState = window.let`),
		until(`location.search === "?q=undo+commit"`), until(shown))
	step(t, ctx, "to the lab by key", chromedp.Navigate(s.URL+"/?q=commit&filter=tag%3Ahowto&profile=rrf"), until(shown),
		chromedp.Blur("#query"), chromedp.KeyEvent("l"),
		until(`location.search.includes("view=lab") && location.search.includes("filter=tag%3Ahowto") && `+
			`location.search.includes("profile=rrf")`))
	step(t, ctx, "what narrows there", chromedp.Click(`//*[@class="lab-bar"]//button[contains(., "tag:howto")]`,
		chromedp.BySearch), until(`!location.search.includes("filter=") && location.search.includes("profile=rrf") && `+
		`!document.querySelector(".lab-bar").textContent.includes("Narrowed")`), until(shown))
	step(t, ctx, "a filter alone", chromedp.Navigate(s.URL+"/?filter=tag%3Ahowto"), until(shown), chromedp.Blur("#query"),
		chromedp.KeyEvent("l"), until(`location.search.includes("view=lab") && document.querySelector("svg.lab .node")`))
	var before, after string
	step(t, ctx, "the lab's own link", chromedp.Navigate(s.URL+"/?view=lab&q=commit&filter=tag%3Ahowto"),
		chromedp.WaitVisible("svg.lab .node"),
		chromedp.Evaluate(`document.querySelector("nav a[data-view=lab]").getAttribute("href")`, &before),
		slide(`r.max`),
		until(`location.search.includes("set.")`),
		chromedp.Evaluate(`document.querySelector("nav a[data-view=lab]").getAttribute("href")`, &after))
	if !strings.Contains(before, "filter=") || strings.Contains(before, "set.") || !strings.Contains(after, "set.") {
		t.Errorf("the link to the lab: %s, with a number changed %s", before, after)
	}
	step(t, ctx, "why not", chromedp.Navigate(s.URL+"/?view=lab&q=commit&filter=tag%3Anosuch"), until(shown),
		chromedp.SendKeys(`input[placeholder="path or identifier"]`, "git.md"+kb.Enter),
		until(`document.querySelector("[aria-label=Arithmetic]").textContent.includes("the filter leaves it out")`))
	step(t, ctx, "a link that leads nowhere", chromedp.Navigate(s.URL+"/?view=document&id=git.md"),
		until(`document.querySelector("article a")`),
		until(`[...document.querySelectorAll("article a")].some((a) => a.textContent === "bad" && !a.hasAttribute("href") `+
			`&& !a.target && a.title)`),
		until(`[...document.querySelectorAll("article a")].some((a) => a.textContent === "out" && a.target === "_blank")`))
}

// TestPageScanResult checks that a result of the file scanner opens, although the scanner numbers
// sections differently. Marks on it count and are saved under the name of the index.
func TestPageScanResult(t *testing.T) {
	ctx := browser(t)
	long := "# Git\n\n## Other things\n\n" + strings.Repeat("Nothing of interest stands here. ", 200) +
		"\n\n## Undo a commit\n\n" + strings.Repeat("Move the branch back. ", 200) + "\n"
	f := collectiontest.Open(t, map[string]string{"git.md": long, "far.md": "# Far\n\nA branch.\n"},
		func(o *collection.Options) {
			files, err := scan.New(scan.Options{Root: o.Ingest.Trees[0].Root, Tree: collectiontest.Tree, Analyzer: o.Analyzer})
			must.Do(t, err)
			o.Scanner = files
		})
	s := serving(t, f)
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

// TestPageFileNamedAsSection checks that the lab reads a file name such as "issue #12" not as a
// section. It then requests no line of the file.
func TestPageFileNamedAsSection(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"issue #12": "Move the branch back.\n"}, func(o *collection.Options) {
		o.Ingest.Walk.Include = []string{"issue*"}
	})
	step(t, ctx, "the lab, whose searches fail", chromedp.Navigate(s.URL+"/?view=lab"), until(shown),
		do(`const whole = window.fetch; window.fetch = (path, ...more) => path === "/v1/search" ? Promise.reject(new `+
			`TypeError("away")) : whole(path, ...more)`),
		chromedp.SendKeys("#query", "branch"),
		until(`document.querySelector(".judge li a")?.search.includes("id=notes%3Aissue+%2312&")`))
}

// TestPagePrefix checks the page below a path, as behind a proxy: all requests and links stay below
// this path.
func TestPagePrefix(t *testing.T) {
	ctx := browser(t)
	f := collectiontest.Open(t, map[string]string{"git.md": "# Git\n\n## Undo a commit\n\nUse reset, or have " +
		"[tea](tea.md).\n", "tea.md": "# Tea\n\nSteep.\n"}, nil)
	mux := http.NewServeMux()
	mux.Handle("/notes/", http.StripPrefix("/notes", site(t, f)))
	s := httptest.NewServer(mux)
	defer s.Close()
	at := func(want string) chromedp.Action {
		return until(shown + ` && location.pathname + location.search === ` + quote(want))
	}
	step(t, ctx, "results", chromedp.Navigate(s.URL+"/notes/?q=commit"),
		until(`document.querySelector("#result-0") && `+shown))
	step(t, ctx, "a document", chromedp.Click("#result-0 h2 a", chromedp.ByQuery),
		until(`document.querySelector("article") && location.pathname === "/notes/" && `+shown))
	step(t, ctx, "a link in it", chromedp.Click("article p a", chromedp.ByQuery),
		until(`document.querySelector("article h1")?.textContent === "Tea"`),
		until(`location.pathname === "/notes/" && `+shown))
	step(t, ctx, "the lab", chromedp.Navigate(s.URL+"/notes/?view=lab&q=commit"), chromedp.WaitVisible("svg.lab .node"))
	step(t, ctx, "the status", chromedp.Click("nav a[data-view=status]"),
		until(`document.querySelector("main table") && `+shown), until(`location.pathname === "/notes/"`))
	step(t, ctx, "home", chromedp.Click("a.home"), at("/notes/"),
		until(`document.styleSheets.length > 0 && document.styleSheets[0].cssRules.length > 0`))
	step(t, ctx, "the interface", chromedp.Navigate(s.URL+"/notes/docs"),
		chromedp.Click(`a[href$="openapi.json"]`, chromedp.ByQuery),
		until(`location.pathname === "/notes/openapi.json" && document.body.textContent.includes("openapi")`))
}

// TestPagePrefixes checks that two pages at different paths of one host keep separate marks and
// keys. So does another collection that is served later at the same path.
func TestPagePrefixes(t *testing.T) {
	ctx := browser(t)
	called := func(name string) http.Handler {
		return site(t, collectiontest.Open(t, map[string]string{"git.md": "# Git\n\n## Undo a commit\n\nUse reset.\n"},
			func(o *collection.Options) { o.Name = name }))
	}
	notes, others := called("notes"), called("others")
	var later atomic.Bool
	mux := http.NewServeMux()
	for _, at := range []string{"/notes", "/work"} {
		mux.Handle(at+"/", http.StripPrefix(at, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if later.Load() {
				others.ServeHTTP(w, r)
				return
			}
			notes.ServeHTTP(w, r)
		})))
	}
	s := httptest.NewServer(mux)
	defer s.Close()
	const lab, first = "/?view=lab&q=commit", `document.querySelector(".judge li:first-child button")`
	step(t, ctx, "a mark and a key", chromedp.Navigate(s.URL+"/notes"+lab), until(first),
		chromedp.Click(".judge li:first-child button"), until(first+`.ariaPressed === "true"`),
		do(`import("./ui/api.js").then((api) => api.askKey())`), chromedp.WaitVisible("#login"),
		chromedp.SendKeys("#key", "secret"+kb.Enter), chromedp.WaitNotVisible("#login"))
	step(t, ctx, "the other one", chromedp.Navigate(s.URL+"/work"+lab), until(first),
		until(first+`.ariaPressed === "false" && document.getElementById("another").hidden`))
	step(t, ctx, "the first again", chromedp.Navigate(s.URL+"/notes"+lab), until(first+`?.ariaPressed === "true"`),
		until(`!document.getElementById("another").hidden`),
		do(`import("./ui/api.js").then((api) => { window.key = api.givenKey(); })`), until(`window.key === "secret"`))
	later.Store(true)
	step(t, ctx, "another collection there", chromedp.Navigate(s.URL+"/notes"+lab),
		until(first+`?.ariaPressed === "false" && !document.querySelector(".judge table")`))
}
