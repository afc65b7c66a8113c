package web_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// keyed serves the notes only to callers with keys, and returns the keys.
func keyed(t *testing.T) (*httptest.Server, *access.Keys) {
	t.Helper()
	f := collectiontest.Open(t, notes, nil)
	keys := must.Get(access.OpenKeys(filepath.Join(t.TempDir(), "keys.json")))
	s := httptest.NewServer(site(t, f, func(o *httpdoor.Options) { o.Keys, o.Open = keys, access.Grant{} }))
	t.Cleanup(s.Close)
	return s, keys
}

// secret makes a key with a scope.
func secret(t *testing.T, keys *access.Keys, name string, scope access.Scope) string {
	t.Helper()
	_, s, err := keys.Add(access.Grant{Name: name, Scopes: []access.Scope{scope}, Tenant: access.All,
		Access: []string{access.All}})
	must.Do(t, err)
	return s
}

// TestPageKey checks that the page asks for a key, explains a wrong key, and accepts Escape as an
// answer. A user can change and forget a key.
func TestPageKey(t *testing.T) {
	ctx := browser(t)
	s, keys := keyed(t)
	search, feed := secret(t, keys, "ann", access.ScopeSearch), secret(t, keys, "feed", access.ScopeIngest)
	asked := visible("#login")
	give := func(key string) chromedp.Tasks { return chromedp.Tasks{typeIn("#key", key+"\n")} }
	closed := until(`!$("dialog[open]")`)

	step(t, ctx, "no key", visit(s, "/?q=commit"), asked, until(`document.activeElement.id === "key"`), shoot("key"))
	step(t, ctx, "none is given", press(kb.Escape), closed, until(`$("#notes").textContent.includes("with a key only")`))
	step(t, ctx, "a letter asks no more", typeIn("#query", "s"), until(`document.title.startsWith("commits")`),
		do(`new Promise((done) => setTimeout(() => done($("dialog[open]") === null), 100))`), closed)
	step(t, ctx, "the button asks", click("#another"), asked)
	step(t, ctx, "a wrong key", give("sheaf_wrong"), until(`$("#key-fault").textContent.includes("unknown")`),
		until(`$("#key").value === ""`), shoot("key-wrong"))
	step(t, ctx, "one with signs that no header can hold", give("sheaf_wrong\u200b✓"),
		until(`!$("#notes").textContent.includes("does not answer")`), asked,
		until(`$("#key-fault").textContent.includes("unknown")`), until(`$("#key").value === ""`))
	step(t, ctx, "an empty one is none", typeIn("#key", "\n"), until(`$("dialog[open]")`))
	step(t, ctx, "Escape ends it", press(kb.Escape), closed, until(`sessionStorage.getItem("sheaf-key") === null`))

	step(t, ctx, "a key that may not search", click("#another"), asked, give(feed),
		until(`$("#notes").textContent.includes("lacks the scope search")`), closed)
	step(t, ctx, "another key", click("#another"), asked, visible("#forget"), give(search),
		until(`$$("#results > li").length > 2`))
	step(t, ctx, "what asks for two things at once", do(`sessionStorage.clear()`), visit(s, "/?view=status"), asked,
		give(search), until(`$("main").textContent.includes("analyzer")`))
	step(t, ctx, "it is kept", visit(s, "/?view=document&id=git.md"), until(`$("article h1")`))

	must.Get(keys.Revoke("ann"))
	step(t, ctx, "an invalid key", visit(s, "/?q=commit"),
		until(`$("#key-fault").textContent.includes("expired or revoked")`), press(kb.Escape), closed)
	again := secret(t, keys, "bob", access.ScopeSearch)
	step(t, ctx, "forget it", click("#another"), asked, give(again), until(`$$("#results > li").length > 2`),
		click("#another"), click("#forget"), until(`!$("#results > li") && sessionStorage.getItem("sheaf-key") === null`))
}

