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

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sheaf/collection"
	"sheaf/collection/collectiontest"
	"sheaf/eval/dataset"
	"sheaf/internal/check"
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
		return until(fmt.Sprintf(`$$("#results > li").length === %d && %s`, n, shown))
	}
	first := func(n int) chromedp.Action { return until(fmt.Sprintf(`counts[0] === %d && counts.at(-1) === 20`, n)) }
	count := do(`{ const main = $("#main"); window.counts = []; new MutationObserver(() => counts.push($$("#results > ` +
		`li").length)).observe(main, { childList: true, subtree: true }); }`)
	step(t, ctx, "what is seen comes first", visit(s, "/?q=commit"), results(20), count, typeIn("#query", "s"), first(8))
	step(t, ctx, "below the first, all come at once", do(`scrollTo(0, 900)`), until(`scrollY === 900`), count,
		retype("commit"), first(20), until(`scrollY === 900`))
	step(t, ctx, "more", visit(s, "/?q=commit"), results(20), focusOn("button.more"), press(kb.Enter), results(40),
		until(`location.search === "?q=commit&n=40" && document.activeElement === $("#result-20 h2 a")`))
	step(t, ctx, "the arithmetic is of these results", click("#result-30 button.score"),
		until(`Math.abs(Number($("#result-30 .why b")?.textContent) - Number($("#result-30 button.score").textContent)) < `+
			`0.001`))
	step(t, ctx, "fewer again", chromedp.NavigateBack(), results(20))
	step(t, ctx, "all that are shown", visit(s, "/?q=commit&n=1000"), until(`$$("#results > li").length > 40 && shown()`),
		until(`!$("button.more")`))
	step(t, ctx, "a filter alone", visit(s, "/?filter=path:n/0*"), until(`$$("#results > li").length >= 10 && shown()`),
		until(`$$("#results bdi[dir=ltr]").every((e) => e.textContent.startsWith("n/0"))`))
}

// TestPageMoreThanProfileReturns checks that for a profile which returns fewer results than a page, the
// button asks once for more.
func TestPageMoreThanProfileReturns(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"a.md": "# A\n\n" + strings.Repeat("## Commit\n\nA commit.\n\n", 200),
		"b.md": "# B\n\nA commit.\n"})
	step(t, ctx, "few", visit(s, "/?q=commit&profile=bench"), until(`$("#result-0") && shown()`),
		until(`$$("#results > li").length < 20`))
	step(t, ctx, "no more", click("button.more"), until(`location.search === "?q=commit&profile=bench&n=100" && shown()`),
		until(`!$("button.more") && $(".columns .empty").textContent.startsWith("This profile keeps no more")`))
}

// TestPageAddress checks that the address holds opened, pinned and changed state and restores it
// elsewhere. Going back restores the scroll position.
func TestPageAddress(t *testing.T) {
	ctx := browser(t)
	s := many(t)
	again := chromedp.Reload() // as in another tab: only the address is kept
	step(t, ctx, "arithmetic", visit(s, "/?q=commit"), until(shown), click("#result-1 button.score"),
		until(`location.search === "?q=commit&why=2"`), again, until(`$("#result-1 .why") && $$(".why").length === 1`),
		until(`$("#result-1 button.score").ariaExpanded === "true"`), click("#result-1 button.score"),
		until(`location.search === "?q=commit"`))
	step(t, ctx, "the place", do(`$("#result-12 h2 a").scrollIntoView({block: "end"}); window.place = scrollY; `+
		`$("#result-12 h2 a").click()`), until(`document.body.dataset.view === "document" && shown() && scrollY < place`),
		chromedp.NavigateBack(), until(`document.body.dataset.view === "search" && shown() && place > 0 && `+
			`Math.abs(scrollY - place) < 2`))
	step(t, ctx, "a pinned result", visit(s, "/?view=lab&q=commit"), visible("svg.lab .node"),
		do(`$$("svg.lab [role=button]")[2].dispatchEvent(new MouseEvent("click", {bubbles: true}))`),
		until(`location.search.includes("pin=")`), again,
		until(`$$("svg.lab [role=button]")[2]?.ariaPressed === "true" && $("[aria-label=Arithmetic] .why")`))
	step(t, ctx, "why not", typeIn(`.lab-bar input`, "n/49.md"+kb.Enter),
		until(`location.search.includes("not=n%2F49.md") && !location.search.includes("pin=")`), again,
		until(`$("[aria-label=Arithmetic] h2")?.textContent === "notes:n/49.md" && $(".lab-bar input").value === "n/49.md"`))
	step(t, ctx, "numbers of another address", do(`history.pushState(null, "", "/?view=lab&q=commit&set.meaning=0.9"); `+
		`dispatchEvent(new PopStateEvent("popstate"))`), until(`$(".lab-controls input").value === "0.9" && shown()`),
		chromedp.NavigateBack(), until(`$(".lab-controls input").value !== "0.9" && shown()`))
	step(t, ctx, "no such profile", visit(s, "/?view=lab&q=commit&profile=nosuch"),
		until(`$("#notes").textContent.includes('there is no profile "nosuch"')`))
	step(t, ctx, "no such parameter", visit(s, "/?view=lab&q=commit&set.nosuch=1"),
		until(`$("#notes").textContent.includes("sheaf has no parameter nosuch")`))
}

