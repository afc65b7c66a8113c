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
	asked := chromedp.WaitVisible("#login")
	give := func(key string) chromedp.Tasks { return chromedp.Tasks{chromedp.SendKeys("#key", key+"\n")} }
	closed := until(`!document.querySelector("dialog[open]")`)

	step(t, ctx, "no key", chromedp.Navigate(s.URL+"/?q=commit"), asked, until(`document.activeElement.id === "key"`),
		shoot("key"))
	step(t, ctx, "none is given", chromedp.KeyEvent(kb.Escape), closed,
		until(`document.getElementById("notes").textContent.includes("with a key only")`))
	step(t, ctx, "a letter asks no more", chromedp.SendKeys("#query", "s"), until(`document.title.startsWith("commits")`),
		chromedp.Evaluate(`new Promise((done) => setTimeout(() => done(document.querySelector("dialog[open]") === `+
			`null), 100))`, nil), closed)
	step(t, ctx, "the button asks", chromedp.Click("#another"), asked)
	step(t, ctx, "a wrong key", give("sheaf_wrong"),
		until(`document.getElementById("key-fault").textContent.includes("unknown")`),
		until(`document.getElementById("key").value === ""`), shoot("key-wrong"))
	step(t, ctx, "one with signs that no header can hold", give("sheaf_wrong\u200b✓"),
		until(`!document.getElementById("notes").textContent.includes("does not answer")`), asked,
		until(`document.getElementById("key-fault").textContent.includes("unknown")`),
		until(`document.getElementById("key").value === ""`))
	step(t, ctx, "an empty one is none", chromedp.SendKeys("#key", "\n"), until(`document.querySelector("dialog[open]")`))
	step(t, ctx, "Escape ends it", chromedp.KeyEvent(kb.Escape), closed,
		until(`sessionStorage.getItem("sheaf-key") === null`))

	step(t, ctx, "a key that may not search", chromedp.Click("#another"), asked, give(feed),
		until(`document.getElementById("notes").textContent.includes("lacks the scope search")`), closed)
	step(t, ctx, "another key", chromedp.Click("#another"), asked, chromedp.WaitVisible("#forget"), give(search),
		until(`document.querySelectorAll("#results > li").length > 2`))
	step(t, ctx, "what asks for two things at once", chromedp.Evaluate(`sessionStorage.clear()`, nil),
		chromedp.Navigate(s.URL+"/?view=status"), asked, give(search),
		until(`document.querySelector("main").textContent.includes("analyzer")`))
	step(t, ctx, "it is kept", chromedp.Navigate(s.URL+"/?view=document&id=git.md"),
		until(`document.querySelector("article h1")`))

	must.Get(keys.Revoke("ann"))
	step(t, ctx, "an invalid key", chromedp.Navigate(s.URL+"/?q=commit"),
		until(`document.getElementById("key-fault").textContent.includes("expired or revoked")`),
		chromedp.KeyEvent(kb.Escape), closed)
	again := secret(t, keys, "bob", access.ScopeSearch)
	step(t, ctx, "forget it", chromedp.Click("#another"), asked, give(again),
		until(`document.querySelectorAll("#results > li").length > 2`),
		chromedp.Click("#another"), chromedp.Click("#forget"),
		until(`!document.querySelector("#results > li") && sessionStorage.getItem("sheaf-key") === null`))
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
	step(t, ctx, "the status", chromedp.Navigate(s.URL), do(`sessionStorage.setItem("sheaf-key", `+quote(part)+`)`),
		chromedp.Navigate(s.URL+"/?view=status"), until(`document.querySelector("main table") && `+shown),
		shoot("status-part"), chromedp.Evaluate(`document.querySelector("main").innerText`, &told))
	for _, row := range []string{"documents\t6, ", "model\thashed"} {
		if !strings.Contains(told, row) {
			t.Errorf("it lacks %q", row)
		}
	}
	for _, nothing := range []string{"0 B", "0\u00a0B", "folders", "index", "chunker", "analyzer", "dimensions", "tasks"} {
		if strings.Contains(told, nothing) {
			t.Errorf("it has %q", nothing)
		}
	}
	step(t, ctx, "what is hidden", chromedp.Navigate(s.URL+"/?view=document&id=git.md"),
		until(`document.getElementById("notes").textContent.includes("not found")`),
		until(`document.activeElement.id === "main"`))
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
	step(t, ctx, "search", chromedp.Navigate("http://"+address+"/?q=undo"),
		until(`document.querySelector("#results > li")`))
	end()
	step(t, ctx, "why, without a server", chromedp.Click("#result-0 button.score"),
		until(`document.getElementById("notes").textContent === "the server does not answer: this page asks again `+
			`until it does"`))
	step(t, ctx, "a letter, without a server", chromedp.SendKeys("#query", " commit"),
		until(`document.getElementById("notes").textContent.includes("asks again")`), shoot("outage"))
	step(t, ctx, "a view not seen before, without a server", chromedp.Click(`a[data-view="lab"]`),
		until(`document.body.dataset.view === "lab" && document.getElementById("notes").textContent.includes("asks again")`))
	again()
	step(t, ctx, "the view is there", chromedp.WaitVisible("svg.lab .node"),
		until(`document.getElementById("notes").textContent === ""`))
	step(t, ctx, "it is back", chromedp.Click(`a[data-view="search"]`),
		until(`document.querySelector("#result-0")?.textContent.includes("Undo a commit") && `+
			`document.getElementById("notes").textContent === "" && `+shown))
}

