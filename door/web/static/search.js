// Results while one types, with facets.

import { address, apart, arithmetic, breaking, direction, documentAddress, editorAddress, Fault, get, givenKey, make, marked, number, passage, passing, score, telling, unspaced } from "./api.js";

let selected = -1;
let answer = null;
let last = {};
let page = null;

export async function show(main, s, thePage, signal, y) {
  page = thePage;
  if (!s.q && !s.filter) {
    answer = null;
    main.replaceChildren(make("h1", { class: "hidden" }, "Search"), make("p", { class: "empty" }, "Type to search. ", make("kbd", {}, "?"), " shows the keys and the query language."));
    page.count("");
    page.notes([]);
    return;
  }
  const began = performance.now(), key = givenKey();
  const limit = shownOf(s);
  let found;
  try {
    found = await get("/v1/search", { ...asked(s), facets: "tag,folder,ext", limit }, signal);
  } catch (e) {
    if (!(e instanceof Fault) || passing(e) || !(s.profile || s.filter)) throw e;
    // What the address asks for may be why: it can be taken away.
    answer = null;
    page.count("");
    page.notes([]);
    main.replaceChildren(make("h1", { class: "hidden" }, "Results"), make("div", { class: "columns" }, make("p", { class: "empty", role: "alert" }, e.message), facets({}, s)));
    return;
  }
  const same = last.q === s.q && last.filter === s.filter && last.profile === s.profile;
  answer = found;
  last = s;
  if (!same) selected = -1;
  const took = givenKey() === key ? ` in ${(performance.now() - began).toFixed(0)} ms` : ""; // else somebody typed it
  const count = `${number(found.total.value)}${found.total.relation === "gte" ? " or more results" : found.total.value === 1 ? " result" : " results"}${took}`;
  page.count(count);
  page.notes(told(found));
  const lines = found.results.map((r, i) => line(r, i, s));
  const now = y || scrollY || selected >= early ? lines.length : early;
  const list = make("ol", { class: "results", id: "results", "aria-label": "Results" }, ...lines.slice(0, now));
  const unlikely = found.answerable === false && found.results.length > 0;
  const column = make("div", {}, unlikely && make("p", { class: "unlikely" }, "nothing here is likely to answer this"), list);
  if (!found.results.length) column.append(make("p", { class: "empty" }, await nothing(s, signal)));
  const filled = found.results.length >= limit;
  if (found.total.relation === "gte") column.append(limit < most ? more(filled ? limit + step : most, s)
    : make("p", { class: "empty" }, filled ? `No more than ${most} are shown: more words, a tag or a folder narrow them.` : found.degraded ? "There may be more: not all was searched." : "This profile keeps no more: other words, a tag or a folder may find others."));
  const held = main.contains(document.activeElement) && document.activeElement.dataset.narrow;
  main.replaceChildren(make("h1", { class: "hidden" }, "Results"), make("div", { class: "columns" }, column, facets(found.facets || {}, s)));
  if (held) main.querySelector(`[data-narrow="${CSS.escape(held)}"]`)?.focus({ preventScroll: true }); // the keyboard goes on where it was
  select(selected, false);
  if (now < lines.length) requestAnimationFrame(() => setTimeout(() => list.append(...lines.slice(now)))); // behind the frame of the others
  const open = new Set(opened(s));
  if (found.results.length) later(() => nowhere(list, count, s, signal), signal);
  await Promise.all(found.results.map((r, i) => open.has(r.rank) && why(lines[i], r, s, signal)));
}

/** What is said above the results. */
const told = (found) => [...found.warnings, ...found.notes];

/** Whether the index is another one than that which answered. */
export const changed = async (signal) => answer !== null && (await get("/v1/search", { ...asked(last), limit: 1 }, signal, true)).generation !== answer.generation;

/** What the address asks the server for. A filter is a query, too. */
const asked = (s) => ({ query: s.q || s.filter, filter: s.q && s.filter, profile: s.profile });

/** How many results the address shows. A ranking is made for that many, so their number is a part of what is asked. */
const step = 20, most = 100;
const shownOf = (s) => Math.min(most, Math.max(step, Math.trunc(Number(s.n)) || step));

/** How many results, who is at the top of them, sees at once: laying out the others would make half of a letter's time. */
const early = 8;

/** The ranks of the results whose arithmetic the address shows. */
const opened = (s) => (s.why || "").split(",").map(Number).filter(Boolean);

async function nothing(s, signal) {
  const status = await get("/v1/status", {}, signal);
  if (!status.documents) return make("span", {}, givenKey() ? "Nothing that this key may see is indexed. The " : "Nothing is indexed yet. The ", make("a", { href: address({ view: "status" }) }, "status"), " tells what waits and what is left out.");
  const q = alike(s.q);
  if (q && (await finds({ ...s, q }, signal))) return make("span", {}, "Nothing found. There are words that are spelt alike: ", make("a", { href: address({ ...s, q, why: "", n: "" }) }, q));
  if (s.q && s.filter && (await finds({ ...s, filter: "" }, signal))) return make("span", {}, "Nothing found. Without ", apart(s.filter), " ", make("a", { href: address({ q: s.q, profile: s.profile }) }, "there is"), ".");
  return "Nothing found. Fewer or other words may help.";
}