// TestPageKeyStatus checks that a restricted key gets the status of what it may see, without sizes
// of zero. The keyboard focus stays in the view when a document is not visible.
func TestPageKeyStatus(t *testing.T) {
	ctx := browser(t)
	s, keys := keyed(t)
	_, part, err := keys.Add(access.Grant{Name: "part", Scopes: []access.Scope{access.ScopeSearch}, Tenant: access.All,
		Access: []string{access.All}, Baked: "-path:git.md"})
	must.Do(t, err)
	var told string
	step(t, ctx, "the status", visit(s, ""), do(`sessionStorage.setItem("sheaf-key", `+quote(part)+`)`), visit(s,
		"/?view=status"), until(`$("main table") && shown()`), shoot("status-part"), chromedp.Evaluate(`$("main").innerText`,
		&told))
	check.Contains(t, told, "documents\t6, ", "model\thashed")
	check.Lacks(t, told, "0 B", "0\u00a0B", "folders", "index", "chunker", "analyzer", "dimensions", "tasks")
	step(t, ctx, "what is hidden", visit(s, "/?view=document&id=git.md"),
		until(`$("#notes").textContent.includes("not found")`), until(`document.activeElement.id === "main"`))
	if t.Failed() {
		t.Log(told)
	}
}

// TestPageOutage checks that the page reports a stopped server, and continues when the server is back.
func TestPageOutage(t *testing.T) {
	ctx := browser(t)
	f := collectiontest.Open(t, notes, nil)
	h := site(t, f)
	address, end, again := ending(t, h)
	step(t, ctx, "search", chromedp.Navigate("http://"+address+"/?q=undo"), until(`$("#results > li")`))
	end()
	step(t, ctx, "why, without a server", click("#result-0 button.score"),
		until(`$("#notes").textContent === "the server does not answer: this page asks again until it does"`))
	step(t, ctx, "a letter, without a server", typeIn("#query", " commit"),
		until(`$("#notes").textContent.includes("asks again")`), shoot("outage"))
	step(t, ctx, "a view not seen before, without a server", click(`a[data-view="lab"]`),
		until(`document.body.dataset.view === "lab" && $("#notes").textContent.includes("asks again")`))
	again()
	step(t, ctx, "the view is there", visible("svg.lab .node"), until(`$("#notes").textContent === ""`))
	step(t, ctx, "it is back", click(`a[data-view="search"]`),
		until(`$("#result-0")?.textContent.includes("Undo a commit") && $("#notes").textContent === "" && shown()`))
}

// TestPageBusy checks that the page continues after the server was overloaded or was opening its index.
func TestPageBusy(t *testing.T) {
	ctx, s := browsed(t)
	busy := func(status int) chromedp.Action {
		return do(fmt.Sprintf(`window.real ||= fetch; window.fetch = (path, o) => path.startsWith("/v1") ? `+
			`Promise.resolve(new Response(JSON.stringify({detail: "it is busy"}), {status: %d})) : real(path, o)`, status))
	}
	over, told := do(`window.fetch = real`),
		until(`$("#notes").textContent === "it is busy: this page asks again until that is over"`)
	gone := until(`$("#notes").textContent === ""`)
	step(t, ctx, "a search", visit(s, "/?q=hostile"), until(`$("#result-0") && shown()`), busy(429), typeIn("#query",
		" names"), told, over, until(`$("#result-0") && shown()`), gone)
	number := slide(`r.max`)
	step(t, ctx, "the lab", visit(s, "/?view=lab&q=commit&profile=rrf"), visible("svg.lab .node"), until(shown), busy(503),
		number, told, over, until(`$("svg.lab .node") && $("svg.lab") !== chart`), gone)
	step(t, ctx, "the status", visit(s, "/?view=status"), until(`$("table") && shown()`), busy(503), told, over, gone)
}