// TestPageBusy checks that the page continues after the server was overloaded or was opening its index.
func TestPageBusy(t *testing.T) {
	ctx, s := browsed(t)
	busy := func(status int) chromedp.Action {
		return do(fmt.Sprintf(`window.real ||= fetch; window.fetch = (path, o) => path.startsWith("/v1") ? `+
			`Promise.resolve(new Response(JSON.stringify({detail: "it is busy"}), {status: %d})) : real(path, o)`, status))
	}
	over, told := do(`window.fetch = real`),
		until(`document.getElementById("notes").textContent === "it is busy: this page asks again until that is over"`)
	gone := until(`document.getElementById("notes").textContent === ""`)
	step(t, ctx, "a search", chromedp.Navigate(s.URL+"/?q=hostile"),
		until(`document.querySelector("#result-0") && `+shown), busy(429), chromedp.SendKeys("#query", " names"), told, over,
		until(`document.querySelector("#result-0") && `+shown), gone)
	number := slide(`r.max`)
	step(t, ctx, "the lab", chromedp.Navigate(s.URL+"/?view=lab&q=commit&profile=rrf"),
		chromedp.WaitVisible("svg.lab .node"), until(shown), busy(503), number, told, over,
		until(`document.querySelector("svg.lab .node") && document.querySelector("svg.lab") !== chart`), gone)
	step(t, ctx, "the status", chromedp.Navigate(s.URL+"/?view=status"),
		until(`document.querySelector("table") && `+shown), busy(503), told, over, gone)
}

// TestPageFocus checks that the keyboard reaches every control, and that the focus is never lost.
func TestPageFocus(t *testing.T) {
	ctx, s := browsed(t)
	focus := func(on string) chromedp.Action { return until(`document.activeElement?.matches(` + quote(on) + `)`) }
	step(t, ctx, "from the box to the results", chromedp.Navigate(s.URL), chromedp.WaitVisible("#query"),
		chromedp.SendKeys("#query", "undo commit"), until(`document.querySelector("#result-0") && `+shown),
		chromedp.KeyEvent(kb.ArrowDown), focus("#result-0 h2 a"), chromedp.KeyEvent(kb.ArrowDown), focus("#result-1 h2 a"),
		chromedp.KeyEvent(kb.ArrowUp), focus("#result-0 h2 a"), chromedp.KeyEvent(kb.ArrowUp), focus("#query"),
		chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown), focus("#result-1 h2 a"))
	var value string
	step(t, ctx, "letters stay among the results", chromedp.KeyEvent("k"), chromedp.KeyEvent("k"), chromedp.KeyEvent("k"),
		focus("#result-0 h2 a"), chromedp.Value("#query", &value), chromedp.KeyEvent("j"), focus("#result-1 h2 a"))
	if value != "undo commit" {
		t.Errorf("k made the query %q", value)
	}
	var shownWhy int
	step(t, ctx, "two clicks at once", chromedp.Evaluate(`(() => { const b = document.querySelector("#result-0 `+
		`button.score"); b.click(); b.click(); })()`, nil), until(`document.querySelector("#result-0 .why")`),
		chromedp.Evaluate(`fetch("/v1/search?query=undo&explain=true").then((r) => r.json()).then(() => `+
			`document.querySelectorAll("#result-0 .why").length)`, &shownWhy,
			func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	if shownWhy != 1 {
		t.Errorf("%d explanations of one result", shownWhy)
	}
	step(t, ctx, "open", chromedp.Focus("#result-1 h2 a"), chromedp.KeyEvent(kb.Enter),
		until(`document.body.dataset.view === "document" && `+shown), until(`document.activeElement !== document.body`),
		until(`document.getElementById("main").contains(document.activeElement)`))
	step(t, ctx, "back", chromedp.KeyEvent(kb.Escape), until(`document.body.dataset.view === "search" && `+shown),
		focus("#result-1 h2 a"))
	var lost []string
	step(t, ctx, "every control by Tab", chromedp.Navigate(s.URL+"/?view=lab&q=commit"),
		chromedp.WaitVisible("svg.lab .node"), until(`document.querySelectorAll(".judge li").length > 2`),
		chromedp.Evaluate(`window.met = new Set(), 0`, nil))
	for range 3 { // in the first round, the arithmetic of a focused result may arrive too late
		var controls int
		step(t, ctx, "how many there are", chromedp.Evaluate(`document.querySelectorAll("a[href], button, input, select, `+
			`summary, [tabindex='0']").length`, &controls))
		for range controls + 5 {
			step(t, ctx, "Tab", chromedp.KeyEvent(kb.Tab), chromedp.Evaluate(`(() => {
				const e = document.activeElement;
				met.add(e);
				const style = getComputedStyle(e.matches("h2 > a") ? e.parentElement : e); // a title has the ring of its link
				e.sheafRing = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
			})()`, nil))
		}
		if step(t, ctx, "what was not met", chromedp.Evaluate(`[...document.querySelectorAll("a[href], button, input, `+
			`select, summary, [tabindex='0']")].filter((e) => e.checkVisibility() && !(met.has(e) && e.sheafRing)).map((e) `+
			`=> (met.has(e) ? "no ring: " : "not met: ") + e.outerHTML.slice(0, 120))`, &lost)); len(lost) == 0 {
			break
		}
	}
	if len(lost) > 0 {
		t.Errorf("by the keyboard: %q", lost)
	}
}

// TestPageForcedColors checks forced colors, where transparent borders become visible: only one result
// looks selected, and pressed buttons stay readable.
func TestPageForcedColors(t *testing.T) {
	ctx, s := browsed(t)
	var marked string
	step(t, ctx, "forced colors",
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "forced-colors", Value: "active"}}),
		chromedp.Navigate(s.URL+"/?q=undo+commit"), until(`document.querySelectorAll("#results > li").length > 1 && `+shown),
		chromedp.KeyEvent(kb.ArrowDown), until(`document.querySelector("#result-0.selected")`), shoot("forced"),
		chromedp.Evaluate(`[...document.querySelectorAll("#results > li")].filter((e) => `+
			`getComputedStyle(e).borderLeftColor !== getComputedStyle(document.body).backgroundColor).map((e) => `+
			`e.id).join(" ")`, &marked))
	if marked != "result-0" {
		t.Errorf("marked as selected: %q", marked)
	}
	const plain = ` === getComputedStyle(document.body).backgroundColor`
	step(t, ctx, "the outline", chromedp.Navigate(s.URL+"/?view=document&id=git.md"), until(shown),
		until(`getComputedStyle(document.querySelector(".outline ul a")).borderTopColor`+plain))
	step(t, ctx, "a mark, whose word has the system's color behind it", chromedp.Navigate(s.URL+"/?view=lab&q=commit"),
		until(`document.querySelectorAll(".judge li").length > 2`),
		do(`document.querySelector(".judge li button").click(); document.querySelector(".judge li:nth-child(2) `+
			`button.wrong").click()`), shoot("forced-mark"),
		until(`(all => all.length === 2 && all.every((e) => !(getComputedStyle(e).color`+plain+
			`)))([...document.querySelectorAll(".judge [aria-pressed=true]")])`))
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
	step(t, ctx, "a phone", emulation.SetDeviceMetricsOverride(360, 800, 2, true),
		chromedp.Navigate(s.URL+"/?view=document&id=nested.md"),
		until(`document.querySelectorAll("article li").length === 80 && document.querySelectorAll("article `+
			`blockquote").length >= 7`), shoot("nested"), until(`document.documentElement.scrollWidth <= 360`))
}

