package web_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sheaf/collection"
	"sheaf/collection/collectiontest"
	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestLabCompared checks the lab with two profiles. Both charts highlight a result, and the second
// shows its differences. nDCG is shown for both. A result of one profile can be marked.
func TestLabCompared(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{
		"long.md": "# Walrus\n\nThe walrus is a walrus.\n\n## Walrus again\n\nA walrus.\n\n## Walrus at last\n\nOf " +
			"the walrus.\n",
		"other.md": "# Other\n\nAbout seals and a walrus, which is not much about a walrus at all.\n",
	})
	step(t, ctx, "two profiles", visit(s, "/?view=lab&q=walrus&profile=rrf&compare=bench"),
		until(`$$("svg.lab").length === 2 && $(".judge li") && shown()`), shoot("compared"))
	step(t, ctx, "how they differ", until(`$(".two .scroll:last-child svg .up, .two .scroll:last-child svg .down")`))
	const lit = `$(".two .scroll:last-child .node.lit")?.dataset.id === both.dataset.id`
	step(t, ctx, "lit in both", do(`window.both = $$(".two .scroll:first-child [role=button]")
			.find((e) => $('.two .scroll:last-child [data-id="' + CSS.escape(e.dataset.id) + '"]'));
		both.dispatchEvent(new PointerEvent("pointerover", {bubbles: true}))`), until(lit),
		do(`both.ownerSVGElement.dispatchEvent(new PointerEvent("pointerleave"))`), until(`!$(".lit")`),
		do(`both.dispatchEvent(new MouseEvent("click", {bubbles: true}))`),
		until(lit))
	of := func(profile string) chromedp.Action {
		return until(`$("[aria-label=Arithmetic] h3")?.textContent === ` + quote(profile) +
			` && $("[aria-label=Arithmetic] .why")`)
	}
	step(t, ctx, "the arithmetic of the first", of("rrf"))
	step(t, ctx, "nDCG of both", click(".judge ol button"),
		until(`$$(".judge th[scope=col]").map((e) => e.textContent).join() === "nDCG@10,now,bench"`),
		until(`$$(".judge tbody tr").every((r) => [...r.querySelectorAll("td")].every((c) => `+
			`/^[01]\.\d{3}$/.test(c.textContent)) && r.children.length === 3)`))
	step(t, ctx, "why not, of both", typeIn(`.lab-bar input`, "other.md"+kb.Enter), until(`$$("[aria-label=Arithmetic] `+
		`h3").map((e) => e.textContent).join() === "rrf,bench" && $$("[aria-label=Arithmetic] ul").length === 2`),
		shoot("why-not-of-both"))
	step(t, ctx, "that of a result of the second alone", visit(s, "/?view=lab&q=walrus&profile=bench&compare=rrf"),
		until(`$$("svg.lab").length === 2 && shown()`), do(`$$(".two .scroll:last-child [role=button]").find((e) => `+
			`!$('.two .scroll:first-child [role=button][data-id="' + CSS.escape(e.dataset.id) + '"]')).dispatchEvent(new `+
			`MouseEvent("click", {bubbles: true}))`), of("rrf"), shoot("of-the-second-alone"))
	step(t, ctx, "which stays while a number moves", slide(`Number(r.value) + 5 * Number(r.step)`),
		until(`location.search.includes("set.") && $(".lab-controls .changed")`), of("rrf"))
	step(t, ctx, "and where the page is loaded again", chromedp.Reload(), of("rrf"))
	step(t, ctx, "a space behind the query", visit(s, "/?view=lab&q=walrus+&profile=rrf"),
		until(`$(".judge ol button")?.ariaPressed === "true" && shown()`))
	step(t, ctx, "all marked queries, however many", do(`localStorage.setItem("sheaf-judged notes", `+
		`JSON.stringify(Object.fromEntries([...Array(60).keys()].map((i) => ["walrus " + i, {"notes:other.md": 1}]))))`),
		visit(s, "/?view=lab&q=walrus"), until(`$$(".judge tbody tr").length === 61`))
	step(t, ctx, "what is marked and not found stays to be seen",
		do(`localStorage.setItem("sheaf-judged notes", JSON.stringify({walrus: {"notes:gone.md": 1}}))`), visit(s,
			"/?view=lab&q=walrus"), until(`$(".judge ul li")?.textContent.includes("notes:gone.md") && $(".judge ul li `+
			`button").ariaPressed === "true"`), click(".judge ul li button"),
		until(`$(".judge ul li button").ariaPressed === "false" && !$(".judge table")`))
}

