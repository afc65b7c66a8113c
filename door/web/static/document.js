// A document with its heading tree; the passage that was found is marked.

import { address, contained, direction, documentAddress, editorAddress, get, listed, make, number, passing, post, size, telling, trail, unspaced } from "./api.js";
import { markOf } from "./search.js";

let file = null;
let asked = {}, drawn = "";

/** What of a document lasts: which words are marked depends on all that is indexed. */
const lasting = (doc) => ({ ...doc, words: undefined });

/** Whether the document is another one than is shown, or is gone. */
export const changed = (signal) => get("/ui/document", asked, signal, true).then((doc) => JSON.stringify(lasting(doc)) !== drawn, (e) => {
  if (e.status === 404) return true;
  throw e;
});

let laid = {}; // what is laid out: of which document and question, its text, outline, and the entries of this

export async function show(main, s, page, signal) {
  const wanted = (asked = { id: s.id, collection: s.collection, query: s.q });
  let lost = "";
  const doc = await get("/ui/document", wanted, signal).catch((e) => {
    const at = s.id?.lastIndexOf("#");
    if (e.status !== 404 || !(at > 0)) throw e;
    // Its heading was changed, or its name is an old one: what it stood in is there.
    lost = `There is no section "${contained(s.id.slice(at + 1))}" here now: this is the whole document.`;
    wanted.id = s.id.slice(0, at);
    return get("/ui/document", wanted, signal).catch((second) => { throw second.status === 404 ? e : second; });
  });
  drawn = JSON.stringify(lasting(doc));
  file = doc.file && editorAddress(doc.file, doc.line);
  page.count("");
  const warnings = [...(lost ? [lost] : []), ...doc.warnings.map((w) => `line ${w.line || 1}: ${w.message}`)];
  const notes = doc.intricate ? ["What is nested or marked here is too much to lay out: this is the text as it is written.", ...warnings] : warnings;
  page.notes(notes);
  document.title = `${doc.title} – Sheaf`;
  // On the way to another section of it a document stays as it is, with what is unfolded beside it.
  const of = JSON.stringify([{ ...lasting(doc), line: 0, chunk: "" }, s.q, s.filter, s.profile]);
  const same = laid.of === of && main.contains(laid.text);
  if (!same) laid = { of, ...lay(main, doc, s, (fault) => page.notes(fault ? [fault, ...notes] : notes)) };
  laid.signal = signal;
  const { text, outline, entries } = laid;
  if (file) outline.querySelector("[data-editor]").setAttribute("href", file);
  for (const e of text.querySelectorAll(".hit")) e.classList.remove("hit");
  const hit = doc.chunk !== doc.id && [...text.querySelectorAll("[data-id]")].find((e) => e.dataset.id === doc.chunk);
  if (hit) highlight(hit);
  markWords(text, doc.words ?? [], same);
  const at = hit || (!same && text.querySelector("mark"));
  if (at) at.scrollIntoView({ block: hit ? "start" : "center" });
  else scrollTo(0, 0);
  follow(text, outline, entries, hit, signal);
}

/** Lays a document out. */
function lay(main, doc, s, note) {
  const text = make("article", { class: "text", "aria-label": doc.title });
  if (doc.text !== undefined) text.append(make("pre", {}, doc.text));
  else text.innerHTML = doc.html; // made by the server, with all HTML of the note as text
  for (const dead of text.querySelectorAll('a[href="#"]')) { // what it names is not here
    dead.removeAttribute("href");
    dead.title = "It leads to nothing here.";
  }
  for (const box of text.querySelectorAll("li input")) box.ariaLabel = box.checked ? "done" : "to do";
  // A note without a heading of the first level is shown under its title.
  if (!text.querySelector("h1")) text.prepend(make("h1", { class: doc.text !== undefined && "hidden" }, doc.title)); // text as it is written is heard with one
  const kinds = callouts(text);
  const leftward = direction(text.textContent) !== null;
  text.classList.toggle("leftward", leftward);
  if (leftward) for (const e of text.querySelectorAll("h1, h2, h3, h4, h5, h6, p, ul, ol, li, blockquote, table, th, td")) {
    const own = prose(e);
    e.dir = direction(own) ?? (/\S/.test(own) && !e.matches("ul, ol, li, blockquote, table") ? "ltr" : e.dir); // else it would run as what it stands in does
  }
  for (const [title, kind] of kinds) { // a word of Markdown, which decides no direction
    title.dir ||= title.parentElement.dir;
    title.prepend(make("b", {}, kind), " ");
  }
  // A footnote is elsewhere in what is shown already: the address stays.
  text.addEventListener("click", (e) => {
    const to = e.target.closest('a.footnote')?.getAttribute("href").slice(1);
    if (!to) return;
    e.preventDefault();
    const place = [...text.querySelectorAll("[id]")].find((x) => x.id === to);
    place?.scrollIntoView({ block: "center" });
    place?.focus({ preventScroll: true });
  });
  const { top, entries } = tree(doc, s);
  const outline = make("nav", { class: "outline", "aria-label": "Headings", "data-of": doc.id }, facts(doc, note), top, links("Linked from", doc.backlinks, s), links("Links to", doc.links, s));
  const old = main.querySelector(".outline");
  const scrolled = old?.dataset.of === doc.id ? old.scrollTop : 0; // who goes by the outline finds it as it was
  main.replaceChildren(make("div", { class: "document" }, outline, text));
  outline.scrollTop = scrolled;
  for (const wide of text.querySelectorAll("pre, table")) if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0; // the arrows move it
  return { text, outline, entries };
}

