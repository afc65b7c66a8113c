// The page: which view is shown, the search box, the keys. State lives in the URL.

import { address, askKey, editorPattern, Fault, givenKey, kept, make, passing, session, telling } from "./api.js";
import * as search from "./search.js";

const views = { search };
// The other views come when they are first shown.
const others = ["document", "lab", "status"];
let elsewhere = ""; // Firefox never asks again for a module that did not come: it has another address then
const main = document.getElementById("main");
const input = document.getElementById("query");
let current = null;
let running = null;
let counted = null; // what was asked for and has said how much it found
let readdressing; // when the address is changed that could not be
let missing = null; // what was asked for and is not there
let entering = null; // what is asked for when Enter was pressed before it was there

/** What the URL says. */
export function state() {
  return Object.fromEntries(new URLSearchParams(location.search));
}

/** Goes to another state, as a new entry of the history or in place of this one. */
function go(url, replace) {
  clearTimeout(readdressing);
  try {
    if (!replace) history.replaceState({ ...history.state, y: scrollY }, ""); // where one comes back to
    const inside = replace ? history.state?.inside : true; // something of this page was before
    history[replace ? "replaceState" : "pushState"]({ inside }, "", url);
  } catch { // Safari lets a hundred changes through in half a minute: quick letters and a drag make more
    readdressing = setTimeout(go, 1000, url, replace);
    return;
  }
  return show();
}

/** Shows the keys from the top: what has the focus is the button at the end. */
function showKeys() {
  const dialog = document.getElementById("keys");
  dialog.showModal();
  dialog.scrollTop = 0;
}

const page = {
  go,
  state,
  /** Changes the address of what is shown already. */
  address(url) {
    clearTimeout(readdressing);
    try {
      history.replaceState({ inside: history.state?.inside }, "", url);
      lead(state());
    } catch { // as in go
      readdressing = setTimeout(page.address, 1000, url);
    }
  },
  /** Says how many results there are, and what can be done about it. */
  count(text, more) {
    counted = running.signal;
    document.getElementById("count").replaceChildren(text, ...(more || []));
  },
  /** Shows notes and faults above the view. */
  notes(list) {
    const box = document.getElementById("notes");
    if ([...box.children].map((p) => p.textContent).join("\n") !== list.join("\n")) box.replaceChildren(...list.map((n) => make("p", {}, n))); // else it would be read out again
  },
};

const viewOf = (s) => (others.includes(s.view) ? s.view : "search");