// TestLabIdleStagesAreNarrow checks that stages which move no result take less width than other stages. The
// results are visible without scrolling.
func TestLabIdleStagesAreNarrow(t *testing.T) {
	ctx, s := browsed(t)
	step(t, ctx, "the lab", visit(s, "/?view=lab&q=commit"), visible("svg.lab .node"), until(shown),
		until(`(() => { const last = $("svg.lab [role=button] circle").getBoundingClientRect(), box = `+
			`$(".scroll").getBoundingClientRect(); return last.left >= box.left && last.right + 200 < box.right; })()`),
		until(`(() => { const heads = $$("svg.lab .head").map((e) => e.getAttribute("x") - 0), gaps = `+
			`heads.slice(1).map((x, i) => x - heads[i]); return Math.min(...gaps) < 110 && Math.max(...gaps) > 150; })()`))
	step(t, ctx, "a number is explained while it is held", emulation.SetFocusEmulationEnabled(true),
		focusOn(`.lab-controls input`), until(`$(".lab-bar + .place").textContent.startsWith("meaning: ")`),
		focusOn("#query"), until(`!$(".lab-bar + .place").textContent.startsWith("meaning: ")`))
}

// TestLabUpdate checks that saving a user's profile again changes the new numbers and keeps the others.
func TestLabUpdate(t *testing.T) {
	ctx := browser(t)
	s, f := start(t)
	answer(ctx)
	set := func(name, value string) chromedp.Action {
		return do(`{ const field = $('.lab-controls [data-name=` + name + `] input[type=text]'); field.value = "` + value +
			`"; field.dispatchEvent(new Event("change", {bubbles: true})); }`)
	}
	save := chromedp.Click(`//button[text()="Save as profile"]`, chromedp.BySearch)
	step(t, ctx, "a profile", visit(s, "/?view=lab&q=commit"), visible("svg.lab .node"), set("meaning", "0.5"),
		until(`location.search.includes("set.meaning")`), save,
		until(`$(".lab-bar select").value === "sheaf-mine" && !location.search.includes("set.")`))
	step(t, ctx, "with another number", set("names", "0.25"), until(`location.search.includes("set.names")`), save,
		until(`!location.search.includes("set.") && $("#notes").textContent.includes("sheaf-mine.yaml")`),
		until(`$('.lab-controls [data-name=names] input[type=text]').value === "0.25" && $('.lab-controls `+
			`[data-name=meaning] input[type=text]').value === "0.5" && !$(".lab-controls .changed")`))
	text, err := os.ReadFile(filepath.Join(f.Options.ProfileDirs[0], "sheaf-mine.yaml"))
	check.That(t, err == nil && strings.Contains(string(text), "extends: sheaf\n") &&
		strings.Contains(string(text), "names: 0.25") && strings.Contains(string(text), "meaning: 0.5"), "it is\n%s, %v",
		text, err)
}

// TestArithmeticFolds checks that long arithmetic is folded to 17 lines at most, and that a button
// unfolds the rest. In the lab it stays unfolded while numbers change.
func TestArithmeticFolds(t *testing.T) {
	ctx, s := browsed(t)
	lines := func(n string) chromedp.Action {
		return until(`$$(".why li").filter((e) => e.checkVisibility()).length ` + n)
	}
	step(t, ctx, "among the results", visit(s, "/?q=undo+commit&why=1"), until(`$(".why")`),
		until(`$$(".why li").length > 25`), lines("<= 17"), lines("> 5"))
	step(t, ctx, "all of it", click(`.why > button`), lines("=== $$('.why li').length"), click(`.why > button`),
		lines("=== 1"))
	step(t, ctx, "in the lab", visit(s, "/?view=lab&q=undo+commit"), visible("svg.lab .node"),
		do(`$("svg.lab [role=button]").dispatchEvent(new MouseEvent("click", {bubbles: true}))`), until(`$(".why")`),
		lines("<= 17"), do(`{ const d = $(".why details:not([open])"); window.unfolded = d.dataset.at; window.old = `+
			`$(".why"); d.open = true; }`), slide(`Number(r.value) + 0.05`),
		until(`$(".why") && $(".why") !== old && $('.why [data-at="' + unfolded + '"]')?.open`))
}

