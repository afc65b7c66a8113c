package web_test

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sheaf/serve"
	"sheaf/serve/access"
	"sheaf/serve/api"
	"sheaf/serve/servetest"
)

// TestLabLooked: what was pointed at last stays to be read, also when numbers change, until another result is or another query
// comes; and results are called as their passages are.
func TestLabLooked(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"long.md": "# " + strings.Repeat("A long title ", 9) + "\n\nText.\n\n## One walrus\n\nA walrus.\n\n## Other walrus\n\nOf a walrus.\n"})
	step(t, ctx, "the lab", chromedp.Navigate(s.URL+"/?view=lab&q=walrus&profile=rrf"), chromedp.WaitVisible("svg.lab .node"), until(shown))
	step(t, ctx, "names", until(`[...document.querySelectorAll("svg.lab [role=button]")].filter((e) => /tit.*… › (One|Other) walrus/.test(e.querySelector("text").textContent.replaceAll(/[\u2068\u2069]/g, ""))).length === 2`), shoot("lab-names"))
	step(t, ctx, "no room for what there is not", until(`document.querySelector("svg.lab").getBoundingClientRect().height < 200`))
	step(t, ctx, "a look", do(`{ const e = document.querySelector("svg.lab [role=button]"); e.dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
		window.about = document.querySelector(".arithmetic h2").textContent }`), until(`document.querySelector(".why")`))
	step(t, ctx, "the pointer goes", do(`document.querySelector("svg.lab").dispatchEvent(new PointerEvent("pointerleave"))`), until(`!document.querySelector(".lit") && document.querySelector(".arithmetic h2")?.textContent === about`))
	step(t, ctx, "pinned and no longer", do(`for (let i = 0; i < 2; i++) document.querySelector("svg.lab [role=button]").dispatchEvent(new MouseEvent("click", {bubbles: true}))`),
		until(`!new URLSearchParams(location.search).has("pin") && document.querySelector(".arithmetic h2")?.textContent === about`))
	step(t, ctx, "another number", do(`window.old = document.querySelector("svg.lab"); { const r = document.querySelector(".lab-controls input[type=range]"); r.value = r.max; r.dispatchEvent(new Event("input", {bubbles: true})) }`),
		until(`document.querySelector("svg.lab") !== old && document.querySelector(".arithmetic h2")?.textContent === about && document.querySelector(".why")`))
	step(t, ctx, "another query", do(`{ const q = document.getElementById("query"); q.value = "text"; q.dispatchEvent(new Event("input", {bubbles: true})) }`), until(`location.search.includes("q=text") && `+shown), until(`!document.querySelector(".arithmetic h2")`))
}

// TestLabOutage: numbers that are changed while the server is away count when it is back.
func TestLabOutage(t *testing.T) {
	ctx := browser(t)
	f := servetest.Open(t, notes, nil)
	h := site(t, api.Options{Collections: []*serve.Collection{f.Collection}, Open: access.Unrestricted(), Version: "test"})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // ends with Close
	step(t, ctx, "a mark", chromedp.Navigate("http://"+address+"/?view=lab&q=commit&profile=rrf"), chromedp.WaitVisible("svg.lab .node"), until(shown), chromedp.Click(".judge li button", chromedp.ByQuery), until(`document.querySelector(".judge table")`))
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	step(t, ctx, "a number", do(`window.old = document.querySelector("svg.lab"); { const r = document.querySelector(".lab-controls input[type=range]"); r.value = r.max; r.dispatchEvent(new Event("input", {bubbles: true})) }`),
		until(`document.getElementById("notes").textContent.includes("asks again")`), until(`document.querySelector(".judge [role=alert]")`))
	if listener, err = net.Listen("tcp", address); err != nil {
		t.Skipf("the port is taken: %v", err)
	}
	server = &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // ends with Close
	t.Cleanup(func() { _ = server.Close() })
	step(t, ctx, "it is back", until(`document.querySelector("svg.lab") !== old && document.getElementById("notes").textContent === "" && document.querySelector(".judge table")`))
}