/** Has the links to the views take the query along; the one to what is shown keeps all of it. */
function lead(s) {
  const name = viewOf(s);
  for (const link of document.querySelectorAll("nav a[data-view]")) {
    const view = link.dataset.view;
    link.href = view === name ? address(s) : address({ q: s.q, filter: s.filter, profile: s.profile, view: view === "search" ? "" : view });
    if (view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** Shows what the address says; y is how far it was scrolled when it was left. */
async function show(y) {
  const s = state();
  const name = viewOf(s);
  lead(s);
  if (document.activeElement !== input) input.value = s.q || "";
  document.title = [s.q || s.id, { search: s.q ? "" : "Search", lab: "Lab", status: "Status" }[name], "Sheaf"].filter(Boolean).join(" – ");
  document.body.dataset.view = name;
  delete main.dataset.shown;
  clearTimeout(readdressing);
  running?.abort();
  const { signal } = (running = new AbortController());
  const count = document.getElementById("count"), waiting = "Waiting for the server…";
  const slow = setTimeout(() => { // what is shown is not what is asked for
    if (signal.aborted) return;
    main.ariaBusy = "true";
    if (counted !== signal) count.textContent = waiting;
  }, 700);
  try {
    views[name] ??= await import(`./${name}.js${elsewhere}`).catch(() => {
      elsewhere = `?${Date.now()}`;
      throw new Fault(0, { detail: "the server does not answer" });
    });
    if (signal.aborted) return;
    if (current !== name) {
      main.replaceChildren();
      count.textContent = "";
      page.notes([]);
    }
    current = name;
    const shown = location.search;
    await views[name].show(main, s, page, signal, y);
    main.dataset.shown = shown; // for whoever waits until the view is that of the address
    refocus(y);
    if (y !== undefined) scrollTo(0, y);
    if (entering === signal) views[name].enter?.();
  } catch (e) {
    if (e.name === "AbortError" || signal.aborted) return;
    if (!(e instanceof Fault)) console.error(e);
    main.replaceChildren(make("h1", { class: "hidden" }, document.title));
    page.count("");
    if (passing(e)) setTimeout(() => signal.aborted || show(), 1000);
    if (e.status === 404) missing = signal;
    page.notes([telling(e)]);
    refocus();
  } finally {
    clearTimeout(slow);
    if (running.signal === signal) {
      main.ariaBusy = null;
      if (count.textContent === waiting) page.count("");
    }
  }
}

/** What had the focus may be gone: the keyboard goes on at the chosen result, or where the view begins. */
function refocus(y) {
  if (![document.body, main].includes(document.activeElement)) return;
  const chosen = main.querySelector("li.selected h2 a");
  if (chosen) chosen.focus({ preventScroll: y !== undefined });
  else main.focus({ preventScroll: true });
}

/** Opens what is chosen, of what is asked for: where that is not there yet, when it is. */
function enter() {
  if (main.dataset.shown === undefined) entering = running.signal;
  else views[current].enter?.();
}

// Every letter asks at once: an answer comes before the next letter, and a
// request that is overtaken ends.
input.addEventListener("input", () => {
  const s = state();
  const target = s.view === "lab" ? s : { filter: s.filter, profile: s.profile };
  go(address({ ...target, q: input.value }), current === "search" || current === "lab");
});
document.getElementById("search").addEventListener("submit", (e) => {
  e.preventDefault();
  enter();
});

// Links inside the page change the view without loading it again.
document.addEventListener("click", (e) => {
  const link = e.target.closest?.("a[href]");
  if (!link || e.defaultPrevented || e.button || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey || link.target) return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || url.pathname !== location.pathname || url.hash) return;
  e.preventDefault();
  go(url.pathname + url.search);
  if (!link.closest(".outline ul")) window.scrollTo(0, 0);
});
window.addEventListener("popstate", (e) => {
  input.value = state().q || ""; // also while one types in it
  show(e.state?.y);
});

// Who comes back, as from an editor, sees what was saved meanwhile. The click that brought them goes first.
let returning;
const returned = () => {
  clearTimeout(returning);
  returning = setTimeout(async () => {
    const { signal } = running;
    if (document.hidden || document.querySelector("dialog[open]")) return;
    if (missing === signal) return show(); // it may be there now
    if (main.dataset.shown === undefined) return;
    const changed = await views[current].changed?.(signal).catch(() => false); // what fails is told when it is asked for
    if (!changed || signal.aborted) return;
    const held = document.activeElement;
    await show(scrollY);
    if (held.isConnected && main.contains(document.activeElement)) held.focus({ preventScroll: true }); // a passage takes the focus from a search box
  }, 300);
};
addEventListener("focus", returned);
document.addEventListener("visibilitychange", returned);

document.addEventListener("keydown", (e) => {
  const composing = e.isComposing || e.keyCode === 229; // in Safari the key that ends a composition comes behind its end
  if (e.metaKey || e.ctrlKey || e.altKey || composing || document.querySelector("dialog[open]")) return;
  // For a moment after a dialog closed, keys still go to what had the focus in it.
  const target = e.target.closest("dialog") ? document.body : e.target;
  const inField = /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
  if (e.key === "Escape") {
    e.preventDefault(); // else a search box empties itself
    if (inField) target.blur();
    else if (current !== "search") history.state?.inside ? history.back() : go(document.querySelector("nav a[data-view=search]").getAttribute("href"));
    return;
  }
  const steps = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 };
  if (e.key in steps && views[current].move && (!inField || (target === input && e.key.startsWith("Arrow")))) {
    e.preventDefault();
    views[current].move(steps[e.key], e.key.startsWith("Arrow"));
    return;
  }
  if (e.key === "?" && (!inField || (target === input && !input.value))) { // no query begins so
    e.preventDefault();
    showKeys();
    return;
  }
  if (inField) return;
  if (e.key === "/") {
    e.preventDefault();
    input.focus();
    input.select();
  } else if (e.key === "l" && (state().q || state().filter)) {
    go(document.querySelector("nav a[data-view=lab]").getAttribute("href"));
  } else if (e.key === "Enter" && !/^(A|BUTTON|SUMMARY)$/.test(target.tagName)) {
    enter();
  } else {
    views[current].key?.(e.key);
  }
});

document.getElementById("help").addEventListener("click", showKeys);
const another = document.getElementById("another");
another.hidden = !givenKey();
another.addEventListener("click", async () => {
  const had = givenKey();
  if ((await askKey()) || had !== givenKey()) show();
});
const editor = document.getElementById("editor");
editor.addEventListener("change", () => {
  kept.setItem("sheaf-editor", editor.value);
  editor.value = editorPattern(); // that of nothing is the usual one
  show(scrollY); // with its links
});

const root = document.documentElement;
/** Takes on what was chosen, here or in another window of the browser. */
function dress() {
  const theme = kept.getItem("sheaf-theme");
  if (theme) root.dataset.theme = theme;
  editor.value = editorPattern();
}
dress();
addEventListener("storage", (e) => {
  dress();
  if (e.key === "sheaf-editor") show(scrollY);
});
document.getElementById("theme").addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  kept.setItem("sheaf-theme", root.dataset.theme);
});

// Who loads the page again, or comes back to it from another site, finds the place.
addEventListener("pagehide", () => session.setItem("sheaf-place", JSON.stringify([location.href, scrollY])));
const [left, place] = JSON.parse(session.getItem("sheaf-place") || "[]");
show(left === location.href && performance.getEntriesByType("navigation")[0]?.type !== "navigate" ? place : undefined);
if (!state().view) input.focus();
