package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"sheaf/serve"
	"sheaf/serve/access"
	"sheaf/serve/api"
	"sheaf/serve/servetest"
)

// TestPageModuleAgain: a view whose module did not come at first comes when the server is back, also in a
// browser that does not ask again for an address which failed, as Firefox does not.
func TestPageModuleAgain(t *testing.T) {
	ctx := browser(t)
	f := servetest.Open(t, notes, nil)
	h := site(t, api.Options{Collections: []*serve.Collection{f.Collection}, Open: access.Unrestricted(), Version: "test"})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.String() == "/ui/lab.js" {
			panic(http.ErrAbortHandler)
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	step(t, ctx, "the lab", chromedp.Navigate(s.URL+"/?q=undo"), until(shown), chromedp.Click(`a[data-view="lab"]`), chromedp.WaitVisible("svg.lab .node"), until(`document.getElementById("notes").textContent === ""`))
}

// TestPageComposing: a key that ends the composition of a letter is none of the page's, also where it comes
// behind the end, as in Safari.
func TestPageComposing(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
	step(t, ctx, "Escape", chromedp.Navigate(s.URL+"/?q=undo"), until(shown), chromedp.Focus("#query"),
		do(`document.getElementById("query").dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", keyCode: 229, bubbles: true, cancelable: true}))`), until(`document.activeElement.id === "query"`))
}