// TestPageChosenFacets checks that the facets mark only the chosen values, stay folded or unfolded, and
// keep the keyboard focus. The page names the profile, and a button removes it.
func TestPageChosenFacets(t *testing.T) {
	ctx := browser(t)
	s := served(t, map[string]string{
		"a/b/one.md":              "---\ntags: [git, github]\n---\n# One\n\nA walrus.\n",
		"a/two.md":                "---\ntags: [git]\n---\n# Two\n\nA walrus.\n",
		"c/three.md":              "---\ntags: ['so\"called']\n---\n# Three\n\nA walrus.\n",
		"c/b d/two.md":            "---\ntags: [\"see also: x\"]\n---\n# Four\n\nA walrus.\n",
		"d/see “it”, now/five.md": "---\ntags: [\"x,y\", \"*\"]\n---\n# Five\n\nA walrus.\n",
	})
	pressed := func(want string) chromedp.Action {
		return until(`$$("aside details [aria-pressed=true]").map((e) => e.textContent).join() === ` + quote(want) +
			` && shown()`)
	}
	step(t, ctx, "a tag that begins as another does", visit(s, "/?q=walrus"), pressed(""),
		click(`aside button[data-narrow="tag:github"]`), pressed("github"),
		until(`document.activeElement.dataset.narrow === "tag:github" && $$("#results > li").length === 1`))
	step(t, ctx, "no more", press(kb.Enter), pressed(""),
		until(`document.activeElement.matches("aside details [data-narrow='tag:github']")`))
	step(t, ctx, "a folder within another", visit(s, "/?q=walrus&filter=path:a/b/"), pressed("a/b"))
	step(t, ctx, "a tag that looks like two", visit(s, "/?q=walrus"), until(`$("aside") && shown()`),
		click(`aside button[data-narrow='tag:"see also: x"']`), pressed("see also: x"), click("aside > ul button"),
		pressed(""), until(`location.search === "?q=walrus"`))
	for _, name := range []string{"d/see “it”, now", "x,y"} {
		step(t, ctx, name, visit(s, "/?q=walrus"), pressed(""),
			do(`$$("aside details button").find((e) => e.textContent === `+quote(name)+`).click()`), pressed(name),
			until(`$$("#results > li").length === 1 && !$$("aside details button").some((e) => e.textContent === "*")`),
			click("aside > ul button"), pressed(""), until(`location.search === "?q=walrus"`))
	}
	step(t, ctx, "a tag with a quotation mark",
		do(`$$("aside details button").find((e) => e.textContent === 'so"called').click()`), pressed(`so"called`),
		until(`$$("#results > li").length === 1`))
	step(t, ctx, "what is folded stays so", click(`aside details:last-of-type summary`),
		until(`!$("aside details:last-of-type").open`), typeIn("#query", "es"),
		until(`location.search.includes("walruses") && shown()`),
		until(`$("aside details:first-of-type").open && !$("aside details:last-of-type").open`))
	step(t, ctx, "a profile", visit(s, "/?q=walrus&profile=rrf"),
		until(`$("aside")?.textContent.includes("rrf") && shown()`), click("aside button"),
		until(`location.search === "?q=walrus" && !$("aside").textContent.includes("rrf") && shown()`))
}

// TestPageAllFacets checks that a keyboard user can open the hidden facet values, and that they stay open.
func TestPageAllFacets(t *testing.T) {
	ctx := browser(t)
	notes := map[string]string{}
	for i := range 11 {
		notes[fmt.Sprintf("%02d.md", i)] = fmt.Sprintf("---\ntags: [t%02d]\n---\n# N\n\nA walrus.\n", i)
	}
	s := served(t, notes)
	seen := func(n int) chromedp.Action {
		return until(fmt.Sprintf(`$$("aside details [data-narrow^='tag:']").filter((e) => e.checkVisibility()).length === `+
			`%d && `,
			n) + shown)
	}
	step(t, ctx, "eight", visit(s, "/?q=walrus"), seen(8), until(`$("[data-rest=tag]").textContent === "3 more"`))
	step(t, ctx, "all", focusOn("[data-rest=tag]"), press(kb.Enter), seen(11),
		until(`document.activeElement.dataset.narrow === "tag:t08"`))
	step(t, ctx, "chosen", press(kb.Enter), seen(1), click("aside [aria-pressed=true]"), seen(11))
}

// TestPageBack checks that going back restores the query in the focused search box. A reload
// restores the scroll position, and every view has its own title.
func TestPageBack(t *testing.T) {
	ctx, s := browsed(t)
	step(t, ctx, "another query", visit(s, "/?view=document&id=git.md&q=undo"), until(shown), focusOn("#query"),
		typeIn("#query", "s"), until(`location.search === "?q=undos" && shown()`), chromedp.NavigateBack(),
		until(`document.body.dataset.view === "document" && $("#query").value === "undo" && document.activeElement.id === `+
			`"query" && shown()`))
	for _, address := range []string{"/?q=commit", "/?view=document&id=git.md%23undo-a-commit"} {
		step(t, ctx, "loaded again, "+address, chromedp.EmulateViewport(600, 300), visit(s, address),
			until(`$("main a") && shown()`), do(`scrollTo(0, 120)`), until(`scrollY === 120`), chromedp.Reload(),
			until(`$("main a") && shown()`), until(`scrollY === 120`))
	}
	for address, want := range map[string]string{"/": "Search – Sheaf", "/?q=commit": "commit – Sheaf",
		"/?view=lab&q=commit": "commit – Lab – Sheaf", "/?view=lab": "Lab – Sheaf", "/?view=status": "Status – Sheaf",
		"/?view=document&id=git.md": "Git – Sheaf"} {
		step(t, ctx, address, visit(s, address), until(shown), until(`document.title === "`+want+`"`))
	}
}

