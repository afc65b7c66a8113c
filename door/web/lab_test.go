package web_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sheaf/collection/access"
)

// TestPageKeyEnds: a key that is revoked, or whose time is over, while the page is open is
// asked for again at the next thing to do, which is then done: nothing that was typed or set is lost.
func TestPageKeyEnds(t *testing.T) {
	ctx := browser(t)
	s, keys := keyed(t)
	closed := until(`!document.querySelector("dialog[open]")`)
	n := 0
	// renewed revokes the key of the page, does something, and gives another key.
	renewed := func(what string, do ...chromedp.Action) {
		t.Helper()
		if _, err := keys.Revoke(fmt.Sprint("key ", n)); err != nil {
			t.Fatal(err)
		}
		n++
		next := secret(t, keys, fmt.Sprint("key ", n), access.ScopeSearch)
		step(t, ctx, what, do...)
		step(t, ctx, what+": another key", until(`document.querySelector("#login[open]") && `+
			`document.getElementById("key-fault").textContent.includes("expired or revoked")`), shoot("key-ends"),
			chromedp.SendKeys("#key", next+"\n"), closed, until(`sessionStorage.getItem("sheaf-key") === `+quote(next)))
	}
	// Letters that follow one another in a moment are not interrupted by the question.
	const quick = `(async () => {
		const box = document.getElementById("query"), real = window.fetch;
		let early = "", answered;
		window.fetch = (...all) => real(...all).then((r) => { setTimeout(answered, 20); return r; });
		for (const letter of "undo") {
			const began = performance.now();
			const refused = new Promise((done) => { answered = done; });
			box.value += letter;
			box.dispatchEvent(new Event("input", {bubbles: true}));
			await refused;
			if (document.querySelector("dialog[open]") && performance.now() - began < 500) early += letter;
		}
		window.fetch = real;
		window.early = early;
	})(); 0`
	first := secret(t, keys, "key 0", access.ScopeSearch)
	step(t, ctx, "search", chromedp.Navigate(s.URL), chromedp.WaitVisible("#query"), chromedp.Evaluate(quick, nil),
		until(`window.early !== undefined`), until(`early === ""`), chromedp.WaitVisible("#login"),
		until(`document.getElementById("key").value === ""`), chromedp.SendKeys("#key", first+"\n"), closed,
		until(`document.querySelector("#result-0") && `+shown))

	// Who only comes back is not asked for a key.
	back := chromedp.Tasks{do(`window.dispatchEvent(new Event("focus"))`), chromedp.Sleep(700 * time.Millisecond), closed}
	renewed("a letter", back, chromedp.Focus("#query"), chromedp.SendKeys("#query", "s"))
	step(t, ctx, "the query is kept", until(`document.querySelector("#result-0")?.textContent.includes("Undo a `+
		`commit") && `+shown),
		until(`document.getElementById("query").value === "undos" && location.search === "?q=undos" && `+
			`document.activeElement.id === "query" && document.getElementById("notes").textContent === ""`))
	renewed("why", chromedp.Click("#result-0 button.score"))
	step(t, ctx, "it is said", until(`document.querySelector("#result-0 .why")`))
	renewed("a result", chromedp.Click("#result-0 h2 a"))
	step(t, ctx, "the document is there", until(`document.querySelector("article .hit")?.textContent === "Undo a `+
		`commit" && location.search.includes("q=undos") && `+shown))
	renewed("a heading", chromedp.Click(`//nav[@class="outline"]//a[text()="Stash"]`, chromedp.BySearch))
	step(t, ctx, "the section is there", until(`document.querySelector("article .hit")?.textContent === "Stash" && `+
		shown))
	renewed("similar", chromedp.Click(`.facts button`, chromedp.ByQuery))
	step(t, ctx, "they are there", until(`document.querySelector(".facts h2")`))
	renewed("the lab", chromedp.Click(`a[data-view="lab"]`))
	step(t, ctx, "it is there", until(`document.querySelector("svg.lab .node") && document.querySelectorAll(".judge `+
		`li").length > 0 && `+shown))
	renewed("a number", chromedp.Evaluate(`window.drawn = document.querySelector("svg.lab"); const r = `+
		`document.querySelector(".lab-controls input[type=range]"); r.value = r.max; r.dispatchEvent(new Event("input", `+
		`{bubbles: true})); 0`, nil))
	step(t, ctx, "the lines are those of the number",
		until(`document.querySelector("svg.lab") !== drawn && location.search.includes("set.") && `+
			`document.querySelector(".lab-controls .changed")`))

	if _, err := keys.Revoke(fmt.Sprint("key ", n)); err != nil {
		t.Fatal(err)
	}
	step(t, ctx, "none is given", chromedp.Click(`a[data-view="search"]`), chromedp.WaitVisible("#login"),
		chromedp.Evaluate(`document.querySelector("#login button[value='']").click()`, nil), closed,
		until(`document.getElementById("notes").textContent.includes("expired or revoked") && `+
			`document.getElementById("query").value === "undos" && location.search === "?q=undos"`))
}

