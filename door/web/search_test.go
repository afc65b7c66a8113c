package web_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"sheaf/internal/check"
)

// TestPageSimilarWords checks that the page offers similar words for a misspelt word, if some exist. It
// counts one result as "1 result", and gives advice after the last result.
func TestPageSimilarWords(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"trip.md": "---\ntags: [travel]\n---\n# Trip\n\nThe itinerary of the walrus.\n"})
	step(t, ctx, "a misspelt word", visit(s, "/?q=itineray&filter=tag:travel&profile=tree&why=1"),
		until(`$(".empty a")?.textContent === "itineray~" && shown()`), shoot("alike"), click(".empty a"),
		until(`$("#result-0 mark")?.textContent === "itinerary" && location.search === `+
			`"?q=itineray%7E&filter=tag%3Atravel&profile=tree" && shown()`),
		until(`/^1 result in /.test($("#count").textContent)`))
	step(t, ctx, "other letters", visit(s, "/?q=xyzzyxyzzy&profile=tree"),
		until(`$(".empty")?.textContent === "Nothing found. Fewer or other words may help." && shown()`))
	step(t, ctx, "as many as are shown", chromedp.Navigate(many(t).URL+"/?q=commit&n=100"),
		until(`$$("#results > li").length === 100 && $(".empty")?.textContent.includes("No more than 100") && shown()`))
	// The page reports words that no document has, but not the beginning or another form of a found word.
	said := func(what string) chromedp.Action {
		return until(`$("#count").textContent.includes(` + quote(what) + `) && shown()`)
	}
	step(t, ctx, "a misspelt word beside others", visit(s, "/?q=walrus+itineray"), said(`nothing has "itineray"`),
		until(`$("#count a")?.textContent === "walrus itineray~"`), shoot("alike-beside"), click("#count a"),
		until(`location.search === "?q=walrus+itineray%7E" && $$("#result-0 mark").length === 2 && !$("#count a")`))
	step(t, ctx, "a word like no other", visit(s, "/?q=walrus+xyzzyxyzzy"), said(`nothing has "xyzzyxyzzy"`),
		until(`!$("#count a")`))
	step(t, ctx, "values of a property are no words", visit(s,
		"/?q="+url.QueryEscape("walrus xyzzyxyzzy OR [author:anna OR bobby OR cato]")), said(`nothing has "xyzzyxyzzy"`),
		until(`!$("#count").textContent.includes("bobby")`))
	step(t, ctx, "words that are there", visit(s, "/?q=walrus+itiner"), until(`$$("#result-0 mark").length > 0`),
		chromedp.Sleep(900*time.Millisecond), until(`!$("#count").textContent.includes("nothing has")`))
}

// TestPageInvalidAddress checks that the page explains an address that names something missing or invalid,
// and offers to remove that part.
func TestPageInvalidAddress(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"trip.md": "---\ntags: [travel]\n---\n# Trip\n\nThe itinerary of the walrus.\n"})
	fault := func(what string) chromedp.Action {
		return until(`$("main [role=alert]")?.textContent.includes(` + quote(what) + `) && shown()`)
	}
	step(t, ctx, "a profile that is gone", visit(s, "/?q=walrus&profile=gone"), fault(`"gone"`), shoot("gone"),
		click("aside button"),
		until(`location.search === "?q=walrus" && $("#result-0") && !$("main [role=alert]") && shown()`))
	step(t, ctx, "nothing within a filter", visit(s, "/?q=walrus&filter=tag:none"),
		until(`$(".empty")?.textContent.includes("Without tag:none there is.") && shown()`), click(".empty a"),
		until(`location.search === "?q=walrus" && $("#result-0") && shown()`))
	step(t, ctx, "nothing with or without it", visit(s, "/?q=xyzzyxyzzy&filter=tag:none&profile=tree"),
		until(`$(".empty")?.textContent === "Nothing found. Fewer or other words may help." && shown()`))
	step(t, ctx, "a document that is not there", visit(s, "/?view=document&id=nothing.md"),
		until(`$("#notes").textContent.includes("nothing is called")`), until(`$$("main h1").length === 1`))
}

// TestPageFacets checks that the facets say what they count, and explain how to narrow to values
// that are not listed.
func TestPageFacets(t *testing.T) {
	ctx := browser(t)
	notes := map[string]string{}
	for i := range 120 {
		notes[fmt.Sprintf("%d.md", i)] = fmt.Sprintf("---\ntags: [tag%d]\n---\nThe walrus.\n", i)
	}
	s := served(t, notes)
	step(t, ctx, "tags", visit(s, "/?q=walrus"), until(`$("aside summary")?.textContent === "Tags passages" && shown()`),
		click("aside [data-rest]"), until(`$$("aside details:first-of-type button").length === 100 && $("aside `+
			`details").textContent.includes("tag:name in the query narrows to others")`), shoot("facets"))
}

// TestFieldSizesOnPhones checks that on touch screens no field has text below 16 pixels, for which
// iPhones magnify the page. Numbers of the lab fit their fields.
func TestFieldSizesOnPhones(t *testing.T) {
	ctx, s := browsed(t)
	for _, width := range []int64{390, 1024} {
		for _, view := range []struct {
			address string
			ready   chromedp.Action
		}{
			{"/?q=commit", visible("#results > li")},
			{"/?view=lab&q=commit", visible("svg.lab .node")},
		} {
			var fields int
			var small, cut []string
			step(t, ctx, view.address, emulation.SetTouchEmulationEnabled(true), screen(width, 800, 2, true), visit(s,
				view.address), until(shown), view.ready, until(`matchMedia("(pointer: coarse)").matches`), do(`window.fields = `+
				`$$("input:not([type=range], [type=checkbox], [type=radio]), select, textarea").filter((e) => `+
				`e.checkVisibility())`),
				chromedp.Evaluate(`fields.length`, &fields), chromedp.Evaluate(`fields.filter((e) => `+
					`parseFloat(getComputedStyle(e).fontSize) < 16).map((e) => e.ariaLabel || e.outerHTML)`, &small),
				chromedp.Evaluate(`fields.filter((e) => e.closest(".lab-controls") && !isNaN(e.value) && e.scrollWidth > `+
					`e.clientWidth).map((e) => (e.ariaLabel || e.outerHTML) + " " + e.value)`, &cut))
			check.That(t, fields != 0 && len(small) == 0 && len(cut) == 0,
				"%s, %d wide: of %d fields these have small letters: %q, and these are cut: %q", view.address, width, fields, small,
				cut)
		}
	}
}

// TestFieldOfEditor checks that emptying the editor address restores the default, also in the field.
func TestFieldOfEditor(t *testing.T) {
	ctx, s := browsed(t)
	address := func(typed, shows, link string) chromedp.Action {
		return chromedp.Tasks{do(`{ const e = $("#editor"); e.value = ` + quote(typed) +
			`; e.dispatchEvent(new Event("change", {bubbles: true})) }`), until(`$("#editor").value === ` + quote(shows)),
			until(`$("[data-editor]").getAttribute("href").startsWith(` + quote(link) + `) && shown()`)}
	}
	step(t, ctx, "results", visit(s, "/?q=commit"), until(`$("[data-editor]") && shown()`))
	step(t, ctx, "another editor", address("zed://file{path}:{line}", "zed://file{path}:{line}", "zed://file/"))
	step(t, ctx, "none", address("", "obsidian://open?path={path}", "obsidian://open?path=%2F"))
}
