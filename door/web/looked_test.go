package web_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
)

// TestLabLooked: what was pointed at last stays to be read, also when numbers change, until another result is or
// another query comes; and results are called as their passages are.
func TestLabLooked(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"long.md": "# " + strings.Repeat("A long title ", 9) + "\n\nText.\n\n## One " +
		"walrus\n\nA walrus.\n\n## Other walrus\n\nOf a walrus.\n"})
	step(t, ctx, "the lab", chromedp.Navigate(s.URL+"/?view=lab&q=walrus&profile=rrf"),
		chromedp.WaitVisible("svg.lab .node"), until(shown))
	step(t, ctx, "names", until(`[...document.querySelectorAll("svg.lab [role=button]")].filter((e) => /tit.*… › `+
		`(One|Other) walrus/.test(e.querySelector("text").textContent.replaceAll(/[\u2068\u2069]/g, ""))).length === 2`),
		shoot("lab-names"))
	step(t, ctx, "no room for what there is not",
		until(`document.querySelector("svg.lab").getBoundingClientRect().height < 200`))
	step(t, ctx, "a look", do(`{ const e = document.querySelector("svg.lab [role=button]"); e.dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
		window.about = document.querySelector(".arithmetic h2").textContent }`), until(`document.querySelector(".why")`))
	step(t, ctx, "the pointer goes",
		do(`document.querySelector("svg.lab").dispatchEvent(new PointerEvent("pointerleave"))`),
		until(`!document.querySelector(".lit") && document.querySelector(".arithmetic h2")?.textContent === about`))
	step(t, ctx, "pinned and no longer", do(`for (let i = 0; i < 2; i++) document.querySelector("svg.lab `+
		`[role=button]").dispatchEvent(new MouseEvent("click", {bubbles: true}))`),
		until(`!new URLSearchParams(location.search).has("pin") && document.querySelector(".arithmetic `+
			`h2")?.textContent === about`))
	step(t, ctx, "another number", do(`window.old = document.querySelector("svg.lab"); { const r = `+
		`document.querySelector(".lab-controls input[type=range]"); r.value = r.max; r.dispatchEvent(new Event("input", `+
		`{bubbles: true})) }`),
		until(`document.querySelector("svg.lab") !== old && document.querySelector(".arithmetic h2")?.textContent === `+
			`about && document.querySelector(".why")`))
	step(t, ctx, "another query", do(`{ const q = document.getElementById("query"); q.value = "text"; `+
		`q.dispatchEvent(new Event("input", {bubbles: true})) }`), until(`location.search.includes("q=text") && `+shown),
		until(`!document.querySelector(".arithmetic h2")`))
}

// TestLabNumbersStay: who sets a profile beside numbers that were changed compares it with these.
func TestLabNumbersStay(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"a.md": "# Walrus\n\nA walrus.\n"})
	step(t, ctx, "another number", chromedp.Navigate(s.URL+"/?view=lab&q=walrus&profile=rrf&set.rrf_k=7"),
		chromedp.WaitVisible("svg.lab .node"), until(shown), until(`document.querySelector(".changed")`))
	step(t, ctx, "beside it", do(`{ const e = document.querySelector('select[aria-label="Beside it"]'); e.value = `+
		`"bench"; e.dispatchEvent(new Event("change")) }`),
		until(`document.querySelectorAll("svg.lab").length === 2 && `+shown),
		until(`location.search.includes("set.rrf_k=7") && document.querySelector(".changed")`))
}

// TestLabWhyNotInOrder: why a passage is missing is said for the numbers as they are, also when an answer for
// those before comes later.
func TestLabWhyNotInOrder(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"a.md": "# Walrus\n\nA walrus.\n", "b.md": "# Seal\n\nA seal.\n"})
	step(t, ctx, "why not", chromedp.Navigate(s.URL+"/?view=lab&q=walrus&profile=rrf"),
		chromedp.WaitVisible("svg.lab .node"), until(shown),
		do(`window.real = fetch; window.told = 0; window.late = false;
		window.fetch = async (path, o) => {
			if (!String(path).includes("absence")) return real(path, o);
			const n = ++told;
			if (n === 1) { await new Promise((done) => setTimeout(done, 500)); setTimeout(() => (late = true), 100); }
			return Response.json({ id: "notes:b.md", rank: 0, reasons: ["answer " + n] });
		};
		{ const e = document.querySelector(".lab-bar input"); e.value = "notes:b.md"; e.dispatchEvent(new Event("change")) }`), until(`told === 1`))
	step(t, ctx, "another number", do(`{ const r = document.querySelector(".lab-controls input[type=range]"); r.value `+
		`= r.max; r.dispatchEvent(new Event("input", {bubbles: true})) }`), until(`told === 2`),
		until(`late`), until(`document.querySelector(".arithmetic").textContent.includes("answer 2")`))
}

// TestLabForgets: all marks are forgotten by who says so twice.
func TestLabForgets(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"a.md": "# Walrus\n\nA walrus.\n"})
	forget := func(sure string) chromedp.Action {
		return do(`window.confirm = () => ` + sure + `; [...document.querySelectorAll(".judge button")].at(-1).click()`)
	}
	step(t, ctx, "a mark", chromedp.Navigate(s.URL+"/?view=lab&q=walrus&profile=rrf"),
		until(`document.querySelector(".judge li button") && `+shown), chromedp.Click(".judge li button", chromedp.ByQuery),
		until(`document.querySelector(".judge table")`))
	step(t, ctx, "not sure", forget("false"), until(`document.querySelector(".judge li button").ariaPressed === "true"`))
	step(t, ctx, "sure", forget("true"), until(`document.querySelector(".judge li button").ariaPressed === "false" && `+
		`document.activeElement.textContent === "Right or wrong?"`))
}

// TestLabOutage: numbers that are changed while the server is away count when it is back.
func TestLabOutage(t *testing.T) {
	ctx := browser(t)
	f := collectiontest.Open(t, notes, nil)
	h := site(t, httpdoor.Options{Collections: []*collection.Collection{f.Collection}, Open: access.Unrestricted(),
		Version: "test"})
	address, end, again := ending(t, h)
	step(t, ctx, "a mark", chromedp.Navigate("http://"+address+"/?view=lab&q=commit&profile=rrf"),
		chromedp.WaitVisible("svg.lab .node"), until(shown), chromedp.Click(".judge li button", chromedp.ByQuery),
		until(`document.querySelector(".judge table")`))
	end()
	step(t, ctx, "a number", do(`window.old = document.querySelector("svg.lab"); { const r = `+
		`document.querySelector(".lab-controls input[type=range]"); r.value = r.max; r.dispatchEvent(new Event("input", `+
		`{bubbles: true})) }`),
		until(`document.getElementById("notes").textContent.includes("asks again")`),
		until(`document.querySelector(".judge [role=alert]")`))
	again()
	step(t, ctx, "it is back", until(`document.querySelector("svg.lab") !== old && `+
		`document.getElementById("notes").textContent === "" && document.querySelector(".judge table")`))
}