// TestPageEmpty checks that the page says when nothing is indexed yet, instead of advising other
// words.
func TestPageEmpty(t *testing.T) {
	ctx := browser(t)
	for what, files := range map[string]map[string]string{"Nothing is indexed yet": {},
		"Fewer or other words": {"a.md": "# Zebra\n\nstripes\n"}} {
		s := served(t, files)
		step(t, ctx, what, chromedp.Navigate(s.URL+"/?q=%22qqqqq%22"),
			until(`document.querySelector(".empty")?.textContent.includes(`+quote(what)+`)`))
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
	step(t, ctx, "a misspelt word beside another", chromedp.Navigate(s.URL), chromedp.WaitVisible("#query"),
		do(`sessionStorage.setItem("sheaf-key", `+quote(secret(t, keys, "mine", access.ScopeSearch))+`)`),
		chromedp.Navigate(s.URL+"/?q=undo+itineray"), until(`document.querySelector("#result-0")`))
	must.Get(keys.Revoke("mine"))
	step(t, ctx, "a moment later", chromedp.Sleep(1200*time.Millisecond),
		until(`!document.querySelector("dialog[open]") && document.querySelector("#result-0")`))
}

// TestPageKeySeesNothing checks that a key which sees no document gets no message about an empty
// index. The search time excludes typing the key.
func TestPageKeySeesNothing(t *testing.T) {
	ctx := browser(t)
	s, keys := keyed(t)
	_, none, err := keys.Add(access.Grant{Name: "none", Scopes: []access.Scope{access.ScopeSearch}, Tenant: "other"})
	must.Do(t, err)
	step(t, ctx, "a key", chromedp.Navigate(s.URL+"/?q=commit"), chromedp.WaitVisible("#login"),
		chromedp.SendKeys("#key", none+"\n"), until(`document.querySelector(".empty")?.textContent.startsWith("Nothing `+
			`that this key may see") && `+shown),
		until(`document.getElementById("count").textContent.startsWith("0 results") && `+
			`!document.getElementById("count").textContent.includes(" ms")`))
	step(t, ctx, "with it", chromedp.Navigate(s.URL+"/?q=stash"), until(`document.querySelector(".empty") && `+shown),
		until(`document.getElementById("count").textContent.startsWith("0 results in ")`))
}
