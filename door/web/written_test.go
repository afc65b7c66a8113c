package web_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
	"sheaf/store/storetest"
)

// TestWritten: what Obsidian and others add to Markdown is laid out as it is meant, and
// what only looks so is text.
func TestWritten(t *testing.T) {
	for _, c := range []struct{ name, note, want string }{
		{"marks", "This is ==highlighted *text*== here.", `<p>This is <span class="highlight">highlighted ` +
			`<em>text</em></span> here.</p>`},
		{"marks in a script without spaces", "这是==高亮==文字", `<p>这是<span class="highlight">高亮</span>文字</p>`},
		{"no marks", "a == b == c, a==b and c==d, ===x===, `==y==`", "<p>a == b == c, a==b and c==d, ===x===, " +
			"<code>==y==</code></p>"},
		{"comments", "%%secret%% Seen, %%of\ntwo lines%% too.", `<p><span class="comment">%%secret%%</span> Seen, <span ` +
			`class="comment">%%of` + "\n" + `two lines%%</span> too.</p>`},
		{"no comments", "Use %%a and %%b, 5%%x, `%%x%%`", "<p>Use %%a and %%b, 5%%x, <code>%%x%%</code></p>"},
		{"a link whose text has brackets", "[[1]](https://example.org/x) [[Ann]](boss)",
			`<p><a href="https://example.org/x" rel="noreferrer noopener" target="_blank">[1]</a> <a href="#">Ann</a>(boss)</p>`},
		{"addresses of other programs", "[plugin](obsidian://show-plugin?id=maps) <obsidian://open?vault=a%20b&file=c> " +
			"<a@example.org> [b](mailto:b@example.org) [c](zotero://1) <zotero://1> [d](HTTPS://x.org) [e](javascript:alert)",
			`<p><a href="obsidian://show-plugin?id=maps">plugin</a> <a ` +
				`href="obsidian://open?vault=a%20b&amp;file=c">obsidian://open?vault=a%20b&amp;file=c</a> <a ` +
				`href="mailto:a@example.org">a@example.org</a> <a href="mailto:b@example.org">b</a> <a href="#">c</a> ` +
				`zotero://1 <a href="HTTPS://x.org" rel="noreferrer noopener" target="_blank">d</a> <a href="#">e</a></p>`},
		{"comments of many paragraphs", "One.\n\n%%\n# A <b>\n\n- [[x]]\n%%\n\nTwo.", "<p>One.</p>\n" +
			`<div class="comment">%%` + "\n# A &lt;b&gt;\n\n- [[x]]\n%%\n</div>\n<p>Two.</p>"},
		{"a comment that does not end", "%%\n\nOne.\n\n%%x", "<p>%%</p>\n<p>One.</p>\n<p>%%x</p>"},
		{"names of blocks", "A paragraph. ^para-1\n\n- item ^a1\n\n> quote\n\n^quote-1", "<p>A paragraph. </p>\n<ul " +
			"dir=\"auto\">\n<li>item </li>\n</ul>\n<blockquote dir=\"auto\"><p>quote</p>\n</blockquote>\n<p></p>"},
		{"no names of blocks", "10 ^3\n\nx^a ^b c `^d`\n\nPress ^C\nto stop.", "<p>10 ^3</p>\n<p>x^a ^b c " +
			"<code>^d</code></p>\n<p>Press ^C\nto stop.</p>"},
		{"footnotes", "One[^1], two[^long note].\n\n[^1]: The *first*.\n[^long note]: https://example.org\n\n    More.\n\nText.", `<p>One<sup><a class="footnote" id="ref:1" href="#note:1" role="doc-noteref" aria-label="footnote 1">1</a></sup>, two<sup><a class="footnote" id="ref:long%20note" href="#note:long%20note" role="doc-noteref" aria-label="footnote long note">long note</a></sup>.</p>
<div class="footnote" id="note:1" role="note" tabindex="-1"><a class="footnote" href="#ref:1" role="doc-backlink" aria-label="back from footnote 1">1</a>
<p>The <em>first</em>.</p>
</div>
<div class="footnote" id="note:long%20note" role="note" tabindex="-1"><a class="footnote" href="#ref:long%20note" role="doc-backlink" aria-label="back from footnote long note">long note</a>
<p><a href="https://example.org" rel="noreferrer noopener" target="_blank">https://example.org</a></p>
<p>More.</p>
</div>
<p>Text.</p>`},
		{"a footnote of hostile name", "x[^\"><b>]\n\n[^\"><b>]: y", `<p>x<sup><a class="footnote" id="ref:%22%3E%3Cb%3E" href="#note:%22%3E%3Cb%3E" role="doc-noteref" aria-label="footnote &quot;&gt;&lt;b&gt;">&quot;&gt;&lt;b&gt;</a></sup></p>
<div class="footnote" id="note:%22%3E%3Cb%3E" role="note" tabindex="-1"><a class="footnote" href="#ref:%22%3E%3Cb%3E" role="doc-backlink" aria-label="back from footnote &quot;&gt;&lt;b&gt;">&quot;&gt;&lt;b&gt;</a>
<p>y</p>
</div>`},
		{"a footnote to which nothing leads", "[^<b>]: y", `<div class="footnote" id="note:%3Cb%3E" role="note" tabindex="-1"><span>&lt;b&gt;</span>
<p>y</p>
</div>`},
		{"footnotes in a link", "[see *a[^1]* and ![b[^2]](c.png)[^2]](https://example.org).\n\n[^1]: y\n[^2]: z",
			`<p><a href="https://example.org" rel="noreferrer noopener" target="_blank">see <em>a</em> and <span ` +
				`class="image">b</span></a>` +
				`<sup><a class="footnote" id="ref:1" href="#note:1" role="doc-noteref" aria-label="footnote 1">1</a></sup><sup><a class="footnote" id="ref:2" href="#note:2" role="doc-noteref" aria-label="footnote 2">2</a></sup><sup><a class="footnote" href="#note:2" role="doc-noteref" aria-label="footnote 2">2</a></sup>.</p>
<div class="footnote" id="note:1" role="note" tabindex="-1"><a class="footnote" href="#ref:1" role="doc-backlink" aria-label="back from footnote 1">1</a>
<p>y</p>
</div>
<div class="footnote" id="note:2" role="note" tabindex="-1"><a class="footnote" href="#ref:2" role="doc-backlink" aria-label="back from footnote 2">2</a>
<p>z</p>
</div>`},
		{"no footnotes", "A [^1] and [^a-z]+.", "<p>A [^1] and [^a-z]+.</p>"},
		{"formulas", `So $a_1*b*c\,d$ and $$x \\ y$$.`, `<p>So <code class="math">$a_1*b*c\,d$</code> and <code ` +
			`class="math">$$x \\ y$$</code>.</p>`},
		{"formulas of many lines", "Text\n$$\n\\begin{matrix} a \\\\\n- b\n\n= c\n$$\nbehind", "<p>Text</p>\n<pre " +
			"class=\"math\">$$\n\\begin{matrix} a \\\\\n- b\n\n= c\n$$\n</pre>\n<p>behind</p>"},
		{"no formulas", `It costs $5 or $6, US$7, $HOME/*a*/$PATH, ${x}:${y}, \$a\$`, `<p>It costs $5 or $6, US$7, ` +
			`$HOME/<em>a</em>/$PATH, ${x}:${y}, $a$</p>`},
		{"tasks", "- [ ] open\n- [x] done\n- [X](https://example.org)", "<ul dir=\"auto\">\n<li><input disabled=\"\" " +
			"type=\"checkbox\"> open</li>\n<li><input checked=\"\" disabled=\"\" type=\"checkbox\"> done</li>\n<li><a " +
			"href=\"https://example.org\" rel=\"noreferrer noopener\" target=\"_blank\">X</a></li>\n</ul>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := collectiontest.Open(t, map[string]string{"near.md": c.note + "\n"}, nil)
			s := httptest.NewServer(site(t, httpdoor.Options{Collections: []*collection.Collection{f.Collection},
				Open: access.Unrestricted(), Version: "test"}))
			defer s.Close()
			_, body := fetch(t, s.URL+"/ui/document?id=near.md")
			var got struct{ HTML string }
			if err := json.Unmarshal([]byte(body), &got); err != nil || strings.TrimSpace(got.HTML) != c.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got.HTML, c.want)
			}
		})
	}
}

