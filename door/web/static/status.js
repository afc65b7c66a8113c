// What is indexed, what waits, what was left out and why.

import { Fault, get, make, number, passing, post, size, telling, text } from "./api.js";

const row = (...cells) => make("tr", {}, ...cells.map((c, i) => make(i ? "td" : "th", i ? {} : { scope: "row" }, c)));
/** The first entries of a long list, and how many more there are. */
const first = (list, entry, rest) => [...list.slice(0, 500).map(entry), ...(list.length > 500 ? [rest(`and ${number(list.length - 500)} more: /v1/status has all of them`)] : [])];
const table = (caption, rows) => make("section", {}, make("h2", {}, caption), make("table", { class: "plain", "aria-label": caption }, make("tbody", {}, ...rows)));

let measuring = false; // whether recall was, when it was last looked at
let drawn = "", timer;

export async function show(main, s, page, signal, again) {
  const silent = (e) => { if (!(e instanceof Fault)) throw e; return e.message; };
  const [st, unwell, metrics] = await Promise.all([get("/v1/status", {}, signal), text("/readyz", signal).then(() => "", silent),
    text("/metrics", signal).catch((e) => { silent(e); return ""; })]); // not everybody may have them
  // The page looks again by itself, and soon while something is under way.
  const look = () => show(main, s, page, signal, true).catch((e) => {
    if (e.name === "AbortError") return;
    page.notes([telling(e)]);
    drawn = ""; // the note goes with the next answer, also where that is as before
    if (passing(e)) later(1000);
  });
  const later = (pause) => { clearTimeout(timer); timer = setTimeout(look, pause); };
  later(unwell || st.indexing || st.pending.length || st.tasks.waiting || st.recall?.measuring ? 1000 : 5000);
  const looked = st.watch ? `${new Date(st.watch.at).toLocaleString()}, in ${st.watch.took_ms.toFixed(0)} ms` : "", searches = speed(metrics), doing = st.indexing ? progress(st.indexing) : "";
  const now = JSON.stringify([{ ...st, indexing: Boolean(doing), watch: { ...st.watch, at: 0, took_ms: 0 } }, unwell]);
  if (again && now === drawn) { // whoever reads is not disturbed
    for (const [id, said] of [["looked", looked], ["searches", searches], ["doing", doing]]) if (document.getElementById(id)) document.getElementById(id).textContent = said;
    return;
  }
  drawn = now;
  page.count(st.recall?.measuring ? "Recall is being measured." : measuring ? "Recall was measured." : "");
  measuring = Boolean(st.recall?.measuring);
  page.notes([unwell, st.watch?.error && `the last look for changes failed: ${st.watch.error}`,
    ...(st.watch?.gone ?? []).map((folder) => `the folder ${folder} is missing, or its disk is not mounted; keeping its indexed documents`)].filter(Boolean));
  const parts = Object.entries(st.bytes).sort((a, b) => b[1] - a[1]);
  const whole = Boolean(st.chunker); // else nothing is indexed yet, or what a key may see is all that is told
  const sections = [
    table("Collection", [
      row("name", st.name),
      ...(whole ? [row("folders", st.trees.map((t) => t.root || t.name).join(", "))] : []),
      row("documents", `${number(st.documents)}, ${number(st.chunks)} chunks${whole ? `, ${size(st.source_bytes)}` : ""}`),
      ...(whole ? [row("index", `${size(parts.reduce((n, p) => n + p[1], 0))}: ${parts.map(([k, v]) => `${k} ${size(v)}`).join(", ")}`),
        row("chunker", st.chunker), row("analyzer", st.analyzer)] : []),
      row("language", st.language || "unknown"),
      row("model", st.model ? `${st.model}${whole ? `, ${st.dims} dimensions, ${number(st.vectors)} vectors` : ""}` : st.chunks ? "none: only words are searched" : "not known before something is indexed"),
      row("generation", String(st.generation)),
      ...(whole || st.tasks.waiting || st.tasks.failed ? [row("tasks", `${st.tasks.waiting} wait, ${st.tasks.failed} failed`)] : []),
      ...(doing ? [row("indexing", make("span", { id: "doing" }, doing))] : []),
      row("state", unwell || "ready, the store answers"),
      ...(metrics ? [row("searches", make("span", { id: "searches" }, searches))] : []),
    ]),
  ];
  if (st.vectors) sections.push(recall(st, look, page));
  if (st.watch) {
    sections.push(table("Freshness", [
      row("last look", make("span", { id: "looked" }, looked)),
      ...(st.watch.changed ? [row("last change", new Date(st.watch.changed).toLocaleString())] : []),
      ...(st.watch.bytes_per_second ? [row("indexing", `${size(st.watch.bytes_per_second)}/s`)] : []),
      ...(st.watch.unseen ? [row("changes are looked for", st.watch.unseen)] : []),
      ...(st.watch.embed_error ? [row("vectors are missing", st.watch.embed_error)] : []),
    ]));
  }
  if (st.pending.length) sections.push(table(`Waiting (${number(st.pending.length)})`, first(st.pending, (p) => row(p.id, p.reason), (text) => row(text))));
  if (st.skipped.length) sections.push(leftOut(st.skipped));
  // What was unfolded and what had the focus stay so.
  const said = (e) => e.textContent, open = [...main.querySelectorAll("details[open] > summary")].map(said);
  const focused = main.contains(document.activeElement) && said(document.activeElement);
  main.replaceChildren(make("h1", { class: "hidden" }, "Status"), ...sections);
  for (const summary of main.querySelectorAll("summary")) if (open.includes(said(summary))) summary.parentElement.open = true;
  if (focused) [...main.querySelectorAll("summary, button")].find((e) => said(e) === focused)?.focus({ preventScroll: true });
}

