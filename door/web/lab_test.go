package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestPageRevokedKey checks that after a key is revoked, the next action asks for a new key and then
// runs. Typed text and changed numbers stay.
func TestPageRevokedKey(t *testing.T) {
	ctx := browser(t)
	s, keys := keyed(t)
	closed := until(`!$("dialog[open]")`)
	n := 0
	// renewed revokes the key of the page, does something, and gives another key.
	renewed := func(what string, do ...chromedp.Action) {
		t.Helper()
		must.Get(keys.Revoke(fmt.Sprint("key ", n)))
		n++
		next := secret(t, keys, fmt.Sprint("key ", n), access.ScopeSearch)
		step(t, ctx, what, do...)
		step(t, ctx, what+": another key",
			until(`$("#login[open]") && $("#key-fault").textContent.includes("expired or revoked")`), shoot("key-ends"),
			typeIn("#key", next+"\n"), closed, until(`sessionStorage.getItem("sheaf-key") === `+quote(next)))
	}
	// The key dialog must not interrupt fast typing.
	const quick = `(async () => {
		const box = $("#query"), real = window.fetch;
		let early = "", answered;
		window.fetch = (...all) => real(...all).then((r) => { setTimeout(answered, 20); return r; });
		for (const letter of "undo") {
			const began = performance.now();
			const refused = new Promise((done) => { answered = done; });
			box.value += letter;
			box.dispatchEvent(new Event("input", {bubbles: true}));
			await refused;
			if ($("dialog[open]") && performance.now() - began < 500) early += letter;
		}
		window.fetch = real;
		window.early = early;
	})(); 0`
	first := secret(t, keys, "key 0", access.ScopeSearch)
	step(t, ctx, "search", visit(s, ""), visible("#query"), chromedp.Evaluate(quick, nil),
		until(`window.early !== undefined`), until(`early === ""`), visible("#login"), until(`$("#key").value === ""`),
		typeIn("#key", first+"\n"), closed, until(`$("#result-0") && shown()`))

	// Only returning to the window asks for no key.
	back := chromedp.Tasks{do(`window.dispatchEvent(new Event("focus"))`), chromedp.Sleep(700 * time.Millisecond), closed}
	renewed("a letter", back, focusOn("#query"), typeIn("#query", "s"))
	step(t, ctx, "the query is kept", until(`$("#result-0")?.textContent.includes("Undo a commit") && shown()`),
		until(`$("#query").value === "undos" && location.search === "?q=undos" && document.activeElement.id === "query" && `+
			`$("#notes").textContent === ""`))
	renewed("why", click("#result-0 button.score"))
	step(t, ctx, "it is said", until(`$("#result-0 .why")`))
	renewed("a result", click("#result-0 h2 a"))
	step(t, ctx, "the document is there", until(`$("article .hit")?.textContent === "Undo a commit" && `+
		`location.search.includes("q=undos") && shown()`))
	renewed("a heading", chromedp.Click(`//nav[@class="outline"]//a[text()="Stash"]`, chromedp.BySearch))
	step(t, ctx, "the section is there", until(`$("article .hit")?.textContent === "Stash" && shown()`))
	renewed("similar", click(`.facts button`))
	step(t, ctx, "they are there", until(`$(".facts h2")`))
	renewed("the lab", click(`a[data-view="lab"]`))
	step(t, ctx, "it is there", until(`$("svg.lab .node") && $$(".judge li").length > 0 && shown()`))
	renewed("a number", slide(`r.max`))
	step(t, ctx, "the lines are those of the number",
		until(`$("svg.lab") !== chart && location.search.includes("set.") && $(".lab-controls .changed")`))

	must.Get(keys.Revoke(fmt.Sprint("key ", n)))
	step(t, ctx, "none is given", click(`a[data-view="search"]`), visible("#login"),
		do(`$("#login button[value='']").click()`), closed, until(`$("#notes").textContent.includes("expired or revoked") `+
			`&& $("#query").value === "undos" && location.search === "?q=undos"`))
}