// TestPageNames checks that every name of a passage works: its identifier, and a path with heading,
// block or line. The path may have a colon.
func TestPageNames(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"near.md": "# Near\n\nA walrus.\n\n## Part two\n\nText of it. ^block\n\n## " +
		"Other\n\nA walrus.\n", "colon: c.md": "# Colon\n\nText.\n"})
	for _, id := range []string{"notes:near.md#part-two", "near.md#part-two", "near.md#Part two", "near.md#^block",
		"near.md:7"} {
		step(t, ctx, id, visit(s, "/?"+url.Values{"view": {"document"}, "id": {id}}.Encode()),
			until(`$("article .hit")?.textContent === "Part two" && shown()`))
		step(t, ctx, "why not "+id, visit(s, "/?"+url.Values{"view": {"lab"}, "q": {"walrus"}, "not": {id}}.Encode()),
			until(`$("[aria-label=Arithmetic] h2")?.textContent === "notes:near.md#part-two"`))
	}
	for _, id := range []string{"colon: c.md", "notes:colon: c.md"} {
		step(t, ctx, "why not "+id, visit(s, "/?"+url.Values{"view": {"lab"}, "q": {"walrus"}, "not": {id}}.Encode()),
			until(`$("[aria-label=Arithmetic] h2")?.textContent === "notes:colon: c.md"`))
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
		return do(`{ const q = $("#query"); q.focus(); q.value = ` + quote(query) +
			`; q.dispatchEvent(new Event("input", {bubbles: true})); }`)
	}
	step(t, ctx, "an answer", visit(s, "/?q=hostile"), until(`$("#result-0") && shown()`))
	step(t, ctx, "Enter before the next", slow("/v1/search", 300), typed("undo commit"), press(kb.Enter),
		until(`document.body.dataset.view === "document" && shown()`),
		until(`location.search.includes("undo-a-commit") && location.search.includes("q=undo+commit")`))
	step(t, ctx, "Enter before the first", visit(s, ""), until(shown), slow("/v1/search", 300), typed("stash"),
		press(kb.Enter), until(`location.search.includes("id=notes%3Agit.md%23stash") && shown()`))
	step(t, ctx, "a letter after Enter", visit(s, "/?q=hostile"), until(`$("#result-0") && shown()`), slow("/v1/search",
		300), typed("undo"), press(kb.Enter), typed("undo commit"), until(`location.search === "?q=undo+commit" && shown()`))
	step(t, ctx, "a slow answer", held("/v1/search"), typed("stash"),
		until(`$("#count").textContent === "Waiting for the server…" && $("#main").ariaBusy === "true"`), shoot("slow"), free,
		until(`$("#count").textContent.includes("results in") && $("#main").ariaBusy !== "true" && shown()`))
	step(t, ctx, "an answer overtakes a slow one", slow("/v1/search", 1500), typed("st"),
		do(`window.fetch = window.real; window.begun = performance.now()`), typed("stash"),
		until(`$("#count").textContent.includes("results in") && shown()`), until(`performance.now() - begun > 1700`),
		until(`$("#count").textContent.includes("results in")`))
	step(t, ctx, "a slow document", held("/ui/document"), click("#result-0 h2 a"),
		until(`$("#count").textContent === "Waiting for the server…"`), free,
		until(`$("#count").textContent === "" && shown()`))
	step(t, ctx, "nothing, and why comes slowly", visit(s, "/?q=stash"), until(shown), slow("/v1/status", 1500),
		typed(`"zzz undefinable"`), until(`$(".empty")?.textContent.includes("Nothing found") && shown()`),
		until(`$("#count").textContent.startsWith("0 results in")`))
}

