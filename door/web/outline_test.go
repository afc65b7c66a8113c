package web_test

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
)

// TestPageOutline: the outline of a long document marks the section in view and keeps it in
// sight; the focus, the address and the history stay as they are, and a section that was
// asked for is marked though the end of the page keeps it from the top.
func TestPageOutline(t *testing.T) {
	ctx := browser(t)
	var long strings.Builder
	long.WriteString("# Long\n\nA commit.\n\n")
	for i := range 82 {
		fmt.Fprintf(&long, "## Section %d\n\n%s\n\n", i, strings.Repeat("Words of a section. ", 25+i%4*10))
	}
	f := collectiontest.Open(t, map[string]string{"long.md": long.String(), "short.md": "# Short\n\nA commit.\n\n## " +
		"Next\n\nMore.\n",
		"untitled.md": strings.Repeat("A [commit](short.md).\n\n", 60) + "## Last\n\nOf all.\n"}, nil)
	s := httptest.NewServer(site(t, httpdoor.Options{Collections: []*collection.Collection{f.Collection},
		Open: access.Unrestricted(), Version: "test"}))
	t.Cleanup(s.Close)
	marked := func(title string) chromedp.Action {
		return until(`(() => {
			const all = [...document.querySelectorAll(".outline [aria-current]")], box = document.querySelector(".outline").getBoundingClientRect(), at = all[0]?.getBoundingClientRect();
			return all.length === 1 && all[0].textContent === ` + quote(title) + ` && at.top >= box.top && at.bottom <= box.bottom + 1;
		})()`)
	}
	do := func(code string) chromedp.Action { return chromedp.Evaluate(code+"; 0", nil) }
	scroll := func(section int) chromedp.Action {
		return do(fmt.Sprintf(`document.querySelector("[data-id='notes:long.md#section-%d']").scrollIntoView()`, section))
	}
	const same = `location.search === was.search && history.length === was.length && document.activeElement === ` +
		`was.focus && performance.getEntriesByType("resource").length === was.asked`

	step(t, ctx, "the top", chromedp.Navigate(s.URL+"/?view=document&id=long.md"),
		until(`document.querySelectorAll(".outline > ul a").length === 83 && `+shown), marked("Long"))
	step(t, ctx, "what must stay", do(`document.querySelector(".facts button").focus(); window.was = {search: `+
		`location.search, length: history.length, focus: document.activeElement, asked: `+
		`performance.getEntriesByType("resource").length}`))
	for _, section := range []int{40, 41, 20, 70, 0} {
		step(t, ctx, fmt.Sprint("scroll to ", section), scroll(section), marked(fmt.Sprint("Section ", section)), until(same))
	}
	step(t, ctx, "the end", do(`scrollTo(0, 1e9)`), marked("Section 81"), shoot("outline-end"), do(`scrollTo(0, 0)`),
		marked("Long"), until(same))
	step(t, ctx, "every section is met", chromedp.Evaluate(`(async () => {
		const met = new Set(), frame = () => new Promise(requestAnimationFrame), longest = document.documentElement.scrollHeight - innerHeight;
		for (let y = 0; y <= longest + 100; y += 100) {
			scrollTo(0, y);
			await frame(); await frame();
			met.add(document.querySelector(".outline [aria-current]").textContent);
		}
		window.met = met.size;
	})(); 0`, nil), until(`window.met === 83`), until(same))

	step(t, ctx, "an entry, near the end", scroll(81), marked("Section 81"),
		do(`window.entry = [...document.querySelectorAll(".outline > ul a")].find((a) => a.textContent === "Section 80"); `+
			`window.height = entry.getBoundingClientRect().top; entry.click()`),
		until(`location.search.includes("section-80") && `+shown), marked("Section 80"), until(`entry.isConnected`),
		until(`location.search.includes("section-80") && document.activeElement.textContent === "Section 80"`),
		until(`Math.abs(document.querySelector(".outline [aria-current]").getBoundingClientRect().top - height) < 2`),
		shoot("outline-asked"))
	step(t, ctx, "it stays so", chromedp.Navigate(s.URL+"/?view=document&id="+url.QueryEscape("long.md#section-80")),
		until(`document.querySelector(".hit") && `+shown),
		chromedp.Evaluate(`window.frames = 0, (function next() { if (++frames < 10) requestAnimationFrame(next); })(), 0`,
			nil), until(`frames >= 10`), marked("Section 80"))
	step(t, ctx, "until it is scrolled", do(`scrollBy(0, -2500)`),
		until(`!/Section (7[6-9]|8)/.test(document.querySelector(".outline [aria-current]").textContent)`))
	step(t, ctx, "an address", chromedp.Navigate(s.URL+"/?view=document&id="+url.QueryEscape("long.md#section-50")),
		until(`document.querySelector(".hit") && `+shown), marked("Section 50"), shoot("outline"))
	step(t, ctx, "all in view", chromedp.Navigate(s.URL+"/?view=document&id=short.md"),
		until(`document.querySelectorAll(".outline > ul a").length === 2 && `+shown), marked("Short"))
	step(t, ctx, "a note without a title", chromedp.Navigate(s.URL+"/?view=document&id=untitled.md"),
		until(`document.querySelectorAll(".outline > ul a").length === 2 && `+shown),
		chromedp.Click(".facts button", chromedp.ByQuery), until(`document.querySelector(".facts h2")`),
		do(`document.querySelector(".outline details").open = true; [...document.querySelectorAll(".outline > ul `+
			`a")].at(-1).click()`), until(`scrollY > 100 && document.querySelector(".hit") && `+shown),
		until(`document.querySelector(".facts h2") && document.querySelector(".outline details").open`))
	step(t, ctx, "its top", do(`document.querySelector(".outline > ul a").click()`),
		until(`scrollY === 0 && !document.querySelector(".hit") && !location.search.includes("last") && `+shown),
		marked("untitled"))
	step(t, ctx, "another view", do(`document.querySelector('nav a[data-view=search]').click()`),
		until(`document.body.dataset.view === "search" && `+shown),
		do(`dispatchEvent(new Event("scroll")); dispatchEvent(new Event("resize"))`))
}