// TestPageRepeatsFailedRequest checks that the page repeats a failed request and then removes its note. The status
// view updates search times and index changes without a user action.
func TestPageRepeatsFailedRequest(t *testing.T) {
	ctx := browser(t)
	s, f := start(t)
	step(t, ctx, "similar", visit(s, "/?view=document&id=git.md"), until(shown),
		do(`window.real = window.fetch; window.fetch = () => Promise.reject(new TypeError("down"))`), click(".facts button"),
		until(`$("#notes").textContent.includes("asks again")`), do(`window.fetch = window.real`),
		until(`$(".facts h2") && $("#notes").textContent === ""`))
	step(t, ctx, "the status", visit(s, "/?view=status"),
		until(`$("#searches")?.textContent === "none since the server started" && shown()`),
		do(`window.table = $("main table"); fetch("/v1/search?query=commit")`), until(`/^1 since the server started: half `+
			`of them within \d/.test($("#searches").textContent) && $("main table") === table`))
	f.Write(t, "new.md", "# New\n\nOne more.\n")
	f.Index(t)
	step(t, ctx, "a new note", until(`$("main table") !== table && $("main").textContent.includes("8,")`))
}

// TestLabCleared checks that clearing the query removes its rankings and judgments, since a mark
// would belong to no query. A mark made in another window appears here.
func TestLabCleared(t *testing.T) {
	ctx, s := browsed(t)
	step(t, ctx, "two rankings", visit(s, "/?view=lab&q=commit&compare=rrf"),
		until(`$$("svg.lab").length === 2 && $(".judge li") && shown()`))
	other := tab(t, ctx)
	step(t, other, "a mark elsewhere", visit(s, "/?view=lab&q=commit"), until(`$(".judge li") && shown()`),
		click(".judge ol button"), until(`$(".judge table")`))
	step(t, ctx, "is seen here", until(`$(".judge ol [aria-pressed=true]") && $(".judge `+
		`table")?.textContent.includes("commit1.000")`))
	step(t, ctx, "no query", retype(""), until(`location.search === "?view=lab&compare=rrf" && shown()`),
		until(`$(".empty") && !$("svg.lab, .judge li, .arithmetic *") && $("#count").textContent === ""`))
	step(t, ctx, "another one", typeIn("#query", "stash"), until(`$$("svg.lab").length === 2 && $(".judge li")`))
}

// TestPageIndexing checks that the status view shows indexing progress, and removes it when indexing ends.
func TestPageIndexing(t *testing.T) {
	ctx := browser(t)
	begun, on := make(chan struct{}), make(chan struct{})
	f := collectiontest.Unindexed(t, notes, func(o *collection.Options) {
		o.Ingest.Progress = func(p ingest.Progress) {
			if p.AllFiles > 0 && p.Files == 0 && begun != nil {
				close(begun)
				begun = nil
				<-on
			}
		}
	})
	goOn := sync.OnceFunc(func() { close(on) })
	t.Cleanup(goOn)
	s := serving(t, f)
	waits, ended := begun, make(chan error, 1)
	go func() {
		_, err := f.Refresh(context.Background())
		ended <- err
	}()
	<-waits
	step(t, ctx, "while it runs", visit(s, "/?view=status"),
		until(`$("#doing")?.textContent.startsWith("0 of 7 new and changed files, 0") && shown()`), shoot("indexing"))
	goOn()
	must.Do(t, <-ended)
	step(t, ctx, "when it has ended", until(`!$("#doing") && $("main").textContent.includes("documents7,")`))
}

// TestPageWithoutLocalStorage checks that the page works in a browser that forbids local storage.
func TestPageWithoutLocalStorage(t *testing.T) {
	ctx, s := browsed(t)
	step(t, ctx, "nothing is kept", chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(`for (const name of ["localStorage", "sessionStorage"]) ` +
			`Object.defineProperty(window, name, {get() { throw new DOMException("it is forbidden", "SecurityError"); }})`).Do(
			ctx)
		return err
	}))
	step(t, ctx, "results", visit(s, "/?q=undo+commit"), until(`$("#result-0") && shown()`), click("#theme"))
	step(t, ctx, "the lab", visit(s, "/?view=lab&q=undo+commit"), until(`$(".judge li") && shown()`),
		click(".judge ol button"), until(`$(".judge table")?.textContent.includes("undo commit1.000")`))
}