// TestPageEditor checks that a new editor address applies at once, points to the passage, and handles Windows paths.
func TestPageEditor(t *testing.T) {
	ctx := browser(t)
	s, f := start(t)
	at := func(line int) chromedp.Action {
		return until(fmt.Sprintf(`$("main [data-editor]")?.getAttribute("href") === %s && shown()`,
			quote(fmt.Sprintf("vscode://file%s/git.md:%d", f.Root, line))))
	}
	choose := func(pattern string) chromedp.Action {
		return chromedp.Tasks{click("#help"), visible("#editor"), do(`{ const e = $("#editor"); e.value = ` + quote(pattern) +
			`; e.dispatchEvent(new Event("change", {bubbles: true})); }`), press(kb.Escape)}
	}
	step(t, ctx, "results", visit(s, "/?q=undo"),
		until(`$("#result-0 [data-editor]")?.href.startsWith("obsidian:") && shown()`), choose("vscode://file{path}:{line}"),
		at(17))
	step(t, ctx, "a passage", click("#result-0 h2 a"), at(15))
	step(t, ctx, "a document", visit(s, "/?view=document&id=git.md"), at(1), choose("zed://file{path}:{line}"),
		until(`$("main [data-editor]").getAttribute("href").startsWith("zed:") && shown()`))
	for file, want := range map[string]string{`C:\Users\a b\n#1.md`: "zed://file/C:/Users/a%20b/n%231.md:7",
		`/home/a\b.md`: "zed://file/home/a%5Cb.md:7", `\\server\notes\n.md`: "zed://file//server/notes/n.md:7"} {
		step(t, ctx, file, until(`import("/ui/api.js").then((m) => m.editorAddress(`+quote(file)+`, 7) === `+quote(want)+`)`))
	}
}

// TestPageBackFromDocument checks that going back from a document restores filter and profile. Escape leads
// to the results even without history.
func TestPageBackFromDocument(t *testing.T) {
	ctx, s := browsed(t)
	step(t, ctx, "a document", visit(s, "/?q=commit&filter=ext:md&profile=rrf"), until(`$("#result-0") && shown()`),
		click("#result-0 h2 a"), until(`$("article") && shown()`))
	all := until(`((a) => a.get("q") === "commit" && a.get("filter") === "ext:md" && a.get("profile") === "rrf")(new ` +
		`URL($("nav a[data-view=search]").href).searchParams)`)
	step(t, ctx, "its results", all, click(".outline > ul a"), until(shown), all)
	var document string
	step(t, ctx, "its address", chromedp.Location(&document))

	other := tab(t, ctx)
	step(t, other, "a new tab", chromedp.Navigate(document), until(`$("article") && shown()`), press(kb.Escape),
		until(`document.body.dataset.view === "search" && $("#result-0") && shown()`), all)
	step(t, other, "and back", click("#result-0 h2 a"), until(`$("article") && shown()`),
		do(`window.long = history.length`), press(kb.Escape),
		until(`document.body.dataset.view === "search" && history.length === long && shown()`))
}

// TestPageHeader checks that the fixed header does not cover the result selected by the keyboard.
func TestPageHeader(t *testing.T) {
	ctx := browser(t)
	s := many(t)
	for _, width := range []int64{1300, 390} {
		step(t, ctx, "results", screen(width, 700, 1, false), visit(s, "/?q=commit"),
			until(`$$("#results > li").length === 20 && shown()`), press(kb.Escape))
		step(t, ctx, "up", press(strings.Repeat("j", 15)), press(strings.Repeat("k", 12)), until(`$("#result-2.selected") `+
			`&& $(".selected").getBoundingClientRect().top >= $("header").getBoundingClientRect().bottom`))
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
		check.That(t, strings.Contains(body, want), "the document lacks %s:\n%s", want, body)
	}
}

// TestPageFacts checks that on a phone the facts of a document are above its outline and not scrolled away.
func TestPageFacts(t *testing.T) {
	ctx := browser(t)
	text := "---\nstatus: done\nauthor: [A, B]\nkind: note\n---\n# Long\n\n" + strings.Repeat("## More\n\nText.\n\n", 40)
	s := served(t, map[string]string{"long.md": text})
	step(t, ctx, "a phone", screen(390, 800, 2, true), visit(s, "/?view=document&id=long.md"),
		until(`$(".outline [aria-current]") && $(".outline").scrollTop === 0 && shown()`), shoot("phone-facts"))
	step(t, ctx, "a section", visit(s, "/?view=document&id="+url.QueryEscape("long.md#more-30")),
		until(`$(".hit") && $(".outline").scrollTop > 0 && shown()`))
}