/** Words of a query that may be misspelt, and not between the brackets of a property. */
const doubtful = /(?<!\S)[\p{L}\p{M}]{4,}(?!\S)(?![^[\]]*\])/gu;
/** A query that finds words that are spelt alike, too; only those of which, if any are named; "" when there are none. */
function alike(q = "", which = null) {
  const other = q.includes('"') ? q : q.replace(doubtful, (word) => (!which || which.includes(word) ? `${word}~` : word));
  return other === q ? "" : other.trim();
}
const finds = (s, signal) => get("/v1/search", { ...asked(s), limit: 1 }, signal, true).then((found) => found.results.length > 0, (e) => { if (!(e instanceof Fault)) throw e; }); // not every store knows them

/** Does something when no letter came for a moment. */
const later = (what, signal) => setTimeout(() => signal.aborted || what().catch((e) => { if (e.name !== "AbortError") throw e; }), 500);

/** Says which words of the query stand nowhere, though others are found, and what is spelt like them. */
async function nowhere(list, count, s, signal) {
  const found = [...list.querySelectorAll("mark")].map((m) => m.textContent.toLowerCase());
  const unseen = [...new Set(s.q?.includes('"') ? [] : s.q?.match(doubtful))].filter((w) => !unspaced.test(w) && !found.some((m) => m.includes(w.toLowerCase().slice(0, 4)))).slice(0, 3);
  const none = [];
  for (const word of unseen) {
    const there = (q) => finds({ q, profile: "tree" }, signal); // which asks no model
    if ((await there(`+${word}`)) === false && (await there(`+${word}*`)) === false) none.push(word); // one may be half typed
  }
  if (!none.length) return;
  const q = alike(s.q, none), there = await finds({ ...s, q: `+${none[0]}~` }, signal);
  page.count(`${count}; nothing has ${none.map((w) => `"${w}"`).join(", ")}`, there && [": ", make("a", { href: address({ ...s, q, why: "", n: "" }) }, q), "?"]);
}

function line(r, i, s) {
  const above = r.hierarchy.slice(0, -1).flatMap((name) => [apart(name), " › "]);
  const item = make("li", { class: "result", id: `result-${i}` },
    make("h2", {},
      make("a", { href: documentAddress(passage(r), s) }, above.length > 0 && make("span", { class: "above" }, ...above), r.hierarchy.at(-1) || r.title || r.path)), // in files the title is that of the document
    make("p", { class: "snippet", dir: direction(r.snippet) }, ...marked(r.snippet, r.matches)),
    make("div", { class: "place" },
      make("span", {}, make("bdi", { dir: "ltr" }, r.path), `:${r.line}`),
      r.date && make("time", { datetime: r.date }, r.date.slice(0, 10)),
      ...r.tags.slice(0, 6).map((t) => make("button", { type: "button", class: "chip", onclick: () => narrow(markOf("tag", t), s) }, "#" + t)),
      r.file && make("a", { href: editorAddress(r.file, r.line), "data-editor": "" }, "open in editor"),
      r.confidence_level === "high" && make("span", { class: "sure", title: "this very likely answers the query" }, "confidence: high"),
      make("button", { type: "button", class: "chip score", "aria-expanded": "false", title: "Why does it stand here?", onclick: () => toggle(item, r) }, score(r.score))));
  item.addEventListener("mousedown", () => select(i, false));
  return item;
}

/** Shows the arithmetic of a result or takes it away, here and in the address. */
function toggle(item, r) {
  const s = page.state(), open = item.querySelector(".why");
  const ranks = opened(s).filter((n) => n !== r.rank);
  page.address(address({ ...s, why: (open ? ranks : [...ranks, r.rank]).join(",") }));
  if (!open) return why(item, r, s);
  open.remove();
  item.querySelector("button.score").setAttribute("aria-expanded", "false");
}

async function why(item, r, s, signal) {
  try {
    const explained = await get("/v1/search", { ...asked(s), limit: shownOf(s), explain: true }, signal);
    if (item.querySelector(".why")) return; // another click was answered before
    const found = explained.results.find((x) => x.id === r.id);
    if (found?.explanation) item.append(arithmetic(found.explanation, null, found.summary));
    item.querySelector("button.score").setAttribute("aria-expanded", "true");
    page.notes(told(answer)); // in place of a fault that is over
  } catch (e) {
    if (e.name === "AbortError" || !item.isConnected) return;
    page.notes([telling(e)]);
    clearTimeout(item.again); // of a click before
    if (passing(e)) item.again = setTimeout(() => item.isConnected && opened(page.state()).includes(r.rank) && why(item, r, s, signal), 1000);
  }
}

/** Asks for so many results; the keyboard goes on at the first new one. Where a profile keeps fewer than it was asked for, all that it may tell at once whether there are any. */
const more = (n, s) => make("button", { type: "button", class: "more", onclick: () => {
  selected = answer.results.length;
  page.go(address({ ...s, n }));
} }, "More");