// TestLabFailingProfile checks that a failing profile does not stop the profile beside it. It no longer
// shows the results of an earlier query.
func TestLabFailingProfile(t *testing.T) {
	ctx, s := browsed(t)
	fail := func(profile string) chromedp.Action {
		return do(`window.real ||= window.fetch; window.fetch = (path, o) => {
			if (path !== "/v1/explain" || JSON.parse(o.body).profile !== ` + quote(profile) + `) return real(path, o);
			return Promise.resolve(new Response(JSON.stringify({detail: "its store is away"}), {status: 503}));
		}`)
	}
	move := slide(`Number(r.value) === Number(r.max) ? r.min : r.max`)
	charts := func(n int) chromedp.Action {
		return until(fmt.Sprintf(`$$("svg.lab").length === %d && $("svg.lab") !== window.chart && %s`, n,
			`$$(".two .scroll").length === 2`))
	}
	step(t, ctx, "a profile that there is not", visit(s, "/?view=lab&q=commit&compare=nosuch"), charts(1),
		until(`$$(".judge li").length > 2`), until(`$(".two .scroll:last-child").textContent.startsWith("nosuch: ") && `+
			`$("#notes").textContent.includes("nosuch")`), shoot("lab-beside"))
	step(t, ctx, "a number, beside it", move, charts(1), until(`$(".up, .down, .lab-controls .changed")`))

	step(t, ctx, "a number that is none can be changed", visit(s, "/?view=lab&q=commit&profile=rrf&set.rrf_k=none"),
		until(`$("#notes").textContent.includes("rrf_k") && $(".lab-controls input[type=range]")`), move,
		until(`$("svg.lab .node") && $("#notes").textContent === ""`))
	step(t, ctx, "both", visit(s, "/?view=lab&q=commit&profile=rrf&compare=tree"), charts(2),
		until(`$$(".judge li").length > 2 && $("#notes").textContent === ""`))
	step(t, ctx, "the one beside it fails", fail("tree"), retype("undo"), charts(1),
		until(`$(".two .scroll:last-child").textContent === "tree: its store is away" && `+
			`$("#notes").textContent.includes("its store is away")`))
	step(t, ctx, "a number moves the other", move, charts(1), until(`$(".two .scroll svg.lab")`))
	step(t, ctx, "the first one fails", fail("rrf"), retype("undo commit"), charts(1),
		until(`$(".two .scroll:first-child").textContent === "rrf: its store is away" && !$(".judge li")`),
		shoot("lab-first"))
	step(t, ctx, "both fail", fail("rrf"), do(`{ const one = window.fetch; window.fetch = (path, o) => path === `+
		`"/v1/explain" ? one(path, {...o, body: JSON.stringify({profile: "rrf"})}) : one(path, o); } 0`), move,
		until(`$("#notes").textContent.includes("its store is away") && $(".lab-controls input[type=range]")`))
	step(t, ctx, "which one is which", until(`getComputedStyle($(".two .scroll:first-child"), "::before").content === `+
		`'"rrf"' && getComputedStyle($(".two .scroll:last-child"), "::before").content.startsWith('"tree, ')`))
	step(t, ctx, "both are back", fail("none"), retype("undo a commit"), charts(2),
		until(`$$(".judge li").length > 0 && $("#notes").textContent === ""`))
}

// TestLabJudged checks that the lab computes nDCG like sheaf eval. A passage of a relevant document
// or section counts once, at its first result.
func TestLabJudged(t *testing.T) {
	ctx, s := browsed(t)
	mean := func(marks, want string) chromedp.Action {
		return chromedp.Tasks{chromedp.Evaluate(`localStorage.setItem("sheaf-judged notes", JSON.stringify(`+marks+`))`, nil),
			chromedp.Reload(), until(`$(".judge tbody tr:last-child td:last-child")?.textContent === "` + want + `"`)}
	}
	step(t, ctx, "the lab", visit(s, "/?view=lab&q=undo+commit"),
		until(`$(".judge li a")?.textContent === "Git › Undo a commit" && shown()`))
	step(t, ctx, "the passage", mean(`{"undo commit": {"notes:git.md#undo-a-commit": 1}}`, "1.000"))
	step(t, ctx, "the document it lies in", mean(`{"undo commit": {"notes:git.md": 1}}`, "1.000"))
	step(t, ctx, "one that is gone", mean(`{"undo commit": {"notes:gone.md": 1}}`, "0.000"))
	step(t, ctx, "documents", visit(s, "/?view=lab&q=undo+commit&profile=bench"), until(`$(".judge li") && shown()`))
	step(t, ctx, "a document lies in no section, also where that is all of it",
		mean(`{"nothing much": {"notes:deep/far.md#far": 1}}`, "0.000"))
}