// TestPageReturn checks that returning to the window shows new documents, and redraws nothing without a change.
func TestPageReturn(t *testing.T) {
	ctx := browser(t)
	s, f := start(t)
	back := do(`window.dispatchEvent(new Event("focus"))`)
	step(t, ctx, "results", visit(s, "/?q=walrus"), until(`$("main h1") && shown()`))
	f.Write(t, "walrus.md", "# Walrus\n\nA walrus.\n")
	f.Index(t)
	step(t, ctx, "back", back, until(`$("#results")?.textContent.includes("A walrus.")`))
	step(t, ctx, "back, and nothing has changed", do(`window.first = $("#result-0"); window.real = fetch; window.asked = `+
		`0; window.fetch = (...a) => real(...a).finally(() => asked++)`), back, until(`asked === 1`),
		chromedp.Sleep(100*time.Millisecond), until(`$("#result-0") === first`))
	step(t, ctx, "a document", visit(s, "/?view=document&id=walrus.md"), until(`$("article") && shown()`),
		do(`window.first = $("article"); window.real = fetch; window.asked = 0; window.fetch = (...a) => `+
			`real(...a).finally(() => asked++)`), back, until(`asked === 1`), chromedp.Sleep(100*time.Millisecond),
		until(`$("article") === first`))
	f.Write(t, "walrus.md", "# Walrus\n\nTwo of them.\n")
	f.Index(t)
	step(t, ctx, "back to it", back, until(`$("article").textContent.includes("Two of them.")`))
	step(t, ctx, "a passage, the search box", visit(s, "/?view=document&id=walrus.md%23walrus"),
		until(`document.activeElement.matches(".hit") && shown()`), do(`$("#query").focus()`))
	f.Write(t, "walrus.md", "# Walrus\n\nThree of them.\n")
	f.Index(t)
	step(t, ctx, "back to the box", back, until(`$("article").textContent.includes("Three of them.") && shown()`),
		until(`document.activeElement.id === "query"`))
	f.Write(t, "walrus.md", "# Seal\n\nFour of them.\n")
	f.Index(t)
	step(t, ctx, "its heading is another one", back, until(`$("article")?.textContent.includes("Four of them.") && `+
		`$("#notes").textContent.includes('no section "walrus"') && shown()`))
	f.Write(t, "walrus.md", "# Walrus\n\nFour of them.\n")
	f.Index(t)
	step(t, ctx, "it is there again", back, until(`$("article .hit") && $("#notes").textContent === "" && shown()`))
}

// TestLabReturn checks that returning to the lab loads the numbers of a profile saved elsewhere,
// and ranks by them.
func TestLabReturn(t *testing.T) {
	ctx, s := browsed(t)
	const number = `$("[data-name=meaning] input[type=text]").value`
	save := func(meaning string) chromedp.Action {
		return do(`fetch("/v1/profiles/mine", {method: "PUT", headers: {"Content-Type": "application/json"}, body: ` +
			`JSON.stringify({extends: "sheaf", parameters: {meaning: "` + meaning + `"}, replace: true})}).then((r) => { ` +
			`window.saved = r.status; })`)
	}
	step(t, ctx, "a profile", visit(s, ""), until(shown), save("0.3"), until(`window.saved < 300`), visit(s,
		"/?view=lab&q=commit&profile=mine&set.names=0.7"), until(shown), until(number+` === "0.3"`))
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
	step(t, ctx, "a note", visit(s, "/?view=document&id=walrus.md"), until(`$("article") && shown()`))
	must.Do(t, os.Remove(filepath.Join(f.Root, "walrus.md")))
	f.Index(t)
	step(t, ctx, "it is gone", back,
		until(`!$("article") && $("#notes").textContent.includes('nothing is called "walrus.md"')`))
	step(t, ctx, "still", back, chromedp.Sleep(time.Second),
		until(`$("#notes").textContent.includes('nothing is called "walrus.md"')`))
	f.Write(t, "walrus.md", "# Walrus\n\nAnother one.\n")
	f.Index(t)
	step(t, ctx, "it is there again", back, until(`$("article")?.textContent.includes("Another one.") && `+
		`$("#notes").textContent === "" && shown()`))
}

