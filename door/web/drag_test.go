package web_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
)

// late has each answer of the lab come so many milliseconds after it is asked for, unless the page no longer wants it.
func late(milliseconds int) chromedp.Action {
	return chromedp.Evaluate(fmt.Sprintf(`window.real ||= window.fetch; window.fetch = async (path, o) => {
		if (path === "/v1/explain") await new Promise((done) => setTimeout(done, %d));
		return real(path, o);
	}; 0`, milliseconds), nil)
}

// TestLabDrag: lines move while a slider is dragged, also when answers are slower than the
// hand, and in the end they are those of the last number.
func TestLabDrag(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
	const drag = `(async () => {
		const range = document.querySelector(".lab-controls input[type=range]");
		let drawn = 0;
		new MutationObserver(() => drawn++).observe(document.querySelector(".two .scroll, .scroll"), {childList: true});
		const explained = window.fetch;
		window.fetch = (path, o) => { if (path === "/v1/explain") window.asked = JSON.parse(o.body).parameters[range.ariaLabel]; return explained(path, o); };
		for (let i = 1; i <= 40 || drawn < 4; i++) { // a busy server may take longer than that
			range.value = Number(range.min) + (Number(range.max) - Number(range.min)) * (i <= 40 ? i : 39 + i % 2) / 41;
			range.dispatchEvent(new Event("input", {bubbles: true}));
			await new Promise((done) => setTimeout(done, 25));
		}
		window.during = drawn;
		window.last = document.querySelector(".lab-controls label.changed input[type=text]").value;
		window.drawn = () => drawn;
	})(); 0`
	step(t, ctx, "a drag", chromedp.Navigate(s.URL+"/?view=lab&q=commit"), until(shown),
		chromedp.WaitVisible("svg.lab .node"), late(60), chromedp.Evaluate(drag, nil), until(`window.during >= 4`),
		until(`window.asked === window.last && location.search.includes("=" + window.last) && window.drawn() > window.during`))
	step(t, ctx, "a browser that lets an address change only so often", do(`window.old = document.querySelector("svg.lab"); window.let = history.replaceState; history.replaceState = () => { throw new DOMException("too often", "SecurityError"); };
		{ const r = document.querySelector(".lab-controls input[type=range]"); r.value = r.min; r.dispatchEvent(new Event("input", {bubbles: true})) }`), until(`document.querySelector("svg.lab") !== old`), until(`location.search.includes("=" + window.last)`),
		do(`history.replaceState = window.let`),
		until(`!location.search.includes("=" + window.last) && location.search.includes("set.")`))
	step(t, ctx, "an answer that comes to another view", late(300),
		chromedp.Evaluate(`{ const r = document.querySelector(".lab-controls input[type=range]"); r.value = r.min; `+
			`r.dispatchEvent(new Event("input", {bubbles: true})); } 0`, nil),
		chromedp.Click(`a[data-view="status"]`), until(shown),
		chromedp.Evaluate(`setTimeout(() => { window.settled = true; }, 800); 0`, nil), until(`window.settled`),
		until(`document.getElementById("count").textContent === ""`))
}

// TestDocumentEmbeds: what a note embeds it leads to; a picture of another site opens as other links there do.
func TestDocumentEmbeds(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{
		"far.md": "# Far\n\n## Part\n\nText.\n",
		"near.md": "# Near\n\nSee ![[far]] and ![[far#Part|300]], ![[ ![[]] !\\[[far]] " +
			"no!\n\n![b](https://example.org/b.png)\n\n![[some/Cat.PNG|300]] [[cat.png]]\n",
	}, nil)
	s := httptest.NewServer(site(t, httpdoor.Options{Collections: []*collection.Collection{f.Collection},
		Open: access.Unrestricted(), Version: "test"}))
	t.Cleanup(s.Close)
	_, body := fetch(t, s.URL+"/ui/document?id=near.md")
	body = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\"`, `"`).Replace(body)
	for _, want := range []string{
		`See <a href="?id=notes%3Afar.md&amp;view=document">far</a> and <a ` +
			`href="?id=notes%3Afar.md%23part&amp;view=document">far#Part</a>, ![[ ![[]] `,
		`<a href="https://example.org/b.png" rel="noreferrer noopener" target="_blank" class="image">b</a>`,
		`<a href="#" class="image">some/Cat.PNG</a> <a href="#">cat.png</a>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the document lacks %s:\n%s", want, body)
		}
	}
}

// TestDocumentMarks: a long note has more words of the query than are marked; those of the
// passage that was found are.
func TestDocumentMarks(t *testing.T) {
	ctx := browser(t)
	f := collectiontest.Open(t, map[string]string{"long.md": "# Long\n\n" + strings.Repeat("A walrus.\n\n", 2100) +
		"## Last\n\nThe last walrus.\n"}, nil)
	s := httptest.NewServer(site(t, httpdoor.Options{Collections: []*collection.Collection{f.Collection},
		Open: access.Unrestricted(), Version: "test"}))
	t.Cleanup(s.Close)
	marked := until(
		`document.querySelector(".hit mark")?.textContent === "walrus" && !document.querySelector("mark mark")`)
	step(t, ctx, "the passage", chromedp.Navigate(s.URL+"/?view=document&q=walrus&id=long.md%23last"), until(shown),
		marked)
	step(t, ctx, "the passage from the outline", chromedp.Navigate(s.URL+"/?view=document&q=walrus&id=long.md"),
		until(shown), do(`[...document.querySelectorAll(".outline > ul a")].at(-1).click()`),
		until(`location.search.includes("last") && `+shown), marked)
}

// TestLabTouch: a finger that begins on a slider and scrolls changes no number; one that drags it does, and is told
// what it is.
func TestLabTouch(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
	const slider, number = `document.querySelector("[data-name=names] input[type=range]")`,
		`document.querySelector("[data-name=names] input[type=text]").value`
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
	finger := func(dx, dy float64) chromedp.Tasks { // on a page of its own: one that was scrolled may still move
		tasks := chromedp.Tasks{chromedp.Navigate(s.URL + "/?view=lab&q=commit&set.names=0.9"), until(shown),
			chromedp.WaitVisible("svg.lab .node"),
			chromedp.Evaluate(`(() => { const r = `+slider+`.getBoundingClientRect(); window.was = r.top; return {X: r.left `+
				`+ r.width / 4, Y: r.top + r.height / 2}; })()`, &at),
			touch(input.TouchStart, 0, 0)}
		for i := 1.; i <= 12; i++ {
			tasks = append(tasks, touch(input.TouchMove, i*dx, i*dy))
		}
		return append(tasks, touch(input.TouchEnd, 0, 0))
	}
	step(t, ctx, "a phone", emulation.SetDeviceMetricsOverride(390, 800, 2, true),
		emulation.SetTouchEmulationEnabled(true))
	step(t, ctx, "it drags", finger(8, 0), until(number+` !== "0.9"`),
		until(`document.querySelector("p.place").textContent.startsWith("names: ") && Math.abs(`+slider+
			`.getBoundingClientRect().top - was) < 1`))
	step(t, ctx, "it scrolls", finger(0, -5), until(`document.querySelector(".lab-controls").scrollTop > 20`),
		until(number+` === "0.9" && location.search.includes("set.names=0.9")`), until(`Number(`+slider+`.value) === 0.9`))
}