/** The text of an element without the code in it. */
function prose(e) {
  const copy = e.cloneNode(true);
  for (const code of copy.querySelectorAll("code")) code.remove();
  return copy.textContent;
}

/** Has callouts, which begin with [!kind] and a title, show the title in a line of its own. Those lines, each with its kind. */
function callouts(text) {
  const kinds = [];
  for (const p of text.querySelectorAll("blockquote > p:first-child")) {
    const kind = p.firstChild instanceof Text && /^\[!([\p{L}\p{N} _-]+)\][+-]?[ \t]*/u.exec(p.firstChild.data);
    if (!kind) continue;
    p.firstChild.deleteData(0, kind[0].length);
    const title = make("p", { class: "callout" });
    kinds.push([title, kind[1]]);
    for (let next; (next = p.firstChild); title.append(next)) {
      const end = next instanceof Text ? next.data.indexOf("\n") : -1;
      if (end < 0) continue;
      title.append(next.data.slice(0, end));
      next.deleteData(0, end + 1);
      break;
    }
    p.before(title);
    if (!p.hasChildNodes()) p.remove();
  }
  return kinds;
}

/**
 * Marks the entry of the outline whose section is in view, and keeps it in sight. Nothing
 * but the outline moves, at once and without the focus, and the address stays.
 */
function follow(text, outline, entries, hit, signal) {
  const headings = [...text.querySelectorAll("[data-id]")].filter((e) => entries.has(e.dataset.id));
  if (!entries.size) return;
  const first = entries.values().next().value;
  let marked = outline.querySelector("[aria-current]");
  const mark = (entry) => {
    if (entry === marked) return;
    marked?.removeAttribute("aria-current");
    marked = entry;
    entry.setAttribute("aria-current", "true");
    const at = entry.getBoundingClientRect(), box = outline.getBoundingClientRect(), room = 48;
    const below = entry === first ? 0 : at.bottom + room - box.bottom; // what the document is stands above the first
    outline.scrollTop += Math.max(0, below) || Math.min(0, at.top - room - box.top);
  };
  const look = () => {
    // What is read is near the top; towards the end of the page the line goes down, so that the last sections are met.
    const top = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop);
    const longest = document.documentElement.scrollHeight - innerHeight, left = longest - scrollY;
    const line = top + (innerHeight - top) * (longest > 0 ? 1 - 0.8 * Math.min(1, Math.max(0, left) / Math.min(longest, innerHeight)) : 0);
    let from = 0, to = headings.length; // the first heading below the line
    while (from < to) {
      const mid = (from + to) >> 1;
      if (headings[mid].getBoundingClientRect().top > line) to = mid;
      else from = mid + 1;
    }
    mark(from ? entries.get(headings[from - 1].dataset.id) : first);
  };
  // The section of the address stays marked where it was shown, even if the end of the page keeps it from the top.
  const asked = hit && entries.get(hit.dataset.id), place = scrollY;
  if (asked) mark(asked);
  else look();
  let waiting = 0;
  const later = () => (waiting ||= requestAnimationFrame(() => {
    waiting = 0;
    if (signal.aborted) return;
    if (asked && scrollY === place) mark(asked);
    else look();
  }));
  addEventListener("scroll", later, { passive: true, signal });
  addEventListener("resize", later, { signal });
}

function facts(doc, note) {
  const rows = [["file", doc.path], ["size", size(doc.bytes)]];
  if (doc.date) rows.push(["date", doc.date.slice(0, 10)]);
  const names = (list) => listed(list.map(String), ", ");
  if (doc.tags.length) rows.push(["tags", first(doc.tags, (tags) => tags.flatMap((t) => [make("bdi", {}, make("a", { href: address({ filter: markOf("tag", t) }) }, "#" + contained(t))), " "]), "")]);
  if (doc.aliases.length) rows.push(["also", first(doc.aliases, names, ", ")]);
  for (const [name, values] of Object.entries(doc.properties)) if (!["title", "tags", "aliases", "date"].includes(name)) rows.push([name, first(values, names, ", ")]);
  return make("div", { class: "facts" },
    make("dl", {}, ...rows.flatMap(([k, v]) => [make("dt", {}, k), make("dd", {}, ...[v].flat())])),
    file && make("a", { href: file, "data-editor": "" }, "open in editor"), " ",
    make("button", { type: "button", onclick: (e) => similar(doc, e.currentTarget, note) }, "similar"));
}