// TestPageFocus checks that the keyboard reaches every control, and that the focus is never lost.
func TestPageFocus(t *testing.T) {
	ctx, s := browsed(t)
	focus := func(on string) chromedp.Action { return until(`document.activeElement?.matches(` + quote(on) + `)`) }
	step(t, ctx, "from the box to the results", visit(s, ""), visible("#query"), typeIn("#query", "undo commit"),
		until(`$("#result-0") && shown()`), press(kb.ArrowDown), focus("#result-0 h2 a"), press(kb.ArrowDown),
		focus("#result-1 h2 a"), press(kb.ArrowUp), focus("#result-0 h2 a"), press(kb.ArrowUp), focus("#query"),
		press(kb.ArrowDown), press(kb.ArrowDown), focus("#result-1 h2 a"))
	var value string
	step(t, ctx, "letters stay among the results", press("k"), press("k"), press("k"), focus("#result-0 h2 a"),
		chromedp.Value("#query", &value), press("j"), focus("#result-1 h2 a"))
	check.Equal(t, value, "undo commit", "query after the key k")
	var shownWhy int
	step(t, ctx, "two clicks at once", chromedp.Evaluate(`(() => { const b = $("#result-0 `+
		`button.score"); b.click(); b.click(); })()`, nil), until(`$("#result-0 .why")`),
		chromedp.Evaluate(`fetch("/v1/search?query=undo&explain=true").then((r) => r.json()).then(() => `+
			`$$("#result-0 .why").length)`, &shownWhy,
			func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	check.That(t, shownWhy == 1, "%d explanations of one result", shownWhy)
	step(t, ctx, "open", focusOn("#result-1 h2 a"), press(kb.Enter),
		until(`document.body.dataset.view === "document" && shown()`), until(`document.activeElement !== document.body`),
		until(`$("#main").contains(document.activeElement)`))
	step(t, ctx, "back", press(kb.Escape), until(`document.body.dataset.view === "search" && shown()`),
		focus("#result-1 h2 a"))
	var lost []string
	step(t, ctx, "every control by Tab", visit(s, "/?view=lab&q=commit"), visible("svg.lab .node"),
		until(`$$(".judge li").length > 2`), do(`window.met = new Set(), 0`))
	for range 3 { // in the first round, the arithmetic of a focused result may arrive too late
		var controls int
		step(t, ctx, "how many there are", chromedp.Evaluate(`$$("a[href], button, input, select, summary, `+
			`[tabindex='0']").length`, &controls))
		for range controls + 5 {
			step(t, ctx, "Tab", press(kb.Tab), do(`(() => {
				const e = document.activeElement;
				met.add(e);
				const style = getComputedStyle(e.matches("h2 > a") ? e.parentElement : e); // a title has the ring of its link
				e.sheafRing = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
			})()`))
		}
		if step(t, ctx, "what was not met", chromedp.Evaluate(`$$("a[href], button, input, select, summary, `+
			`[tabindex='0']").filter((e) => e.checkVisibility() && !(met.has(e) && e.sheafRing)).map((e) => (met.has(e) ? "no `+
			`ring: " : "not met: ") + e.outerHTML.slice(0, 120))`, &lost)); len(lost) == 0 {
			break
		}
	}
	check.That(t, len(lost) == 0, "by the keyboard: %q", lost)
}

// TestPageForcedColors checks forced colors, where transparent borders become visible: only one result
// looks selected, and pressed buttons stay readable.
func TestPageForcedColors(t *testing.T) {
	ctx, s := browsed(t)
	var marked string
	step(t, ctx, "forced colors",
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "forced-colors", Value: "active"}}),
		visit(s, "/?q=undo+commit"), until(`$$("#results > li").length > 1 && shown()`), press(kb.ArrowDown),
		until(`$("#result-0.selected")`), shoot("forced"), chromedp.Evaluate(`$$("#results > li").filter((e) => `+
			`getComputedStyle(e).borderLeftColor !== getComputedStyle(document.body).backgroundColor).map((e) => `+
			`e.id).join(" ")`,
			&marked))
	check.Equal(t, marked, "result-0", "the selected result")
	const plain = ` === getComputedStyle(document.body).backgroundColor`
	step(t, ctx, "the outline", visit(s, "/?view=document&id=git.md"), until(shown),
		until(`getComputedStyle($(".outline ul a")).borderTopColor`+plain))
	step(t, ctx, "a mark, whose word has the system's color behind it", visit(s, "/?view=lab&q=commit"),
		until(`$$(".judge li").length > 2`), do(`$(".judge li button").click(); $(".judge li:nth-child(2) `+
			`button.wrong").click()`), shoot("forced-mark"),
		until(`(all => all.length === 2 && all.every((e) => !(getComputedStyle(e).color`+plain+
			`)))($$(".judge [aria-pressed=true]"))`))
}

