package web_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
)

// TestPagePrefix: another program may have the page below an address of its own, as a
// proxy may: it asks for everything there, and its links stay there.
func TestPagePrefix(t *testing.T) {
	ctx := browser(t)
	f := collectiontest.Open(t, map[string]string{"git.md": "# Git\n\n## Undo a commit\n\nUse reset, or have " +
		"[tea](tea.md).\n", "tea.md": "# Tea\n\nSteep.\n"}, nil)
	mux := http.NewServeMux()
	mux.Handle("/notes/", http.StripPrefix("/notes",
		site(t, httpdoor.Options{Collections: []*collection.Collection{f.Collection}, Open: access.Unrestricted(),
			Version: "test"})))
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

// TestPagePrefixes: of two below addresses of one host each keeps its own marks, and is sent its own key; so does
// another collection that is served later where one was.
func TestPagePrefixes(t *testing.T) {
	ctx := browser(t)
	called := func(name string) http.Handler {
		f := collectiontest.Open(t, map[string]string{"git.md": "# Git\n\n## Undo a commit\n\nUse reset.\n"},
			func(o *collection.Options) { o.Name = name })
		return site(t, httpdoor.Options{Collections: []*collection.Collection{f.Collection}, Open: access.Unrestricted(),
			Version: "test"})
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