// TestLabBeside: a profile that fails does not keep the one beside it from moving, and
// what it shows is no longer what was asked before.
func TestLabBeside(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
	fail := func(profile string) chromedp.Action {
		return chromedp.Evaluate(`window.real ||= window.fetch; window.fetch = (path, o) => path === "/v1/explain" && JSON.parse(o.body).profile === `+quote(profile)+`
			? Promise.resolve(new Response(JSON.stringify({detail: "its store is away"}), {status: 503})) : real(path, o); 0`, nil)
	}
	move := chromedp.Evaluate(`window.drawn = document.querySelector("svg.lab"); { const r = `+
		`document.querySelector(".lab-controls input[type=range]"); r.value = Number(r.value) === Number(r.max) ? r.min : `+
		`r.max; r.dispatchEvent(new Event("input", {bubbles: true})); } 0`, nil)
	charts := func(n int) chromedp.Action {
		return until(fmt.Sprintf(`document.querySelectorAll("svg.lab").length === %d && document.querySelector("svg.lab") `+
			`!== window.drawn && %s`, n, `document.querySelectorAll(".two .scroll").length === 2`))
	}
	letter := func(query string) chromedp.Action {
		return chromedp.Evaluate(`window.drawn = document.querySelector("svg.lab"); { const q = `+
			`document.getElementById("query"); q.value = `+quote(query)+`; q.dispatchEvent(new Event("input", {bubbles: `+
			`true})); } 0`, nil)
	}
	step(t, ctx, "a profile that there is not", chromedp.Navigate(s.URL+"/?view=lab&q=commit&compare=nosuch"), charts(1),
		until(`document.querySelectorAll(".judge li").length > 2`),
		until(`document.querySelector(".two .scroll:last-child").textContent.startsWith("nosuch: ") && `+
			`document.getElementById("notes").textContent.includes("nosuch")`), shoot("lab-beside"))
	step(t, ctx, "a number, beside it", move, charts(1),
		until(`document.querySelector(".up, .down, .lab-controls .changed")`))

	step(t, ctx, "a number that is none can be changed",
		chromedp.Navigate(s.URL+"/?view=lab&q=commit&profile=rrf&set.rrf_k=none"),
		until(`document.getElementById("notes").textContent.includes("rrf_k") && document.querySelector(".lab-controls `+
			`input[type=range]")`),
		move, until(`document.querySelector("svg.lab .node") && document.getElementById("notes").textContent === ""`))
	step(t, ctx, "both", chromedp.Navigate(s.URL+"/?view=lab&q=commit&profile=rrf&compare=tree"), charts(2),
		until(`document.querySelectorAll(".judge li").length > 2 && document.getElementById("notes").textContent === ""`))
	step(t, ctx, "the one beside it fails", fail("tree"), letter("undo"), charts(1),
		until(`document.querySelector(".two .scroll:last-child").textContent === "tree: its store is away" && `+
			`document.getElementById("notes").textContent.includes("its store is away")`))
	step(t, ctx, "a number moves the other", move, charts(1), until(`document.querySelector(".two .scroll svg.lab")`))
	step(t, ctx, "the first one fails", fail("rrf"), letter("undo commit"), charts(1),
		until(`document.querySelector(".two .scroll:first-child").textContent === "rrf: its store is away" && `+
			`!document.querySelector(".judge li")`), shoot("lab-first"))
	step(t, ctx, "both fail", fail("rrf"), chromedp.Evaluate(`{ const one = window.fetch; window.fetch = (path, o) => `+
		`path === "/v1/explain" ? one(path, {...o, body: JSON.stringify({profile: "rrf"})}) : one(path, o); } 0`, nil), move,
		until(`document.getElementById("notes").textContent.includes("its store is away") && `+
			`document.querySelector(".lab-controls input[type=range]")`))
	step(t, ctx, "which one is which", until(`getComputedStyle(document.querySelector(".two .scroll:first-child"), `+
		`"::before").content === '"rrf"' && getComputedStyle(document.querySelector(".two .scroll:last-child"), `+
		`"::before").content.startsWith('"tree, ')`))
	step(t, ctx, "both are back", fail("none"), letter("undo a commit"), charts(2),
		until(`document.querySelectorAll(".judge li").length > 0 && document.getElementById("notes").textContent === ""`))
}

