// What is indexed, what waits, what was left out and why.

import { get, make, number, size } from "./api.js";

const row = (...cells) => make("tr", {}, ...cells.map((c, i) => make(i ? "td" : "th", i ? {} : { scope: "row" }, c)));
const table = (caption, rows) => make("section", {}, make("h2", {}, caption), make("table", { class: "plain" }, make("tbody", {}, ...rows)));

export async function show(main, s, page, signal) {
  const [st, ready] = await Promise.all([get("/v1/status", {}, signal), get("/readyz", { verbose: true }, signal).catch((e) => e.problem || {})]);
  page.count("");
  page.notes(st.watch?.error ? [`the last look for changes failed: ${st.watch.error}`] : []);
  const parts = Object.entries(st.bytes).sort((a, b) => b[1] - a[1]);
  const sections = [
    table("Collection", [
      row("name", st.name),
      row("folders", st.trees.map((t) => t.root || t.name).join(", ")),
      row("documents", `${number(st.documents)}, ${number(st.chunks)} chunks, ${size(st.source_bytes)}`),
      row("index", `${size(parts.reduce((n, p) => n + p[1], 0))}: ${parts.map(([k, v]) => `${k} ${size(v)}`).join(", ")}`),
      row("chunker", st.chunker), row("analyzer", st.analyzer), row("language", st.language || "unknown"),
      row("model", st.model ? `${st.model}, ${st.dims} dimensions, ${number(st.vectors)} vectors` : "none: only words are searched"),
      ...(st.recall ? [row("recall", JSON.stringify(st.recall))] : []),
      row("generation", String(st.generation)),
      row("tasks", `${st.tasks.waiting} wait, ${st.tasks.failed} failed`),
      row("store", ready.status === undefined ? "answers" : String(ready.detail || ready.status)),
    ]),
  ];
  if (st.watch) {
    sections.push(table("Freshness", [
      row("last look", new Date(st.watch.at).toLocaleString()),
      row("it took", `${st.watch.took_ms.toFixed(0)} ms`),
      ...(st.watch.changed ? [row("last change", new Date(st.watch.changed).toLocaleString())] : []),
      ...(st.watch.bytes_per_second ? [row("speed", `${size(st.watch.bytes_per_second)}/s`)] : []),
      ...(st.watch.embed_error ? [row("vectors are missing", st.watch.embed_error)] : []),
    ]));
  }
  if (st.pending.length) sections.push(table(`Waiting (${number(st.pending.length)})`, st.pending.slice(0, 500).map((p) => row(p.id, p.reason))));
  if (st.skipped.length) sections.push(table(`Left out (${number(st.skipped.length)})`, st.skipped.slice(0, 500).map((k) => row(k.path || k.Path, `${k.reason || k.Reason}${k.detail || k.Detail ? ` (${k.detail || k.Detail})` : ""}`))));
  main.replaceChildren(...sections);
}