/** How far the run is that indexes files. */
function progress({ files, all_files: all, bytes, all_bytes: most, left_ms: left }) {
  const minutes = Math.ceil(left / 60000);
  return `${number(files)} of ${number(all)} new and changed files, ${size(bytes)} of ${size(most)}${left ? `; ${minutes > 1 ? `about ${minutes} minutes` : "less than a minute"} to go` : ""}`;
}

/** How many searches there were since the server started, and how long they took, by its metrics. */
function speed(metrics) {
  const within = new Map(); // how many took so many seconds at most
  for (const [, most, n] of metrics.matchAll(/^sheaf_request_seconds_bucket\{operation="search(?:Post)?",le="([^"]+)"\} (\d+)/gm)) within.set(most, (within.get(most) || 0) + Number(n));
  const all = within.get("+Inf");
  if (!all) return "none since the server started";
  const share = (part) => {
    const most = [...within].find(([, n]) => n >= part * all)[0];
    return most === "+Inf" ? "longer" : `${Number((most * 1000).toPrecision(3))} ms`;
  };
  return `${number(all)} since the server started: half of them within ${share(0.5)}, 99 of 100 within ${share(0.99)}`;
}

/** The files that were left out, by the reason why; a reason of many files is folded. */
function leftOut(files) {
  const why = new Map();
  for (const f of files) {
    if (!why.has(f.reason)) why.set(f.reason, []);
    why.get(f.reason).push(f.detail ? `${f.path}: ${f.detail}` : f.path); // the detail may be another one for each file, as sizes are
  }
  return make("section", {}, make("h2", {}, `Left out (${number(files.length)})`),
    ...[...why].sort((a, b) => a[1].length - b[1].length).map(([reason, paths]) => make("details", { open: paths.length < 6 },
      make("summary", {}, `${reason}: ${number(paths.length)}`),
      make("ul", {}, ...first(paths, (path) => make("li", {}, path), (text) => make("li", {}, text))))));
}

/** How many of the nearest passages searches find, as it was last measured. */
function recall(st, again, page) {
  const r = st.recall;
  const fields = (r?.fields || []).map((f) => row(f.field, f.exhaustive
    ? `all: ${number(f.passages)} vectors are all compared, in ${f.search_ms.toFixed(2)} ms`
    : `${f.recall_at_10.toFixed(4)} at 10, ${f.recall_at_100.toFixed(4)} at 100, of ${number(f.passages)} vectors; ${f.search_ms.toFixed(2)} ms, comparing all of them takes ${f.brute_force_ms.toFixed(2)} ms`));
  const about = r?.measuring ? "It is being measured." : r?.error ? `It could not be measured: ${r.error}`
    : !r?.at ? "It was not measured since the server started." : `Measured ${new Date(r.at).toLocaleString()}${r.generation === st.generation ? "" : "; the index has changed since"}.`;
  const measure = make("button", { type: "button", "aria-disabled": String(Boolean(r?.measuring)), onclick: () => r?.measuring || post("/v1/recall", {}).then(again).catch((e) => e.name === "AbortError" || page.notes([e.message])) }, "Measure");
  return make("section", { "aria-label": "Recall" }, make("h2", {}, "Recall"), fields.length > 0 && make("table", { class: "plain", "aria-label": "Recall" }, make("tbody", {}, ...fields)), make("p", {}, about, " ", measure));
}
