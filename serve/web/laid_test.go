package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestDocumentLaidOut: columns of tables run as the note says, a callout begins with its kind and
// title, a task has its box instead of a mark, and lists run as their text does. The policy finds nothing to forbid.
func TestDocumentLaidOut(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"note.md": "# Note\n\n| a | b | c |\n|:--|:-:|--:|\n| 1 | 2 | 3 |\n\n" +
		"> [!warning]- Take *care* here\n> It bites.\n>\n> Often.\n\n> [!NOTE]\n> Nothing else.\n\n> [!tip] Alone\n\n> [no] callout\n\n" +
		"- [ ] to be done\n- [x] was done\n\n* פריט `code`\n\n> ציטוט\n\n- item\n"})
	step(t, ctx, "the note", chromedp.Navigate(s.URL), until(shown), do(`window.forbidden = 0; document.addEventListener("securitypolicyviolation", () => forbidden++); history.pushState({}, "", "/?view=document&id=note.md"); dispatchEvent(new PopStateEvent("popstate"))`), until(`document.querySelector("article") && `+shown), shoot("laid-out"))
	step(t, ctx, "a table", until(`[...document.querySelectorAll("td")].map((e) => getComputedStyle(e).textAlign).join() === "left,center,right"`), until(`forbidden === 0`))
	step(t, ctx, "callouts", until(`[...document.querySelectorAll("blockquote")].map((e) => [...e.children].map((p) => p.textContent.trim()).join("|")).slice(0, 4).join() === "warning Take care here|It bites.|Often.,NOTE|Nothing else.,tip Alone,[no] callout"`),
		until(`document.querySelector(".callout em").textContent === "care"`))
	step(t, ctx, "tasks", until(`[...document.querySelectorAll("li:has(input)")].map((e) => getComputedStyle(e).listStyleType + " " + e.querySelector("input").ariaLabel).join() === "none to do,none done"`))
	step(t, ctx, "from right to left", until(`[...document.querySelectorAll("article ul")].map((e) => getComputedStyle(e).direction).join() === "ltr,rtl,ltr" && getComputedStyle([...document.querySelectorAll("blockquote")].at(-1)).borderRightStyle === "solid"`))
}

// TestDocumentMarksWords: where no spaces stand between words, only what was asked for is marked.
func TestDocumentMarksWords(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{"ja.md": "# 旅\n\n京都への旅行について書きます。\n", "ko.md": "# 여행\n\n검색을 하다\n"})
	marks := func(want string) chromedp.Action {
		return until(`[...document.querySelectorAll("article mark")].map((e) => e.textContent).join() === ` + quote(want) + ` && ` + shown)
	}
	step(t, ctx, "Japanese", chromedp.Navigate(s.URL+"/?view=document&id=ja.md&q=京都+旅行"), marks("京都,旅行"))
	step(t, ctx, "Korean", chromedp.Navigate(s.URL+"/?view=document&id=ko.md&q=검색"), marks("검색을"))
}
