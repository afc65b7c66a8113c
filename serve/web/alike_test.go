package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestPageAlike: who misspells a word is led to those that are spelt alike, where there are such;
// one result is no results; and the last of those that are shown says what else can be done.
func TestPageAlike(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"trip.md": "---\ntags: [travel]\n---\n# Trip\n\nThe itinerary of the walrus.\n"})
	step(t, ctx, "a misspelt word", chromedp.Navigate(s.URL+"/?q=itineray&filter=tag:travel&profile=tree&why=1"), until(`document.querySelector(".empty a")?.textContent === "itineray~" && `+shown), shoot("alike"),
		chromedp.Click(".empty a"), until(`document.querySelector("#result-0 mark")?.textContent === "itinerary" && location.search === "?q=itineray%7E&filter=tag%3Atravel&profile=tree" && `+shown),
		until(`/^1 result in /.test(document.getElementById("count").textContent)`))
	step(t, ctx, "other letters", chromedp.Navigate(s.URL+"/?q=xyzzyxyzzy&profile=tree"), until(`document.querySelector(".empty")?.textContent === "Nothing found. Fewer or other words may help." && `+shown))
	step(t, ctx, "as many as are shown", chromedp.Navigate(many(t).URL+"/?q=commit&n=100"), until(`document.querySelectorAll("#results > li").length === 100 && document.querySelector(".empty")?.textContent.includes("No more than 100") && `+shown))
}
