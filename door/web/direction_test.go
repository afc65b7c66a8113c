package web_test

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
)

// turned lists text that a name with U+202E turns around: text behind it in the same node, except
// in explanations. It also lists later text of the line that is not to its right.
const turned = `(() => {
	const found = [];
	let seen = 0;
	const block = (e) => { while (getComputedStyle(e).display === "inline") e = e.parentElement; return e; };
	for (const e of document.querySelectorAll("main *, #notes *")) {
		if (block(e) !== e || e.closest("article, .snippet, svg")) continue;
		const walker = document.createTreeWalker(e, NodeFilter.SHOW_TEXT), nodes = [];
		while (walker.nextNode()) if (walker.currentNode.data.trim() && block(walker.currentNode.parentElement) === e) nodes.push(walker.currentNode);
		const box = (n) => { const r = document.createRange(); r.selectNodeContents(n); return r.getBoundingClientRect(); };
		nodes.forEach((n, i) => {
			const at = n.data.indexOf("\u202e");
			if (at < 0) return;
			seen++;
			if (!e.closest(".why") && !/^\u202emoc(\.md)?\s*$/.test(n.data.slice(at))) found.push(e.className + " " + e.tagName + ": one text: " + JSON.stringify(n.data));
			for (const next of nodes.slice(i + 1)) {
				const a = box(n), b = box(next);
				if (b.top < a.bottom && b.bottom > a.top && b.left < a.right - 1) found.push(e.className + " " + e.tagName + ": " + JSON.stringify(next.data) + " is not to the right of " + JSON.stringify(n.data));
			}
		});
	}
	// In SVG every letter says where it is: a part of a label is to the right of those before it.
	for (const e of document.querySelectorAll("svg.lab .node text")) {
		if (e.textContent.includes("moc")) seen++;
		let at = 0, edge = -Infinity;
		for (const part of e.textContent.split(/(^\d+\. | > | › )/)) {
			let left = Infinity, right = -Infinity;
			for (let i = at; i < at + part.length; i++) {
				const box = e.getExtentOfChar(i);
				if (box.width) [left, right] = [Math.min(left, box.x), Math.max(right, box.x + box.width)];
			}
			at += part.length;
			if (left < edge - 1) found.push("label " + JSON.stringify(e.textContent) + ": " + JSON.stringify(part) + " is not to the right");
			edge = Math.max(edge, right);
		}
	}
	return [String(seen), ...found];
})()`

// TestPageDirection checks that a name with a direction override does not turn the text beside it
// around. A right-to-left name keeps its direction.
func TestPageDirection(t *testing.T) {
	ctx := browser(t)
	const name = "a\u202emoc.md"
	s := served(t, map[string]string{
		name: "---\naliases: [\"one\u202emoc\", two]\nowner: [\"ann\u202emoc\", bob]\ntags: [\"t\u202emoc\", " +
			"other]\n---\n# One\u202emoc\n\nA commit.\n\n## Two\u202emoc\n\nA commit of two.\n\n### Three\n\nA commit of " +
			"three.\n\n## End\u2069\u202emoc\n\n### Four\n\nA commit of three and four.\n",
		"ملف.md": "# كيفية\n\n## التراجع\n\nللتراجع عن commit استخدم reset.\n",
	})
	id := url.QueryEscape("notes:" + name)
	for _, view := range []struct {
		what, address string
		ready         chromedp.Action
		least         int
	}{
		{"results", "/?q=commit&filter=" + url.QueryEscape("path:a*"),
			chromedp.Tasks{until(`document.querySelector("#result-2") && ` + shown), chromedp.Click("#result-0 button.score"),
				until(`document.querySelector(".why")`)}, 5},
		{"document", "/?view=document&id=" + id,
			chromedp.Tasks{until(`document.querySelector(".outline a")`), chromedp.Click(`.facts button`, chromedp.ByQuery),
				until(`document.querySelector(".facts h2")`)}, 3},
		{"lab", "/?view=lab&q=commit+three", chromedp.Tasks{until(`document.querySelectorAll(".judge li").length > 2`),
			chromedp.Evaluate(`[...document.querySelectorAll("svg.lab .node[role=button]")].find((e) => `+
				`e.dataset.id.includes("\u202e")).dispatchEvent(new MouseEvent("click", {bubbles: true}))`, nil),
			until(`document.querySelector(".why")`)}, 10},
	} {
		var got []string
		step(t, ctx, view.what, chromedp.EmulateViewport(2400, 900), /* in which no line wraps */
			chromedp.Navigate(s.URL+view.address), view.ready, do(`document.querySelector(".why > button")?.click()`),
			shoot("direction-"+view.what), chromedp.Evaluate(turned, &got))
		var seen int
		if _, err := fmt.Sscan(got[0], &seen); err != nil || seen < view.least {
			t.Errorf("%s: only %s names were looked at, want %d", view.what, got[0], view.least)
		}
		for _, g := range got[1:] {
			t.Errorf("%s: %s", view.what, g)
		}
	}
	step(t, ctx, "a title alone", chromedp.Navigate(s.URL+"/?q="+url.QueryEscape("commit -three -two")),
		until(`document.querySelector("#result-0 h2") && `+shown),
		until(`document.querySelector("#result-0 h2").textContent === "One\u202emoc"`))
	step(t, ctx, "a title from right to left", chromedp.Navigate(s.URL+"/?q=reset"),
		until(`document.querySelector("#result-0 h2 .above bdi") && `+shown), shoot("direction-rtl"),
		until(`(() => { const h2 = document.querySelector("#result-0 h2"), r = document.createRange(); `+
			`r.selectNodeContents(h2); return r.getBoundingClientRect().right >= h2.getBoundingClientRect().right - 2 && `+
			`document.querySelector("#result-0 .above").getBoundingClientRect().left > r.getBoundingClientRect().left + 2; })()`))
}