// TestLabSearchesBeforeAddress checks that the lab sends a new number first: writing the address is slower than a
// search.
func TestLabSearchesBeforeAddress(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"a.md": "# Walrus\n\nA walrus.\n"})
	step(t, ctx, "a number", visit(s, "/?view=lab&q=walrus&profile=rrf"),
		visible("svg.lab .node"), until(shown),
		do(`window.order = []; {
			const ask = fetch, write = history.replaceState;
			window.fetch = (...a) => { order.push("ask"); return ask(...a); };
			history.replaceState = function (...a) { order.push("write"); return write.apply(this, a); };
			const r = $(".lab-controls input[type=range]");
			r.value = r.max;
			r.dispatchEvent(new Event("input", {bubbles: true}));
			window.order = order.slice();
		}`),
		until(`order[0] === "ask" && order.includes("write")`))
}

// TestLabNumberTyped checks that an emptied field and its slider return to the number of the
// profile. A decimal comma works.
func TestLabNumberTyped(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"a.md": "# Walrus\n\nA walrus.\n"})
	number := func(typed, shows, at string) chromedp.Action {
		return chromedp.Tasks{do(`{ const f = $("[data-name=meaning] input[type=text]"); f.value = ` + quote(typed) +
			`; f.dispatchEvent(new Event("change", {bubbles: true})) }`),
			until(`$("[data-name=meaning] input[type=text]").value === ` + quote(shows) +
				` && $("[data-name=meaning] input[type=range]").value === ` + quote(shows)),
			until(`new URLSearchParams(location.search).get("set.meaning") === ` + at)}
	}
	step(t, ctx, "the lab", visit(s, "/?view=lab&q=walrus"), visible("svg.lab .node"), until(shown))
	step(t, ctx, "a comma", number("0,75", "0.75", `"0.75"`))
	step(t, ctx, "nothing", number(" ", "0.33", `null`))
	step(t, ctx, "a point", number("0.25", "0.25", `"0.25"`))
}

// TestLabArithmeticStaysVisible checks that the arithmetic of the last result stays visible while numbers change,
// until another result or query. Results have the names of their passages.
func TestLabArithmeticStaysVisible(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"long.md": "# " + strings.Repeat("A long title ", 9) + "\n\nText.\n\n## One " +
		"walrus\n\nA walrus.\n\n## Other walrus\n\nOf a walrus.\n"})
	step(t, ctx, "the lab", visit(s, "/?view=lab&q=walrus&profile=rrf"), visible("svg.lab .node"), until(shown))
	step(t, ctx, "names", until(`$$("svg.lab [role=button]").filter((e) => /tit.*… › (One|Other) `+
		`walrus/.test(e.querySelector("text").textContent.replaceAll(/[\u2068\u2069]/g, ""))).length === 2`),
		shoot("lab-names"))
	step(t, ctx, "no room for what there is not", until(`$("svg.lab").getBoundingClientRect().height < 200`))
	step(t, ctx, "a look", do(`{ const e = $("svg.lab [role=button]");
		e.dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
		window.about = $(".arithmetic h2").textContent }`), until(`$(".why")`))
	step(t, ctx, "the pointer goes", do(`$("svg.lab").dispatchEvent(new PointerEvent("pointerleave"))`),
		until(`!$(".lit") && $(".arithmetic h2")?.textContent === about`))
	step(t, ctx, "pinned and no longer", do(`for (let i = 0; i < 2; i++) $("svg.lab [role=button]").dispatchEvent(new `+
		`MouseEvent("click", {bubbles: true}))`), until(`!new URLSearchParams(location.search).has("pin") && $(".arithmetic `+
		`h2")?.textContent === about`))
	step(t, ctx, "another number", slide(`r.max`),
		until(`$("svg.lab") !== chart && $(".arithmetic h2")?.textContent === about && $(".why")`))
	step(t, ctx, "another query", retype("text"), until(`location.search.includes("q=text") && shown()`),
		until(`!$(".arithmetic h2")`))
}