// TestPageNested checks that a note with huge tables, words, nested lists and quotations is not
// wider than a phone.
func TestPageNested(t *testing.T) {
	ctx := browser(t)
	var text strings.Builder
	text.WriteString("# Nested\n\n" + strings.Repeat("| cell ", 60) + "|\n" + strings.Repeat("|---", 60) + "|\n" +
		strings.Repeat(strings.Repeat("| cell ", 60)+"|\n", 50) + "\n")
	for i := range 80 {
		text.WriteString(strings.Repeat("  ", i) + "- deep\n")
	}
	text.WriteString("\n" + strings.Repeat(">", 80) + " quoted\n\n" + strings.Repeat("x", 5000) + "\n")
	s := served(t, map[string]string{"nested.md": text.String()})
	step(t, ctx, "a phone", screen(360, 800, 2, true), visit(s, "/?view=document&id=nested.md"),
		until(`$$("article li").length === 80 && $$("article blockquote").length >= 7`), shoot("nested"),
		until(`document.documentElement.scrollWidth <= 360`))
}

// TestPageEmpty checks that the page says when nothing is indexed yet, instead of advising other
// words.
func TestPageEmpty(t *testing.T) {
	ctx := browser(t)
	for what, files := range map[string]map[string]string{"Nothing is indexed yet": {},
		"Fewer or other words": {"a.md": "# Zebra\n\nstripes\n"}} {
		s := served(t, files)
		step(t, ctx, what, visit(s, "/?q=%22qqqqq%22"), until(`$(".empty")?.textContent.includes(`+quote(what)+`)`))
	}
}

// ending returns a server that the caller can stop, and start again at the same address.
func ending(t *testing.T, h http.Handler) (address string, end, again func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	address = listener.Addr().String()
	var server *http.Server
	begin := func() {
		server = &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
		go func() { _ = server.Serve(listener) }() // ends with Close
	}
	begin()
	t.Cleanup(func() { _ = server.Close() })
	end = func() {
		must.Do(t, server.Close())
	}
	again = func() {
		if listener, err = net.Listen("tcp", address); err != nil {
			t.Skipf("the port is taken: %v", err)
		}
		begin()
	}
	return address, end, again
}

// TestPageRequestsAskForNoKey checks that the page's own requests, such as for unknown words, never ask for a key.
func TestPageRequestsAskForNoKey(t *testing.T) {
	ctx := browser(t)
	s, keys := keyed(t)
	step(t, ctx, "a misspelt word beside another", visit(s, ""), visible("#query"),
		do(`sessionStorage.setItem("sheaf-key", `+quote(secret(t, keys, "mine", access.ScopeSearch))+`)`), visit(s,
			"/?q=undo+itineray"), until(`$("#result-0")`))
	must.Get(keys.Revoke("mine"))
	step(t, ctx, "a moment later", chromedp.Sleep(1200*time.Millisecond), until(`!$("dialog[open]") && $("#result-0")`))
}

// TestPageKeySeesNothing checks that a key which sees no document gets no message about an empty
// index. The search time excludes typing the key.
func TestPageKeySeesNothing(t *testing.T) {
	ctx := browser(t)
	s, keys := keyed(t)
	_, none, err := keys.Add(access.Grant{Name: "none", Scopes: []access.Scope{access.ScopeSearch}, Tenant: "other"})
	must.Do(t, err)
	step(t, ctx, "a key", visit(s, "/?q=commit"), visible("#login"), typeIn("#key", none+"\n"),
		until(`$(".empty")?.textContent.startsWith("Nothing that this key may see") && shown()`),
		until(`$("#count").textContent.startsWith("0 results") && !$("#count").textContent.includes(" ms")`))
	step(t, ctx, "with it", visit(s, "/?q=stash"), until(`$(".empty") && shown()`),
		until(`$("#count").textContent.startsWith("0 results in ")`))
}