// TestPageOutlineElsewhere: what stands beside a document leads to the beginning of another one, and its tags to what
// else has them, however far down one has read.
func TestPageOutlineElsewhere(t *testing.T) {
	ctx := browser(t)
	long := strings.Repeat("Words.\n\n", 100)
	s := served(t, map[string]string{"a.md": "---\ntags: [\"two words\", other]\n---\n# A\n\nTo [b](b.md).\n\n" + long,
		"b.md": "# B\n\n" + long})
	read := do(`scrollTo(0, 2000); document.querySelector(".outline details").open = true`)
	step(t, ctx, "read", chromedp.Navigate(s.URL+"/?view=document&id=a.md"),
		until(`document.querySelector("article h1")?.textContent === "A" && `+shown), read, until(`scrollY === 2000`))
	step(t, ctx, "another one", chromedp.Click(".outline details a", chromedp.ByQuery),
		until(`document.querySelector("article h1")?.textContent === "B" && `+shown), until(`scrollY === 0`))
	step(t, ctx, "back", chromedp.NavigateBack(),
		until(`document.querySelector("article h1")?.textContent === "A" && `+shown), until(`scrollY === 2000`))
	step(t, ctx, "a tag", chromedp.Click(".facts dd a", chromedp.ByQuery),
		until(`document.querySelectorAll("#results > li").length === 1 && `+shown),
		until(`new URLSearchParams(location.search).get("filter") === 'tag:"two words"' && scrollY === 0`))
}

// TestDocumentManyTags: hundreds of tags, aliases and values leave the headings in sight, and are shown by a button.
func TestDocumentManyTags(t *testing.T) {
	ctx := browser(t)
	list := func(name string) string {
		all := make([]string, 200)
		for i := range all {
			all[i] = fmt.Sprint(name, i)
		}
		return strings.Join(all, ", ")
	}
	s := served(t, map[string]string{"many.md": "---\ntags: [" + list("tag") + "]\naliases: [" + list("alias") +
		"]\nseen: [" + list("place") + "]\n---\n# Many\n\nText.\n"})
	step(t, ctx, "it", chromedp.Navigate(s.URL+"/?view=document&id=many.md"), until(shown),
		until(`document.querySelector(".outline > ul a").getBoundingClientRect().bottom < 700`), shoot("many-tags"),
		until(`[...document.querySelectorAll(".facts dd button")].map((e) => e.textContent).join() === "188 more,188 `+
			`more,188 more" && [...document.querySelectorAll(".facts dd a")].filter((e) => e.checkVisibility()).length === 12`))
	step(t, ctx, "the others", chromedp.Click(".facts dd button", chromedp.ByQuery),
		until(`[...document.querySelectorAll(".facts dd a")].filter((e) => e.checkVisibility()).length === 200 && `+
			`document.activeElement.textContent === "#tag12"`),
		do(`document.querySelectorAll(".facts dd button")[0].click()`),
		until(`document.querySelector(".facts").textContent.includes("alias11, alias12")`),
		until(`document.querySelectorAll(".facts dd button").length === 1`))
}