// TestLabNumbersStay checks that adding a second profile keeps the changed numbers of the first.
func TestLabNumbersStay(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"a.md": "# Walrus\n\nA walrus.\n"})
	step(t, ctx, "another number", visit(s, "/?view=lab&q=walrus&profile=rrf&set.rrf_k=7"), visible("svg.lab .node"),
		until(shown), until(`$(".changed")`))
	step(t, ctx, "beside it", do(`{ const e = $('select[aria-label="Beside it"]'); e.value = "bench"; `+
		`e.dispatchEvent(new Event("change")) }`), until(`$$("svg.lab").length === 2 && shown()`),
		until(`location.search.includes("set.rrf_k=7") && $(".changed")`))
}

// TestLabWhyNotInOrder checks that the explanation of a missing passage is current, even if an older answer arrives
// later.
func TestLabWhyNotInOrder(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"a.md": "# Walrus\n\nA walrus.\n", "b.md": "# Seal\n\nA seal.\n"})
	step(t, ctx, "why not", visit(s, "/?view=lab&q=walrus&profile=rrf"),
		visible("svg.lab .node"), until(shown),
		do(`window.real = fetch; window.told = 0; window.late = false;
		window.fetch = async (path, o) => {
			if (!String(path).includes("absence")) return real(path, o);
			const n = ++told;
			if (n === 1) { await new Promise((done) => setTimeout(done, 500)); setTimeout(() => (late = true), 100); }
			return Response.json({ id: "notes:b.md", rank: 0, reasons: ["answer " + n] });
		};
		{
			const e = $(".lab-bar input");
			e.value = "notes:b.md";
			e.dispatchEvent(new Event("change"));
		}`),
		until(`told === 1`))
	step(t, ctx, "another number", slide(`r.max`), until(`told === 2`), until(`late`),
		until(`$(".arithmetic").textContent.includes("answer 2")`))
}

// TestLabConfirmsForgetting checks that the lab forgets all marks only after confirmation.
func TestLabConfirmsForgetting(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"a.md": "# Walrus\n\nA walrus.\n"})
	forget := func(sure string) chromedp.Action {
		return do(`window.confirm = () => ` + sure + `; $$(".judge button").at(-1).click()`)
	}
	step(t, ctx, "a mark", visit(s, "/?view=lab&q=walrus&profile=rrf"), until(`$(".judge li button") && shown()`),
		click(".judge li button"), until(`$(".judge table")`))
	step(t, ctx, "not sure", forget("false"), until(`$(".judge li button").ariaPressed === "true"`))
	step(t, ctx, "sure", forget("true"), until(`$(".judge li button").ariaPressed === "false" && `+
		`document.activeElement.textContent === "Right or wrong?"`))
}

// TestLabOutage checks that numbers changed during an outage apply when the server is back.
func TestLabOutage(t *testing.T) {
	ctx := browser(t)
	f := collectiontest.Open(t, notes, nil)
	h := site(t, f)
	address, end, again := ending(t, h)
	step(t, ctx, "a mark", chromedp.Navigate("http://"+address+"/?view=lab&q=commit&profile=rrf"),
		visible("svg.lab .node"), until(shown), click(".judge li button"), until(`$(".judge table")`))
	end()
	step(t, ctx, "a number", slide(`r.max`), until(`$("#notes").textContent.includes("asks again")`),
		until(`$(".judge [role=alert]")`))
	again()
	step(t, ctx, "it is back", until(`$("svg.lab") !== chart && $("#notes").textContent === "" && $(".judge table")`))
}