// TestPageBackToResult checks that going back from a document without a marked passage focuses the
// result again.
func TestPageBackToResult(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"a.md": "A walrus.\n", "b.md": "A walrus and another.\n"})
	step(t, ctx, "there", visit(s, "/?q=walrus"), until(`$("#result-1") && shown()`), press(kb.ArrowDown),
		press(kb.ArrowDown), until(`document.activeElement.closest("#result-1")`), press(kb.Enter),
		until(`$("article") && document.activeElement.id === "main" && shown()`))
	step(t, ctx, "and back", do(`history.back()`), until(`document.activeElement.closest("#result-1 h2") && shown()`))
}

// TestPageKeepsQueryAcrossViews checks that query, filter and profile stay when the view changes. "?" shows the
// keys, and a link without a target has no address.
func TestPageKeepsQueryAcrossViews(t *testing.T) {
	ctx, s := browsed(t)
	step(t, ctx, "the keys in an empty search box", visit(s, "/"), until(`document.activeElement === $("#query")`),
		press("?"), visible("#keys"), press(kb.Escape), chromedp.WaitNotVisible("#keys"), until(`$("#query").value === ""`))
	step(t, ctx, "a mark within a query", typeIn("#query", "undo?"), until(`location.search === "?q=undo%3F"`))
	step(t, ctx, "letters faster than a browser lets an address change", visit(s, "/?q=undo"), until(shown),
		do(`window.let = history.replaceState; history.replaceState = () => { throw new DOMException("too often", `+
			`"SecurityError"); }`),
		typeIn("#query", " com"), typeIn("#query", "mit"), do(`history.replaceState = window.let`),
		until(`location.search === "?q=undo+commit"`), until(shown))
	step(t, ctx, "to the lab by key", visit(s, "/?q=commit&filter=tag%3Ahowto&profile=rrf"), until(shown),
		chromedp.Blur("#query"), press("l"), until(`location.search.includes("view=lab") && `+
			`location.search.includes("filter=tag%3Ahowto") && location.search.includes("profile=rrf")`))
	step(t, ctx, "what narrows there", chromedp.Click(`//*[@class="lab-bar"]//button[contains(., "tag:howto")]`,
		chromedp.BySearch), until(`!location.search.includes("filter=") && location.search.includes("profile=rrf") && `+
		`!$(".lab-bar").textContent.includes("Narrowed")`), until(shown))
	step(t, ctx, "a filter alone", visit(s, "/?filter=tag%3Ahowto"), until(shown), chromedp.Blur("#query"), press("l"),
		until(`location.search.includes("view=lab") && $("svg.lab .node")`))
	var before, after string
	step(t, ctx, "the lab's own link", visit(s, "/?view=lab&q=commit&filter=tag%3Ahowto"), visible("svg.lab .node"),
		chromedp.Evaluate(`$("nav a[data-view=lab]").getAttribute("href")`, &before), slide(`r.max`),
		until(`location.search.includes("set.")`), chromedp.Evaluate(`$("nav a[data-view=lab]").getAttribute("href")`,
			&after))
	check.That(t, strings.Contains(before, "filter=") && !strings.Contains(before, "set.") &&
		strings.Contains(after, "set."), "the link to the lab: %s, with a number changed %s", before, after)
	step(t, ctx, "why not", visit(s, "/?view=lab&q=commit&filter=tag%3Anosuch"), until(shown),
		typeIn(`input[placeholder="path or identifier"]`, "git.md"+kb.Enter),
		until(`$("[aria-label=Arithmetic]").textContent.includes("the filter leaves it out")`))
	step(t, ctx, "a link that leads nowhere", visit(s, "/?view=document&id=git.md"), until(`$("article a")`),
		until(`$$("article a").some((a) => a.textContent === "bad" && !a.hasAttribute("href") && !a.target && a.title)`),
		until(`$$("article a").some((a) => a.textContent === "out" && a.target === "_blank")`))
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
	const hit = `$(".hit")?.textContent === "Undo a commit"`
	step(t, ctx, "a result", visit(s, "/?q=branch+back&profile=tiered"),
		until(`$("#result-0 h2")?.textContent.includes("Undo a commit")`), click("#result-0 h2 a"), until(hit))
	step(t, ctx, "by the keyboard", visit(s, "/?q=branch+back&profile=tiered"), until(`$("#result-0")`), press(kb.Enter),
		until(hit))
	step(t, ctx, "what is pointed at in the lab", visit(s, "/?view=lab&q=branch+back&profile=tiered"),
		until(`$(".judge li") && $("svg.lab .node[role=button]")`), do(`$$("svg.lab .node[role=button]").find((n) => `+
			`n.ariaLabel.includes("Undo")).dispatchEvent(new PointerEvent("pointerover", {bubbles: true}))`),
		do(`$(".arithmetic h2 a").click()`), until(hit))
	step(t, ctx, "a mark", visit(s, "/?view=lab&q=branch+back&profile=tiered"), visible(".judge li"),
		until(`$(".judge li:first-child a").textContent.includes("Undo")`), click(".judge li:first-child button"),
		until(`$(".judge tbody tr:last-child td:last-child")?.textContent === "1.000"`), until(`$(".judge li:first-child `+
			`button").ariaPressed === "true" && localStorage.getItem("sheaf-judged notes") === '{"branch `+
			`back":{"notes:git.md#undo-a-commit":1}}'`))
	step(t, ctx, "it is saved", chromedp.Click(`//button[text()="Save as judged queries"]`, chromedp.BySearch),
		until(`$("#notes").textContent.includes("judged.yaml")`))
	set, err := dataset.Notes(filepath.Join(f.Options.Judged, "judged.yaml"), "")
	check.That(t, err == nil && set.Judgements() == 1, "the saved marks: %+v, %v", set, err)
	step(t, ctx, "by another profile", visit(s, "/?view=lab&q=branch+back"),
		until(`$(".judge li:first-child button")?.ariaPressed === "true"`))
}

