package web_test

import (
	"context"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/door/web"
)

// TestPageArithmeticAfterOutage checks that arithmetic, explanations and the status requested during an
// outage arrive afterwards, and that the outage note disappears.
func TestPageArithmeticAfterOutage(t *testing.T) {
	ctx := browser(t)
	f := collectiontest.Open(t, notes, nil)
	h := site(t, f)
	var away atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			panic(http.ErrAbortHandler)
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	set := func(to bool) chromedp.Action {
		return chromedp.ActionFunc(func(ctx context.Context) error { away.Store(to); return nil })
	}
	said := until(`document.body.textContent.includes("the server does not answer: this page asks again until it does")`)
	over := until(`!document.body.textContent.includes("the server does not answer")`)
	step(t, ctx, "a result", chromedp.Navigate(s.URL+"/?q=undo"), until(shown), set(true),
		chromedp.Click("#result-0 button.score"), said, set(false), until(`document.querySelector("#result-0 .why")`), over)
	step(t, ctx, "one of the lab", chromedp.Navigate(s.URL+"/?view=lab&q=undo"),
		until(`document.querySelector(".judge li") && `+shown), set(true),
		do(`document.querySelector("svg.lab [role=button]").dispatchEvent(new MouseEvent("click", {bubbles: true}))`), said,
		set(false), until(`document.querySelector(".arithmetic .why")`), over)
	step(t, ctx, "why not", set(true), do(`{ const box = document.querySelector(".lab-bar input"); box.value = `+
		`"git.md"; box.dispatchEvent(new Event("change")); }`), said, set(false),
		until(`document.querySelector(".arithmetic h2")?.textContent === "notes:git.md"`), over)
	step(t, ctx, "the state", chromedp.Navigate(s.URL+"/?view=status"),
		until(`document.querySelector("#looked, table") && `+shown), set(true), said, set(false), over)
}

// TestDocumentWhileTooManyFilesAreOpen checks that the answer asks for a retry and does not name the file.
func TestDocumentWhileTooManyFilesAreOpen(t *testing.T) {
	h := web.Handler(func(string) (*collection.Collection, error) {
		return nil, &fs.PathError{Op: "open", Path: "/secret/place", Err: syscall.EMFILE}
	}, access.Unrestricted(), nil)
	res := httptest.NewRecorder()
	h.ServeHTTP(res, httptest.NewRequest("GET", "/ui/document?id=a.md", nil))
	if res.Code != 503 || res.Header().Get("Retry-After") == "" || strings.Contains(res.Body.String(), "secret") {
		t.Errorf("%d %v %s", res.Code, res.Header(), res.Body)
	}
}
