package web_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestPageReturn: who comes back to the page sees what was saved meanwhile, at the place where they
// were; where nothing was, nothing is drawn anew.
func TestPageReturn(t *testing.T) {
	ctx := browser(t)
	s, f := start(t)
	back := do(`window.dispatchEvent(new Event("focus"))`)
	step(t, ctx, "results", chromedp.Navigate(s.URL+"/?q=walrus"), until(`document.querySelector("main h1") && `+shown))
	f.Write(t, "walrus.md", "# Walrus\n\nA walrus.\n")
	f.Index(t)
	step(t, ctx, "back", back, until(`document.querySelector("#results")?.textContent.includes("A walrus.")`))
	step(t, ctx, "back, and nothing has changed",
		do(`window.first = document.querySelector("#result-0"); window.real = fetch; window.asked = 0; window.fetch = `+
			`(...a) => real(...a).finally(() => asked++)`), back, until(`asked === 1`), chromedp.Sleep(100*time.Millisecond),
		until(`document.querySelector("#result-0") === first`))
	step(t, ctx, "a document", chromedp.Navigate(s.URL+"/?view=document&id=walrus.md"),
		until(`document.querySelector("article") && `+shown),
		do(`window.first = document.querySelector("article"); window.real = fetch; window.asked = 0; window.fetch = `+
			`(...a) => real(...a).finally(() => asked++)`),
		back, until(`asked === 1`), chromedp.Sleep(100*time.Millisecond),
		until(`document.querySelector("article") === first`))
	f.Write(t, "walrus.md", "# Walrus\n\nTwo of them.\n")
	f.Index(t)
	step(t, ctx, "back to it", back, until(`document.querySelector("article").textContent.includes("Two of them.")`))
	step(t, ctx, "a passage, the search box", chromedp.Navigate(s.URL+"/?view=document&id=walrus.md%23walrus"),
		until(`document.activeElement.matches(".hit") && `+shown), do(`document.getElementById("query").focus()`))
	f.Write(t, "walrus.md", "# Walrus\n\nThree of them.\n")
	f.Index(t)
	step(t, ctx, "back to the box", back, until(`document.querySelector("article").textContent.includes("Three of `+
		`them.") && `+shown), until(`document.activeElement.id === "query"`))
	f.Write(t, "walrus.md", "# Seal\n\nFour of them.\n")
	f.Index(t)
	step(t, ctx, "its heading is another one", back,
		until(`document.querySelector("article")?.textContent.includes("Four of them.") && `+
			`document.getElementById("notes").textContent.includes('no section "walrus"') && `+shown))
	f.Write(t, "walrus.md", "# Walrus\n\nFour of them.\n")
	f.Index(t)
	step(t, ctx, "it is there again", back,
		until(`document.querySelector("article .hit") && document.getElementById("notes").textContent === "" && `+shown))
}

// TestLabReturn: who comes back to the lab sees the numbers of a profile that was saved elsewhere meanwhile, by which
// it ranks from then on.
func TestLabReturn(t *testing.T) {
	ctx := browser(t)
	s, _ := start(t)
	const number = `document.querySelector("[data-name=meaning] input[type=text]").value`
	save := func(meaning string) chromedp.Action {
		return do(`fetch("/v1/profiles/mine", {method: "PUT", headers: {"Content-Type": "application/json"}, body: ` +
			`JSON.stringify({extends: "sheaf", parameters: {meaning: "` + meaning + `"}, replace: true})}).then((r) => { ` +
			`window.saved = r.status; })`)
	}
	step(t, ctx, "a profile", chromedp.Navigate(s.URL), until(shown), save("0.3"), until(`window.saved < 300`),
		chromedp.Navigate(s.URL+"/?view=lab&q=commit&profile=mine&set.names=0.7"), until(shown), until(number+` === "0.3"`))
	step(t, ctx, "another window saves it", save("0.6"), until(`window.saved < 300`),
		do(`dispatchEvent(new Event("focus"))`), until(number+` === "0.6" && location.search.includes("set.names=0.7")`))
}

// TestPageReturnToNothing: who comes back to a note that was taken away is told so, and sees it when it
// is there again.
func TestPageReturnToNothing(t *testing.T) {
	ctx := browser(t)
	s, f := start(t)
	back := do(`window.dispatchEvent(new Event("focus"))`)
	f.Write(t, "walrus.md", "# Walrus\n\nA walrus.\n")
	f.Index(t)
	step(t, ctx, "a note", chromedp.Navigate(s.URL+"/?view=document&id=walrus.md"),
		until(`document.querySelector("article") && `+shown))
	if err := os.Remove(filepath.Join(f.Root, "walrus.md")); err != nil {
		t.Fatal(err)
	}
	f.Index(t)
	step(t, ctx, "it is gone", back, until(`!document.querySelector("article") && `+
		`document.getElementById("notes").textContent.includes('nothing is called "walrus.md"')`))
	step(t, ctx, "still", back, chromedp.Sleep(time.Second),
		until(`document.getElementById("notes").textContent.includes('nothing is called "walrus.md"')`))
	f.Write(t, "walrus.md", "# Walrus\n\nAnother one.\n")
	f.Index(t)
	step(t, ctx, "it is there again", back,
		until(`document.querySelector("article")?.textContent.includes("Another one.") && `+
			`document.getElementById("notes").textContent === "" && `+shown))
}

// TestPageBackToResult: who comes back from a whole document, of which no passage is marked,
// goes on at the result that it was.
func TestPageBackToResult(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"a.md": "A walrus.\n", "b.md": "A walrus and another.\n"})
	step(t, ctx, "there", chromedp.Navigate(s.URL+"/?q=walrus"), until(`document.querySelector("#result-1") && `+shown),
		chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown),
		until(`document.activeElement.closest("#result-1")`),
		chromedp.KeyEvent(kb.Enter), until(`document.querySelector("article") && document.activeElement.id === "main" && `+
			shown))
	step(t, ctx, "and back", do(`history.back()`), until(`document.activeElement.closest("#result-1 h2") && `+shown))
}