// TestPageTextDirection checks that text has the direction of most of its letters, whatever its first word is.
func TestPageTextDirection(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{
		"fa.md": "# ملاحظات\n\nObsidian به\u200cگونه\u200cای طراحی شده که به\u200cصورت آفلاین کار کند\n\n- Obsidian " +
			"به\u200cگونه\u200cای طراحی شده\n\n| Git | ملاحظات |\n|---|---|\n| Obsidian به\u200cگونه\u200cای طراحی شده | " +
			"ملاحظات ملاحظات |\n",
		"he.md":   "# ערך\n\n> [!important] כותר\n> גוף\n\n> [!important]\n> גוף\n",
		"code.md": "# התקנה\n\nהתקנה: הריצו `apt install docker-compose-plugin` ואז `--all`.\n",
		"mixed.md": "# ערך\n\n| ערך | כותר |\n|---|---|\n| Undo (all). | -5 |\n\n> גוף ציטוט ארוך\n>\n> Undo (all).\n\n- " +
			"פריט ארוך\n- Undo (all).\n",
		"ערך.md":  "- פריט\n- ערך ארוך\n- Undo all of it as ערך\n",
		"list.md": "# List\n\n- Undo all\n- Undo more of all commits\n- כותר\n",
		"en.md":   "# Words\n\nשלום is a word of Hebrew that means peace.\n",
	})
	runs := func(way string, elements ...string) chromedp.Action {
		var all chromedp.Tasks
		for _, e := range elements {
			all = append(all, until(`(e => e && getComputedStyle(e).direction === `+quote(way)+
				` && getComputedStyle(e).unicodeBidi !== "plaintext")(document.querySelector(`+quote(e)+`)) && `+shown))
		}
		return all
	}
	step(t, ctx, "a snippet", chromedp.Navigate(s.URL+"/?q="+url.QueryEscape("آفلاین")),
		until(`document.querySelector("#result-0 .snippet")?.textContent.startsWith("Obsidian")`), runs("rtl", ".snippet"),
		shoot("most-letters"))
	step(t, ctx, "a document", chromedp.Navigate(s.URL+"/?view=document&id=fa.md"),
		runs("rtl", "article p", "article ul", "article li", "article td", "article table"), shoot("most-letters-document"))
	step(t, ctx, "callouts", chromedp.Navigate(s.URL+"/?view=document&id=he.md"),
		runs("rtl", ".callout", "blockquote", "blockquote:last-of-type", "blockquote:last-of-type .callout"),
		until(`document.querySelector(".callout").textContent === "important כותר"`), shoot("most-letters-callouts"))
	step(t, ctx, "code, which does not count", chromedp.Navigate(s.URL+"/?view=document&id=code.md"),
		runs("rtl", "article p"), until(`(() => { const [c] = document.querySelector("article p `+
			`code:last-child").childNodes, at = (i) => { const r = document.createRange(); r.setStart(c, i); r.setEnd(c, i + `+
			`1); return r.getBoundingClientRect().left; }; return at(0) < at(2); })()`),
		chromedp.Navigate(s.URL+"/?q="+url.QueryEscape("הריצו")), runs("rtl", ".snippet"))
	step(t, ctx, "what has no letter from right to left, in what runs leftward",
		chromedp.Navigate(s.URL+"/?view=document&id=mixed.md"),
		runs("rtl", "article table", "article blockquote", "article ul"), shoot("most-letters-mixed"),
		until(`[...document.querySelectorAll("article td, article blockquote p:last-child, article `+
			`li:last-child")].every((e) => { const at = (i) => { const r = document.createRange(); r.setStart(e.firstChild, `+
			`i); r.setEnd(e.firstChild, i + 1); return r.getBoundingClientRect().left; }; return at(0) < `+
			`at(e.textContent.length - 1); })`))
	step(t, ctx, "a title that is the name of the file",
		chromedp.Navigate(s.URL+"/?view=document&id="+url.QueryEscape("ערך.md")), runs("rtl", "article h1"))
	// The marker of an item is outside the item, on the side where the item's text begins.
	for _, name := range []string{"ערך.md", "list.md"} {
		step(t, ctx, "an item that runs against its list, in "+name,
			chromedp.Navigate(s.URL+"/?view=document&id="+url.QueryEscape(name)),
			until(`document.querySelector("article li:last-child") && `+shown),
			until(`(() => { const item = document.querySelector("article li:last-child"), list = `+
				`item.parentElement.getBoundingClientRect(), { left, right } = item.getBoundingClientRect(); return item.dir `+
				`!== item.parentElement.dir && (item.dir === "rtl" ? list.right - right : left - list.left) > 16; })()`),
			shoot("most-letters-list"))
	}
	step(t, ctx, "the other way round", chromedp.Navigate(s.URL+"/?view=document&id=en.md"), runs("ltr", "article p"))
}
