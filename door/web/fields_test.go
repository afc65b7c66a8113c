package web_test

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestFieldsOfPhones: no field has letters of less than 16 pixels where fingers point, for which
// iPhones would magnify the page when it is touched, and numbers of the lab fit.
func TestFieldsOfPhones(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
	for _, width := range []int64{390, 1024} {
		for _, view := range []struct {
			address string
			ready   chromedp.Action
		}{
			{"/?q=commit", chromedp.WaitVisible("#results > li")},
			{"/?view=lab&q=commit", chromedp.WaitVisible("svg.lab .node")},
		} {
			var fields int
			var small, cut []string
			step(t, ctx, view.address, emulation.SetTouchEmulationEnabled(true),
				emulation.SetDeviceMetricsOverride(width, 800, 2, true), chromedp.Navigate(s.URL+view.address), until(shown),
				view.ready, until(`matchMedia("(pointer: coarse)").matches`),
				do(`window.fields = [...document.querySelectorAll("input:not([type=range], [type=checkbox], [type=radio]), `+
					`select, textarea")].filter((e) => e.checkVisibility())`),
				chromedp.Evaluate(`fields.length`, &fields),
				chromedp.Evaluate(`fields.filter((e) => parseFloat(getComputedStyle(e).fontSize) < 16).map((e) => e.ariaLabel `+
					`|| e.outerHTML)`, &small),
				chromedp.Evaluate(`fields.filter((e) => e.closest(".lab-controls") && !isNaN(e.value) && e.scrollWidth > `+
					`e.clientWidth).map((e) => (e.ariaLabel || e.outerHTML) + " " + e.value)`, &cut))
			if fields == 0 || len(small) > 0 || len(cut) > 0 {
				t.Errorf("%s, %d wide: of %d fields these have small letters: %q, and these are cut: %q", view.address, width,
					fields, small, cut)
			}
		}
	}
}

// TestFieldOfEditor: the address of an editor that is emptied is the usual one again, in the field, too.
func TestFieldOfEditor(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
	address := func(typed, shows, link string) chromedp.Action {
		return chromedp.Tasks{do(`{ const e = document.getElementById("editor"); e.value = ` + quote(typed) +
			`; e.dispatchEvent(new Event("change", {bubbles: true})) }`),
			until(`document.getElementById("editor").value === ` + quote(shows)),
			until(`document.querySelector("[data-editor]").getAttribute("href").startsWith(` + quote(link) + `) && ` + shown)}
	}
	step(t, ctx, "results", chromedp.Navigate(s.URL+"/?q=commit"),
		until(`document.querySelector("[data-editor]") && `+shown))
	step(t, ctx, "another editor", address("zed://file{path}:{line}", "zed://file{path}:{line}", "zed://file/"))
	step(t, ctx, "none", address("", "obsidian://open?path={path}", "obsidian://open?path=%2F"))
}
