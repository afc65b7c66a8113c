package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestLabTwins: results of one name are told apart by their identifiers, by sight and by ear; others go
// by their names alone.
func TestLabTwins(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"a/notes.md": "# Notes\n\n## Undo\n\nA walrus.\n",
		"b/notes.md": "# Notes\n\n## Undo\n\nA walrus.\n", "c.md": "# Alone\n\nA walrus.\n"})
	step(t, ctx, "the marks", chromedp.Navigate(s.URL+"/?view=lab&q=%22walrus%22"),
		until(`document.querySelector(".judge li") && `+shown), shoot("twins"),
		until(`JSON.stringify([...document.querySelectorAll(".judge li .id")].map((e) => e.textContent).sort()) === `+
			`'["a/notes.md#undo","b/notes.md#undo"]'`),
		until(`(() => { const names = [...document.querySelectorAll(".judge li button")].map((b) => b.ariaLabel); return `+
			`names.length === 6 && new Set(names).size === 6 && names.includes("right: Alone"); })()`))
	step(t, ctx, "the chart", until(`(() => { const names = [...document.querySelectorAll("svg.lab `+
		`[role=button]")].map((b) => b.ariaLabel.replace(/^[^A-Z]*|, score.*/g, "")); return names.length === 3 && new `+
		`Set(names).size === 3; })()`))
	step(t, ctx, "the arithmetic", do(`document.querySelector('svg.lab `+
		`[role=button][data-id="notes:b/notes.md#undo"]').dispatchEvent(new MouseEvent("click", {bubbles: true}))`),
		until(`document.querySelector(".arithmetic .id")?.textContent === "b/notes.md#undo"`),
		do(`document.querySelector('svg.lab [role=button][data-id="notes:c.md#alone"]').dispatchEvent(new `+
			`MouseEvent("click", {bubbles: true}))`),
		until(`document.querySelector(".arithmetic h2")?.textContent === "Alone" && `+
			`!document.querySelector(".arithmetic .id")`))
}