/** Values as show makes them; of many the first, so that the headings stay in sight, and a button that shows the others. */
function first(values, show, between) {
  const few = 12;
  if (values.length <= few) return show(values);
  const rest = make("span", { hidden: true, tabindex: -1 }, between, ...show(values.slice(few)));
  return [...show(values.slice(0, few)), rest, " ", make("button", { type: "button", class: "chip", onclick: (e) => {
    rest.hidden = false;
    e.target.remove();
    (rest.querySelector("a") ?? rest).focus();
  } }, `${number(values.length - few)} more`)];
}

async function similar(doc, button, note) {
  const { signal } = laid;
  let found;
  try {
    found = await post("/v1/similar", { id: doc.id, limit: 8 }, signal);
  } catch (fault) {
    if (fault.name === "AbortError" || signal.aborted || !button.isConnected) return;
    note(telling(fault));
    if (passing(fault)) setTimeout(similar, 1000, doc, button, note);
    return;
  }
  if (!button.isConnected) return; // another press was answered before
  note("");
  const list = make("div", { tabindex: "-1" }, make("h2", {}, "Similar"), make("ul", {}, ...found.results.map((r) => make("li", {}, make("a", { href: documentAddress(r.id) }, ...trail(r.hierarchy))))));
  const held = document.activeElement === button;
  button.replaceWith(list);
  if (held) list.focus();
}

/** The headings, nested by depth, and the link of each by its identifier. */
function tree(doc, s) {
  const top = make("ul", {}), entries = new Map();
  const open = [{ depth: 0, list: top }];
  const [first, second] = doc.outline;
  for (const c of doc.outline) {
    if (c === first && second?.title === (c.title || doc.title)) continue; // a document that begins with its title
    const link = make("a", { href: documentAddress(c.id, s) }, c.title || doc.title);
    entries.set(c.id, link);
    const item = make("li", {}, link);
    while (open.length > 1 && open.at(-1).depth >= c.depth) open.pop();
    open.at(-1).list.append(item);
    if (c.depth) {
      const list = make("ul", {});
      item.append(list);
      open.push({ depth: c.depth, list });
    }
  }
  for (const none of top.querySelectorAll("ul:empty")) none.remove();
  return { top, entries };
}

function links(title, ids, s) {
  if (!ids.length) return null;
  return make("details", {}, make("summary", {}, `${title} (${ids.length})`),
    make("ul", {}, ...ids.map((id) => make("li", {}, make("a", { href: documentAddress(id, s) }, id.slice(id.indexOf(":") + 1))))));
}

/** Marks the heading and what follows it, up to the next one of its depth. */
function highlight(heading) {
  const depth = Number(heading.tagName[1]);
  for (let e = heading; e; e = e.nextElementSibling) {
    if (e !== heading && /^H[1-6]$/.test(e.tagName) && Number(e.tagName[1]) <= depth) break;
    e.classList.add("hit");
  }
  heading.focus({ preventScroll: true });
}

const inHit = (node) => node.parentElement.closest(".hit") !== null;

/** Letters of words that spaces end. */
const letter = `(?!${unspaced.source}|\\p{sc=Hangul})[\\p{L}\\p{N}\\p{M}]`;

/** Marks words, each in parts of which every second one is marked; again where it was done before, and another passage is shown now. */
function markWords(text, words, again) {
  if (!words.length) return;
  const parts = new Map(words.map((p) => [p.join(""), p]));
  const begins = new RegExp(`^${letter}`, "u"), any = (all) => all.map((w) => w.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|") || "(?!)";
  const longest = [...parts.keys()].sort((a, b) => b.length - a.length), [whole, inside] = [longest.filter((w) => begins.test(w)), longest.filter((w) => !begins.test(w))];
  const pattern = new RegExp(`(?<!${letter})(?:${any(whole)})(?!${letter})|${any(inside)}`, "gu");
  const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) if (!walker.currentNode.parentElement.closest("mark")) nodes.push(walker.currentNode);
  // A long note has more than are marked: those of the passage that was found are among them.
  const [near, far] = [nodes.filter(inHit), nodes.filter((n) => !inHit(n))];
  let left = 2000;
  for (const node of again ? near : [...near, ...far]) {
    if (!left) break;
    const found = [...node.data.matchAll(pattern)].slice(0, left);
    if (!found.length) continue;
    left -= found.length;
    const out = [];
    let at = 0;
    for (const { 0: word, index } of found) {
      out.push(node.data.slice(at, index), ...parts.get(word).map((part, i) => (i % 2 ? make("mark", {}, part) : part)));
      at = index + word.length;
    }
    out.push(node.data.slice(at));
    node.replaceWith(...out);
  }
}

export function key(name) {
  if (name === "e" && file) location.href = file;
}