// late delays each answer of the lab by this time.
func late(milliseconds int) chromedp.Action {
	return chromedp.Evaluate(fmt.Sprintf(`window.real ||= window.fetch; window.fetch = async (path, o) => {
		if (path === "/v1/explain") await new Promise((done) => setTimeout(done, %d));
		return real(path, o);
	}; 0`, milliseconds), nil)
}

// TestLabDrag checks that the chart follows a moving slider, even with slow answers, and shows the last number.
func TestLabDrag(t *testing.T) {
	ctx, s := browsed(t)
	const drag = `(async () => {
		const range = $(".lab-controls input[type=range]");
		let drawn = 0;
		new MutationObserver(() => drawn++).observe($(".two .scroll, .scroll"), {childList: true});
		const explained = window.fetch;
		window.fetch = (path, o) => {
			if (path === "/v1/explain") window.asked = JSON.parse(o.body).parameters[range.ariaLabel];
			return explained(path, o);
		};
		for (let i = 1; i <= 40 || drawn < 4; i++) { // a busy server may take longer than that
			range.value = Number(range.min) + (Number(range.max) - Number(range.min)) * (i <= 40 ? i : 39 + i % 2) / 41;
			range.dispatchEvent(new Event("input", {bubbles: true}));
			await new Promise((done) => setTimeout(done, 25));
		}
		window.during = drawn;
		window.last = $(".lab-controls label.changed input[type=text]").value;
		window.drawn = () => drawn;
	})(); 0`
	step(t, ctx, "a drag", visit(s, "/?view=lab&q=commit"), until(shown), visible("svg.lab .node"), late(60),
		chromedp.Evaluate(drag, nil), until(`window.during >= 4`), until(`window.asked === window.last && `+
			`location.search.includes("=" + window.last) && window.drawn() > window.during`))
	step(t, ctx, "a browser that lets an address change only so often",
		do(`window.let = history.replaceState;
			history.replaceState = () => { throw new DOMException("too often", "SecurityError"); }`),
		slide(`r.min`), until(`$("svg.lab") !== window.chart`),
		until(`location.search.includes("=" + window.last)`),
		do(`history.replaceState = window.let`),
		until(`!location.search.includes("=" + window.last) && location.search.includes("set.")`))
	step(t, ctx, "an answer that comes to another view", late(300), slide(`r.min`), click(`a[data-view="status"]`),
		until(shown), do(`setTimeout(() => { window.settled = true; }, 800); 0`), until(`window.settled`),
		until(`$("#count").textContent === ""`))
}

// TestDocumentEmbeds checks that embedded notes become links, and pictures of other sites external links.
func TestDocumentEmbeds(t *testing.T) {
	s := served(t, map[string]string{
		"far.md": "# Far\n\n## Part\n\nText.\n",
		"near.md": "# Near\n\nSee ![[far]] and ![[far#Part|300]], ![[ ![[]] !\\[[far]] " +
			"no!\n\n![b](https://example.org/b.png)\n\n![[some/Cat.PNG|300]] [[cat.png]]\n",
	})
	_, body := fetch(t, s.URL+"/ui/document?id=near.md")
	body = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\"`, `"`).Replace(body)
	for _, want := range []string{
		`See <a href="?id=notes%3Afar.md&amp;view=document">far</a> and <a ` +
			`href="?id=notes%3Afar.md%23part&amp;view=document">far#Part</a>, ![[ ![[]] `,
		`<a href="https://example.org/b.png" rel="noreferrer noopener" target="_blank" class="image">b</a>`,
		`<a href="#" class="image">some/Cat.PNG</a> <a href="#">cat.png</a>`,
	} {
		check.That(t, strings.Contains(body, want), "the document lacks %s:\n%s", want, body)
	}
}

// TestDocumentMarks checks that a long note marks the words of the found passage, despite many other matches.
func TestDocumentMarks(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"long.md": "# Long\n\n" + strings.Repeat("A walrus.\n\n", 2100) +
		"## Last\n\nThe last walrus.\n"})
	marked := until(`$(".hit mark")?.textContent === "walrus" && !$("mark mark")`)
	step(t, ctx, "the passage", visit(s, "/?view=document&q=walrus&id=long.md%23last"), until(shown), marked)
	step(t, ctx, "the passage from the outline", visit(s, "/?view=document&q=walrus&id=long.md"), until(shown),
		do(`$$(".outline > ul a").at(-1).click()`), until(`location.search.includes("last") && shown()`), marked)
}

