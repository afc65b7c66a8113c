package web_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// slow has every answer at an address come so many milliseconds late.
func slow(address string, milliseconds int) chromedp.Action {
	return do(fmt.Sprintf(`window.real ||= window.fetch; window.fetch = async (path, o) => {
		if (path.startsWith(%s)) await new Promise((done) => setTimeout(done, %d));
		return real(path, o);
	}`, quote(address), milliseconds))
}

// held has answers at an address come when free lets them.
func held(address string) chromedp.Action {
	return do(fmt.Sprintf(`window.real ||= window.fetch; window.held = new Promise((done) => { window.free = done; }); window.fetch = async (path, o) => {
		if (path.startsWith(%s)) await window.held;
		return real(path, o);
	}`, quote(address)))
}

var free = do(`window.free()`)

// TestPageEnterWaits: Enter opens a result of what was typed, not of what was answered before;
// and who waits for an answer is told so.
func TestPageEnterWaits(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
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

// TestPageEditor: an address for editors holds at once, leads to the passage, and is right for files of Windows.
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

// TestPageWayBack: what narrows and orders results comes back with them from a document, and
// Escape leads to them also where nothing was before.
func TestPageWayBack(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
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

// TestPageHeader: what the keyboard chooses is not below the header, which stays in its place.
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

// TestDocumentHeadingAttributes: a list of attributes of a heading is no text of it.
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

// TestPageFacts: on a phone, what a document is stands above its headings, not scrolled away.
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