// TestPageFileNamedAsSection checks that the lab reads a file name such as "issue #12" not as a
// section. It then requests no line of the file.
func TestPageFileNamedAsSection(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"issue #12": "Move the branch back.\n"}, func(o *collection.Options) {
		o.Ingest.Walk.Include = []string{"issue*"}
	})
	step(t, ctx, "the lab, whose searches fail", visit(s, "/?view=lab"), until(shown), do(`const whole = window.fetch; `+
		`window.fetch = (path, ...more) => path === "/v1/search" ? Promise.reject(new TypeError("away")) : whole(path, `+
		`...more)`),
		typeIn("#query", "branch"), until(`$(".judge li a")?.search.includes("id=notes%3Aissue+%2312&")`))
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
	step(t, ctx, "results", visit(s, "/notes/?q=commit"), until(`$("#result-0") && shown()`))
	step(t, ctx, "a document", click("#result-0 h2 a"),
		until(`$("article") && location.pathname === "/notes/" && shown()`))
	step(t, ctx, "a link in it", click("article p a"), until(`$("article h1")?.textContent === "Tea"`),
		until(`location.pathname === "/notes/" && shown()`))
	step(t, ctx, "the lab", visit(s, "/notes/?view=lab&q=commit"), visible("svg.lab .node"))
	step(t, ctx, "the status", click("nav a[data-view=status]"), until(`$("main table") && shown()`),
		until(`location.pathname === "/notes/"`))
	step(t, ctx, "home", click("a.home"), at("/notes/"),
		until(`document.styleSheets.length > 0 && document.styleSheets[0].cssRules.length > 0`))
	step(t, ctx, "the interface", visit(s, "/notes/docs"), click(`a[href$="openapi.json"]`),
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
	const lab, first = "/?view=lab&q=commit", `$(".judge li:first-child button")`
	step(t, ctx, "a mark and a key", visit(s, "/notes"+lab), until(first), click(".judge li:first-child button"),
		until(first+`.ariaPressed === "true"`), do(`import("./ui/api.js").then((api) => api.askKey())`), visible("#login"),
		typeIn("#key", "secret"+kb.Enter), chromedp.WaitNotVisible("#login"))
	step(t, ctx, "the other one", visit(s, "/work"+lab), until(first),
		until(first+`.ariaPressed === "false" && $("#another").hidden`))
	step(t, ctx, "the first again", visit(s, "/notes"+lab), until(first+`?.ariaPressed === "true"`),
		until(`!$("#another").hidden`), do(`import("./ui/api.js").then((api) => { window.key = api.givenKey(); })`),
		until(`window.key === "secret"`))
	later.Store(true)
	step(t, ctx, "another collection there", visit(s, "/notes"+lab),
		until(first+`?.ariaPressed === "false" && !$(".judge table")`))
}