// TestLabTouch checks that scrolling with a finger on a slider changes no number. Dragging changes
// the number and shows its explanation.
func TestLabTouch(t *testing.T) {
	ctx, s := browsed(t)
	const slider, number = `$("[data-name=names] input[type=range]")`, `$("[data-name=names] input[type=text]").value`
	var at struct{ X, Y float64 }
	touch := func(kind input.TouchType, dx, dy float64) chromedp.Action {
		return chromedp.ActionFunc(func(ctx context.Context) error {
			points := []*input.TouchPoint{{X: at.X + dx, Y: at.Y + dy}}
			if kind == input.TouchEnd {
				points = []*input.TouchPoint{}
			}
			return input.DispatchTouchEvent(kind, points).Do(ctx)
		})
	}
	finger := func(dx, dy float64) chromedp.Tasks { // on a fresh page: a scrolled page may still move
		tasks := chromedp.Tasks{visit(s, "/?view=lab&q=commit&set.names=0.7"), until(shown), visible("svg.lab .node"),
			chromedp.Evaluate(`(() => { const r = `+slider+`.getBoundingClientRect(); window.was = r.top; return {X: r.left + `+
				`r.width / 4, Y: r.top + r.height / 2}; })()`, &at), touch(input.TouchStart, 0, 0)}
		for i := 1.; i <= 12; i++ {
			tasks = append(tasks, touch(input.TouchMove, i*dx, i*dy))
		}
		return append(tasks, touch(input.TouchEnd, 0, 0))
	}
	step(t, ctx, "a phone", screen(390, 800, 2, true), emulation.SetTouchEmulationEnabled(true))
	step(t, ctx, "it drags", finger(8, 0), until(number+` !== "0.7"`),
		until(`$("p.place").textContent.startsWith("names: ") && Math.abs(`+slider+
			`.getBoundingClientRect().top - was) < 1`))
	step(t, ctx, "it scrolls", finger(0, -5), until(`$(".lab-controls").scrollTop > 20`),
		until(number+` === "0.7" && location.search.includes("set.names=0.7")`), until(`Number(`+slider+`.value) === 0.7`))
}

// TestLabResultsOfSameName checks that results of the same name also show their identifiers, in text and in
// accessible names. Other results show only their names.
func TestLabResultsOfSameName(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"a/notes.md": "# Notes\n\n## Undo\n\nA walrus.\n",
		"b/notes.md": "# Notes\n\n## Undo\n\nA walrus.\n", "c.md": "# Alone\n\nA walrus.\n"})
	step(t, ctx, "the marks", visit(s, "/?view=lab&q=%22walrus%22"), until(`$(".judge li") && shown()`), shoot("twins"),
		until(`JSON.stringify($$(".judge li .id").map((e) => e.textContent).sort()) === `+
			`'["a/notes.md#undo","b/notes.md#undo"]'`), until(`(() => { const names = $$(".judge li button").map((b) => `+
			`b.ariaLabel); return names.length === 6 && new Set(names).size === 6 && names.includes("right: Alone"); })()`))
	step(t, ctx, "the chart", until(`(() => { const names = $$("svg.lab [role=button]").map((b) => `+
		`b.ariaLabel.replace(/^[^A-Z]*|, score.*/g, "")); return names.length === 3 && new Set(names).size === 3; })()`))
	step(t, ctx, "the arithmetic", do(`$('svg.lab [role=button][data-id="notes:b/notes.md#undo"]').dispatchEvent(new `+
		`MouseEvent("click", {bubbles: true}))`), until(`$(".arithmetic .id")?.textContent === "b/notes.md#undo"`),
		do(`$('svg.lab [role=button][data-id="notes:c.md#alone"]').dispatchEvent(new MouseEvent("click", {bubbles: true}))`),
		until(`$(".arithmetic h2")?.textContent === "Alone" && !$(".arithmetic .id")`))
}