// TestLabJudged: what lies in a document or section that is marked right counts as it does for
// sheaf eval: once, where it is first found.
func TestLabJudged(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
	mean := func(marks, want string) chromedp.Action {
		return chromedp.Tasks{chromedp.Evaluate(`localStorage.setItem("sheaf-judged notes", JSON.stringify(`+marks+`))`, nil),
			chromedp.Reload(),
			until(`document.querySelector(".judge tbody tr:last-child td:last-child")?.textContent === "` + want + `"`)}
	}
	step(t, ctx, "the lab", chromedp.Navigate(s.URL+"/?view=lab&q=undo+commit"),
		until(`document.querySelector(".judge li a")?.textContent === "Git › Undo a commit" && `+shown))
	step(t, ctx, "the passage", mean(`{"undo commit": {"notes:git.md#undo-a-commit": 1}}`, "1.000"))
	step(t, ctx, "the document it lies in", mean(`{"undo commit": {"notes:git.md": 1}}`, "1.000"))
	step(t, ctx, "one that is gone", mean(`{"undo commit": {"notes:gone.md": 1}}`, "0.000"))
	step(t, ctx, "documents", chromedp.Navigate(s.URL+"/?view=lab&q=undo+commit&profile=bench"),
		until(`document.querySelector(".judge li") && `+shown))
	step(t, ctx, "a document lies in no section, also where that is all of it",
		mean(`{"nothing much": {"notes:deep/far.md#far": 1}}`, "0.000"))
}

// TestLabAsksFirst: a number is sent before its address is written, which takes longer than the server has to work.
func TestLabAsksFirst(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"a.md": "# Walrus\n\nA walrus.\n"})
	step(t, ctx, "a number", chromedp.Navigate(s.URL+"/?view=lab&q=walrus&profile=rrf"),
		chromedp.WaitVisible("svg.lab .node"), until(shown),
		do(`window.order = []; { const ask = fetch, write = history.replaceState; window.fetch = (...a) => { order.push("ask"); return ask(...a); };
		history.replaceState = function (...a) { order.push("write"); return write.apply(this, a); };
		const r = document.querySelector(".lab-controls input[type=range]"); r.value = r.max; r.dispatchEvent(new Event("input", {bubbles: true})); window.order = order.slice(); }`),
		until(`order[0] === "ask" && order.includes("write")`))
}

// TestLabNumberTyped: a field that is emptied shows the number of the profile again, as its slider does, and numbers
// may have a comma.
func TestLabNumberTyped(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"a.md": "# Walrus\n\nA walrus.\n"})
	number := func(typed, shows, at string) chromedp.Action {
		return chromedp.Tasks{do(`{ const f = document.querySelector("[data-name=meaning] input[type=text]"); f.value = ` +
			quote(typed) + `; f.dispatchEvent(new Event("change", {bubbles: true})) }`),
			until(`document.querySelector("[data-name=meaning] input[type=text]").value === ` + quote(shows) +
				` && document.querySelector("[data-name=meaning] input[type=range]").value === ` + quote(shows)),
			until(`new URLSearchParams(location.search).get("set.meaning") === ` + at)}
	}
	step(t, ctx, "the lab", chromedp.Navigate(s.URL+"/?view=lab&q=walrus"), chromedp.WaitVisible("svg.lab .node"),
		until(shown))
	step(t, ctx, "a comma", number("0,75", "0.75", `"0.75"`))
	step(t, ctx, "nothing", number(" ", "0.33", `null`))
	step(t, ctx, "a point", number("0.25", "0.25", `"0.25"`))
}