// TestWrittenIsBounded: many signs that begin something and end nothing take no more time
// than other text.
func TestWrittenIsBounded(t *testing.T) {
	for _, sign := range []string{"==a ", "%%a ", "$a ", "$$a ", "[^a] ", " ^a", "\n%%", "\n$$", "\n[^a]: ", "[^1]: - ",
		"==a==", "\n\n%%a", "\n\n$$a"} {
		f := collectiontest.Open(t, map[string]string{"near.md": "x " + strings.Repeat(sign, 400_000/len(sign)) +
			"\n\n[^a]: b\n"}, nil)
		s := httptest.NewServer(site(t, httpdoor.Options{Collections: []*collection.Collection{f.Collection},
			Open: access.Unrestricted(), Version: "test"}))
		began := storetest.CPU()
		r, _ := fetch(t, s.URL+"/ui/document?id=near.md")
		if took := storetest.CPU() - began; r.StatusCode != 200 || took > 10*time.Second {
			t.Errorf("%q: %s after %v of a processor", sign, r.Status, took)
		}
		s.Close()
	}
}

// TestPageWritten: a footnote leads to its definition and back, and neither moves the
// address; comments are not seen but where they hold what was looked for.
func TestPageWritten(t *testing.T) {
	ctx := browser(t)
	f := collectiontest.Open(t, map[string]string{"near.md": "# Near\n\nA zebra ==walks a zebra== by[^1]. %%secret " +
		"fox%% ^id\n\n^only\n\n" + strings.Repeat("Line.\n\n", 100) + "[^1]: So it is.\n\n## Last\n"}, nil)
	s := httptest.NewServer(site(t, httpdoor.Options{Collections: []*collection.Collection{f.Collection},
		Open: access.Unrestricted(), Version: "test"}))
	t.Cleanup(s.Close)
	at := func(q string) string {
		return s.URL + "/?" + url.Values{"view": {"document"}, "id": {"notes:near.md"}, "q": {q}}.Encode()
	}
	const seen = `document.querySelector("article .comment").checkVisibility()`
	var before, down, up, marks, again string
	var shown, found, empty bool
	run := func(actions ...chromedp.Action) {
		t.Helper()
		if err := chromedp.Run(ctx, actions...); err != nil {
			t.Fatal(err)
		}
	}
	run(chromedp.Navigate(at("zebra")), chromedp.WaitVisible("article mark"), chromedp.Evaluate(seen, &shown),
		chromedp.Evaluate(`[...document.querySelectorAll("article p:empty, article p:not(:has(*))")].some((p) => `+
			`!p.textContent.trim() && p.checkVisibility())`, &empty),
		chromedp.Evaluate(`[...document.querySelectorAll("article mark")].map((m) => m.textContent).join()`, &marks),
		chromedp.Location(&before),
		chromedp.Click("sup a.footnote"), until(`document.activeElement.id === "note:1" && scrollY > 500`),
		chromedp.Evaluate(`String(scrollY > 500)+" "+document.activeElement.id+" "+location.href`, &down),
		chromedp.Click("div.footnote > a.footnote"), until(`document.activeElement.id === "ref:1" && scrollY <= 500`),
		chromedp.Evaluate(`String(scrollY > 500)+" "+document.activeElement.id+" "+location.href`, &up),
		chromedp.Navigate(at("fox")), chromedp.WaitVisible("article mark"), chromedp.Evaluate(seen, &found),
		chromedp.Evaluate(`document.querySelector("article mark").textContent`, &again))
	if shown || empty || marks != "zebra,zebra" || down != "true note:1 "+before || up != "false ref:1 "+before ||
		!found || again != "fox" {
		t.Error(fmt.Sprint(shown, empty, marks, "; ", down, "; ", up, "; ", found, again))
	}
}