/** Signs that filters cannot write in a value. */
const unwritten = /["“”„«*].*$/s;
/** A value as filters have it. Of one with such a sign, what begins so up to there is let through. */
const quoted = (v) => {
  const begin = v.replace(unwritten, "*");
  return /[\s(),]/.test(begin) ? `"${begin}"` : begin;
};
/** What a filter says to narrow to a value. */
export const markOf = (kind, value) => (kind === "folder" ? `path:${quoted(value + "/")}` : `${kind}:${quoted(value)}`);
const narrowedTo = (s) => (s.filter ? s.filter.split(/ (?=[a-z]+:(?:[^"]*"[^"]*")*[^"]*$)/) : []); // not within quotation marks

/** Narrows the results to what a mark says, or no longer. */
function narrow(mark, s) {
  const parts = narrowedTo(s), others = parts.filter((p) => p !== mark);
  page.go(address({ q: s.q, filter: (others.length < parts.length ? others : [...parts, mark]).join(" "), profile: s.profile }));
}

/** The kinds of facets that were unfolded or folded by hand. */
const unfolded = new Map();
/** How many values of a facet are shown at first, and the kinds of which all are. */
const few = 8, whole = new Set();
/** How many values of a facet are counted. */
const counted = 100;
function facets(found, s) {
  const aside = make("aside", { "aria-label": "Narrow" });
  const active = narrowedTo(s);
  const taken = (title, text, go, more) => aside.append(make("h2", {}, title), make("ul", {}, ...text.map((t) => make("li", {},
    make("button", { type: "button", "aria-pressed": "true", title: "take it away", onclick: () => go(t), ...more?.(t) }, apart(t), " ×")))));
  if (s.profile) taken("Ranked by", [s.profile], () => page.go(address({ q: s.q, filter: s.filter })));
  if (active.length) taken("Narrowed to", active, (f) => narrow(f, s), (f) => ({ "data-narrow": f }));
  for (const [kind, title] of [["tag", "Tags"], ["folder", "Folders"], ["ext", "Kinds"]]) {
    const all = (found[kind] || []).filter((v) => v.value && v.value.search(unwritten)); // of nothing but such signs there is no filter
    // A folder that holds nothing but another one of the list narrows to the same.
    const values = kind === "folder" ? all.filter((v) => !all.some((w) => w.count === v.count && w.value.startsWith(v.value + "/"))) : all;
    if (!values.length || (kind === "ext" && values.length < 2)) continue;
    const rest = whole.has(kind) ? [] : values.slice(few);
    const list = make("ul", {}, ...values.map((v) => {
      const mark = markOf(kind, v.value);
      return make("li", { hidden: rest.includes(v) },
        make("button", { type: "button", "data-narrow": mark, "aria-pressed": String(active.includes(mark)), onclick: () => narrow(mark, s) }, ...breaking(v.value)),
        make("span", {}, " " + number(v.count)));
    }));
    if (all.length >= counted) list.append(make("li", { hidden: rest.length > 0 }, make("span", {}, `These are the ${counted} most frequent: `, make("code", {}, `${kind === "folder" ? "path" : kind}:name`), " in the query narrows to others.")));
    if (rest.length) list.append(make("li", {}, make("button", { type: "button", "data-rest": kind, onclick: (e) => {
      whole.add(kind);
      const hidden = [...list.querySelectorAll("li[hidden]")];
      for (const item of hidden) item.hidden = false;
      e.target.parentElement.remove();
      hidden[0].querySelector("button").focus();
    } }, `${number(rest.length)} more`)));
    const details = make("details", { open: unfolded.get(kind) ?? matchMedia("(min-width: 52rem)").matches },
      make("summary", { onclick: () => unfolded.set(kind, !details.open) }, title, " ", make("span", { class: "unit" }, "passages")), list);
    aside.append(details);
  }
  return aside;
}

function select(i, scroll = true) {
  const items = document.querySelectorAll("#results > li");
  selected = items.length ? Math.max(-1, Math.min(i, items.length - 1)) : -1;
  items.forEach((item, k) => {
    item.classList.toggle("selected", k === selected);
    if (k === selected) item.setAttribute("aria-current", "true");
    else item.removeAttribute("aria-current");
  });
  if (scroll && selected >= 0) items[selected].scrollIntoView({ block: "nearest" });
}

/** Chooses the next result and gives it the focus. Above the first one is the search box, for arrows: a letter would be typed there. */
export function move(step, box) {
  select(box ? selected + step : Math.max(0, selected + step));
  if (box || selected >= 0) (document.querySelector("#results > li.selected h2 a") || document.getElementById("query")).focus();
}

export function enter() {
  if (!answer?.results.length) return;
  page.go(documentAddress(passage(answer.results[Math.max(selected, 0)]), last));
  window.scrollTo(0, 0);
}

export function key(name) {
  const item = document.getElementById(`result-${Math.max(selected, 0)}`);
  if (name === "e") item?.querySelector("a[data-editor]")?.click();
  if (name === "x") item?.querySelector("button.score")?.click();
}
