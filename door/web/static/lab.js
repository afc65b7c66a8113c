// The ranking lab: every stage of a profile is a column, every result a line
// that rises and falls through them; numbers are changed and the lines move.

import { address, apart, arithmetic, breaking, contained, documentAddress, get, givenKey, kept, make, draw, number, numbered, own, passage, passing, post, score, telling, trail } from "./api.js";

const rows = 12; // ranks that a column shows
let page = null;
let judgedKey = "", judgedBy; // by what name the browser keeps the marks, and for which key that was asked
let current = null;
let lit = null; // the result that is pinned

export async function show(main, s, thePage, signal) {
  page = thePage;
  if (judgedBy !== givenKey()) { // another folder may be served here than yesterday, with marks of its own
    judgedKey = `${own("sheaf-judged")} ${(await get("/v1/status", {}, signal)).name}`;
    judgedBy = givenKey();
  }
  const { profiles } = await get("/v1/profiles", {}, signal);
  const chosen = profiles.find((p) => p.name === s.profile) || profiles.find((p) => p.default) || profiles[0];
  const set = Object.entries(s).filter(([k]) => k.startsWith("set.")).map(([k, v]) => [k.slice(4), v]), has = ([name]) => chosen.parameters.some((p) => p.name === name);
  const changes = Object.fromEntries(set.filter(has));
  // The controls stay while one types or drags: only what they show is made again.
  if (!current || current.main !== main || !main.contains(current.root) || current.profile.name !== chosen.name || current.profiles !== JSON.stringify(profiles) || current.compare !== s.compare) {
    const chosenBy = main.contains(document.activeElement) && document.activeElement.getAttribute("aria-label");
    current = build(main, profiles, chosen, s);
    current.values = null;
    if (chosenBy) main.querySelector(`select[aria-label="${CSS.escape(chosenBy)}"]`)?.focus(); // the arrows go on
  }
  if (JSON.stringify(current.values) !== JSON.stringify(changes)) {
    current.values = changes;
    current.fill();
  }
  current.lacks = s.profile && chosen.name !== s.profile ? [`there is no profile "${s.profile}": this is ${chosen.name}`] : [];
  for (const [name] of set) if (!has([name])) current.lacks.push(`${chosen.name} has no parameter ${name}: it is left out`);
  lit = s.pin || null;
  current.not = current.whyNot.value = s.not || "";
  current.query = (s.q || "").trim(); // a space behind it is no other query for marks
  current.filter = s.filter || "";
  current.narrowed.replaceChildren(...(s.filter ? ["Narrowed to ", make("button", { type: "button", title: "take it away", onclick: () => page.go(labAddress(current, { filter: "" })) }, apart(s.filter), " ×")] : []));
  await current.update(signal);
}

/** Whether a profile was saved meanwhile, as in another window: its numbers would not be those that rank. */
export const changed = async (signal) => JSON.stringify((await get("/v1/profiles", {}, signal, true)).profiles) !== current.profiles;

/** Makes the view for a profile. */
function build(main, profiles, profile, s) {
  const lab = { main, profile, profiles: JSON.stringify(profiles), compare: s.compare, values: {}, query: "", filter: "" };
  const select = (label, value, none, change) => {
    const box = make("select", { "aria-label": label, onchange: () => change(box.value) }, ...(none ? [make("option", { value: "" }, none)] : []),
      ...profiles.map((p) => make("option", { value: p.name, title: p.about, selected: p.name === value }, p.name)));
    return make("label", {}, label, box);
  };
  const bar = make("div", { class: "lab-bar" },
    select("Profile", profile.name, "", (v) => page.go(labAddress(lab, { profile: v, set: {} }))),
    select("Beside it", s.compare, "none", (v) => page.go(labAddress(lab, { compare: v }))),
    make("button", { type: "button", onclick: () => { lab.values = {}; lab.fill(); lab.changed(); } }, "As it was"),
    make("button", { type: "button", onclick: () => saveProfile(lab) }, "Save as profile"),
    lab.narrowed = make("span", {}),
    make("label", {}, "Why not ", lab.whyNot = make("input", { type: "text", size: 28, placeholder: "path or identifier", onchange: () => { lab.not = lab.whyNot.value.trim(); lit = null; page.address(labAddress(lab)); rest(lab); } })));
  const about = make("p", { class: "place" }, profile.about);
  const controls = make("div", { class: "lab-controls", role: "group", "aria-label": "Parameters" });
  // What a number means is said while it is held: a finger points at no title.
  controls.addEventListener("focusin", (e) => {
    const p = profile.parameters.find((p) => p.name === e.target.closest("label")?.dataset.name);
    if (!p) return; // in Firefox the keyboard stops at what can be scrolled, too
    about.style.minHeight = `${about.offsetHeight}px`; // else fewer lines would move the slider away under the finger
    about.textContent = `${p.name}: ${p.about} (${p.range})`;
  });
  controls.addEventListener("focusout", () => {
    about.style.minHeight = "";
    about.textContent = profile.about;
  });
  lab.chart = make("div", { class: "scroll", "data-profile": profile.name });
  lab.beside = make("div", { class: "scroll", "data-profile": `${s.compare}, ▲ and ▼ against ${profile.name}` });
  lab.detail = make("section", { class: "arithmetic", "aria-label": "Arithmetic" });
  lab.judge = make("section", { class: "judge", "aria-label": "Judgements" });
  const charts = make("div", { class: s.compare ? "two" : "" }, lab.chart, s.compare && lab.beside);
  lab.root = make("div", {}, make("h1", { class: "hidden" }, "Lab"), bar, about, make("div", { class: "lab-parts" }, controls, make("div", {}, charts, lab.detail, lab.judge)));
  main.replaceChildren(lab.root);

  lab.fill = () => controls.replaceChildren(...profile.parameters.map((p) => control(lab, p)));
  let waiting, addressed = -Infinity, moved = false, moving = false;
  const put = () => {
    addressed = performance.now();
    page.address(labAddress(lab));
  };
  lab.changed = () => {
    moved = true;
    if (!moving) move(); // which asks: the address is written while the server works
    if (performance.now() - addressed > 100) put(); // Chromium drops changes of an address beyond twenty a second
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (!main.contains(lab.root)) return;
      if (main.dataset.shown !== undefined) put(); // else another one is on its way
      judgeAll(lab);
    }, 400);
  };
  // A drag sends numbers faster than answers come. Were each to end the one before, the lines would stand still until it is over.
  const move = async () => {
    for (moving = true; moved;) {
      moved = false;
      await lab.update(new AbortController().signal).catch(async (e) => {
        if (!main.contains(lab.root)) return;
        page.notes([telling(e)]);
        if (!passing(e)) return;
        await new Promise((done) => setTimeout(done, 1000));
        moved = main.contains(lab.root);
      });
    }
    moving = false;
  };
  lab.update = async (signal) => {
    lab.signal = signal;
    if (!lab.query && !lab.filter) {
      page.count("");
      page.notes([]);
      lab.answer = lab.scores = lab.judging = lab.asked = null; // of another query, also beside it and below
      for (const part of [lab.beside, lab.detail, lab.judge]) part.replaceChildren();
      lab.chart.replaceChildren(make("p", { class: "empty" }, "Type a query to see how it is ranked."));
      return;
    }
    const began = performance.now();
    const ask = async (name, parameters) => {
      const body = { ...asked(lab), profile: name, parameters: { ...parameters }, limit: rows };
      const answer = await post("/v1/explain", { ...body, brief: true }, signal);
      // A brief answer tells no lines, which are what documents call results of numbered sections.
      const sections = answer.results.filter(numbered);
      for (const r of sections) r.line = 0;
      answer.lined = sections.length && post("/v1/search", { query: body.query, filter: body.filter, profile: name, parameters: { ...parameters }, limit: rows }, signal).then(({ results }) => {
        for (const r of sections) r.line = results.find((x) => x.id === r.id)?.line;
      }).catch(() => {}); // then they go by their documents
      // The arithmetic is most of an answer, and of one result at a time: it comes when it is looked at.
      // An answer may be drawn longer than what it was asked by, so it is the lab's request; one that failed is not kept.
      let whole = null;
      answer.arithmetic = async (id) => (await (whole ||= post("/v1/explain", body, lab.signal).catch((e) => { whole = null; throw e; }))).results.find((r) => r.id === id);
      return answer;
    };
    // What numbers do not change is asked for once.
    const key = JSON.stringify(asked(lab));
    if (lab.asked !== key) [lab.asked, lab.was, lab.other, lab.looked] = [key, null, null, null];
    const changed = Object.keys(lab.values).length > 0;
    const asking = [ask(profile.name, lab.values), changed ? lab.was || ask(profile.name, {}) : null, s.compare ? lab.other || ask(s.compare, {}) : null];
    const [mine, old, other] = await Promise.allSettled(asking);
    signal.throwIfAborted();
    if (lab.signal !== signal || !main.contains(lab.root)) return; // what is newer is asked for, or another view
    const [now, before, beside] = [mine.value, old.value, other.value];
    // One of two that fails leaves the other one as it is asked for, and all of them the numbers, which may be why.
    if (!now && !beside && !mine.reason.status) throw mine.reason;
    [lab.was, lab.other] = [changed ? before : now, beside];
    if (other.reason) lab.beside.replaceChildren(failure(s.compare, other.reason));
    if (beside) lab.beside.replaceChildren(chart(lab, beside, now));
    if (!now) {
      page.count("");
      page.notes([telling(mine.reason)]);
      if (passing(mine.reason)) setTimeout(() => lab.signal === signal && !signal.aborted && main.contains(lab.root) && lab.changed(), 1000);
      lab.answer = lab.scores = lab.judging = null;
      for (const part of [lab.detail, lab.judge]) part.replaceChildren();
      lab.chart.replaceChildren(failure(profile.name, mine.reason));
      return;
    }
    page.count(`${number(now.results.length)} result${now.results.length === 1 ? "" : "s"}, ${now.steps.length} steps in ${(performance.now() - began).toFixed(0)} ms`);
    lab.told = [...lab.lacks, ...now.warnings, ...now.notes, ...[old, other].filter((x) => x.reason).map((x) => x.reason.message)];
    page.notes(lab.told);
    lab.answer = now;
    lab.chart.replaceChildren(chart(lab, now, before));
    // Where there is no room for all columns, there is for the last ones: the results are what numbers change.
    if (!lab.placed) for (const box of [lab.chart, lab.beside]) box.scrollLeft = box.scrollWidth;
    lab.placed = true;
    rest(lab);
    judgeList(lab);
  };
  return lab;
}

/** The address of what the lab shows. */
const labAddress = (lab, { set = lab.values, ...more } = {}) => address({ view: "lab", q: lab.query, filter: lab.filter, profile: lab.profile.default ? "" : lab.profile.name, compare: lab.compare, pin: lit, not: lab.not, ...more,
  ...Object.fromEntries(Object.entries(set).map(([k, v]) => ["set." + k, v])) });

/** What the server is asked for. A filter is a query, too. */
const asked = ({ query, filter }) => (query && filter ? { query, filter } : { query: query || filter });

/** What the lab was asked, as the addresses of documents take it along. */
const question = (lab) => ({ q: lab.query, filter: lab.filter, profile: lab.profile.default ? "" : lab.profile.name });

/** What is shown while nothing is pointed at: the result that is pinned, why one is missing, or what was pointed at last. */
const rest = (lab, columns, answer) => (lab.not && !lit ? whyNot(lab) : detail(lab, lit || lab.looked, columns, answer));

/** What stands where a chart would, when there is none. */
const failure = (name, fault) => make("p", { class: "empty" }, apart(name), `: ${fault.message}`);

/** A slider or a list for a parameter. What is not touched keeps its default, which may be an expression. */
function control(lab, p) {
  const value = lab.values[p.name];
  const box = make("label", { title: p.about, "data-name": p.name }, make("span", {}, ...breaking(p.name)));
  const put = (v) => {
    if (v === "" || v === p.default) delete lab.values[p.name];
    else lab.values[p.name] = v;
    box.classList.toggle("changed", p.name in lab.values);
    lab.changed();
  };
  box.classList.toggle("changed", value !== undefined);
  if (p.one_of.length) {
    const list = make("select", { "aria-description": p.about, onchange: () => put(list.value) }, ...p.one_of.map((o) => make("option", { selected: o === (value ?? p.default) }, o)));
    box.append(list);
    return box;
  }
  const field = make("input", { type: "text", inputmode: "decimal", value: value ?? p.default, "aria-label": `${p.name}, ${p.range}`, title: value ?? p.default });
  field.addEventListener("change", () => {
    const typed = field.value.trim();
    field.value = /^-?\d*,\d+$/.test(typed) ? typed.replace(",", ".") : typed || p.default; // phones of many countries have no point among their digits
    put(field.value);
  });
  box.append(field);
  if (p.min !== undefined && p.max !== undefined) {
    // Wide ranges are laid out by powers, so that the small numbers can be met.
    const wide = p.max - p.min > 200 && p.min >= 0;
    const to = (x) => (wide ? Math.log1p(x - p.min) : x);
    const from = (x) => (wide ? Math.expm1(x) + p.min : x);
    const start = Number(value ?? p.default);
    // A hundredth of the way, or somewhat more or less, so that the number of the profile is met: it may be a part of one.
    const way = to(p.max) - to(p.min), usual = to(Number(p.default)) - to(p.min);
    const part = usual > 0 ? usual / Math.max(1, Math.round((100 * usual) / way)) : way / 100;
    const step = p.integer && !wide ? 1 : Math.floor(1e12 * part + 0.001) / 1e12; // else all of them may be more than the way, by what was rounded
    const range = make("input", { type: "range", "aria-description": p.about, "aria-valuetext": field.value, min: to(p.min), max: to(p.max), step, value: to(Number.isNaN(start) ? p.min : start), "aria-label": p.name });
    range.classList.toggle("reckoned", Number.isNaN(start)); // it stands nowhere on the slider
    // A finger that scrolls may begin on a slider, which has taken its place then: it stays as it was.
    let held = null, scrolls = false;
    range.addEventListener("pointerdown", () => {
      [held, scrolls] = [field.value, false];
      range.focus({ preventScroll: true }); // a finger that drags gives it no focus, and so would not see what it means
    });
    range.addEventListener("pointercancel", () => {
      scrolls = true;
      field.value = held;
      field.dispatchEvent(new Event("change"));
    });
    range.addEventListener("keydown", () => { scrolls = false; });
    range.addEventListener("input", () => {
      if (scrolls) return field.dispatchEvent(new Event("change"));
      range.classList.remove("reckoned");
      const at = Number(range.value), x = at + 0.999 * step > to(p.max) ? p.max : from(at); // the last step may lie before the end
      field.value = p.integer ? String(Math.round(x)) : String(Number(x.toPrecision(3)));
      range.setAttribute("aria-valuetext", field.value);
      put(field.value);
    });
    field.addEventListener("change", () => {
      if (!Number.isNaN(Number(field.value))) range.value = to(Number(field.value));
      range.classList.toggle("reckoned", Number.isNaN(Number(field.value)));
      range.setAttribute("aria-valuetext", field.value);
    });
    field.before(range);
  }
  return box;
}

/** The columns of an explanation: those of each branch, then those after the fusion. */
function columnsOf(answer) {
  const branches = [...new Set(answer.steps.map((st) => st.branch))].filter((b) => b !== "");
  const columns = [];
  for (const branch of [...branches, ""]) {
    for (const st of answer.steps) {
      if (st.branch !== branch) continue;
      const before = columns.filter((c) => (branch ? c.branch === branch : c.branch === "")).at(-1);
      const from = before ? [before] : branch ? [] : branches.map((b) => columns.filter((c) => c.branch === b).at(-1)).filter(Boolean);
      const at = new Map(st.hits.map((h, i) => [h.id, (st.ranks?.[i] ?? i + 1) - 1]));
      columns.push({ branch, step: st.step, found: st.found, hits: st.hits, from, at, scores: new Map(st.hits.map((h) => [h.id, h.score])) });
    }
  }
  if (columns.length && answer.results.length) {
    const last = columns.at(-1);
    const hits = answer.results.map((r) => ({ id: r.id, score: r.score }));
    columns.push({ branch: "", step: "results", found: answer.total.value, hits, from: [last], at: new Map(hits.map((h, i) => [h.id, i])), final: true });
  }
  return columns;
}

const short = (id) => {
  const rest = id.slice(id.indexOf(":") + 1);
  const hash = rest.lastIndexOf("#");
  const file = (hash >= 0 ? rest.slice(0, hash) : rest).replace(/^.*\//, "").replace(/\.(md|mdx|markdown|txt)$/, "");
  return hash >= 0 ? `${cut(file, 12)} › ${rest.slice(hash + 1)}` : file;
};
/** Text of at most n letters of Latin width; others may be twice as wide. */
function cut(text, n) {
  let wide = 0, out = "";
  for (const c of text) {
    wide += c > "\u1100" && c !== "…" && c !== "›" ? 2 : 1;
    if (wide > n) return out.slice(0, -1) + "…";
    out += c;
  }
  return out;
}

/** A name in SVG, whose parts turn nothing around beside them: the signs do what bdi does in HTML. Its own are left out: each part of a line that runs the other way is painted over the one before. */
const isolated = (name) => name.split(/( › | > )/).map((part, i) => (i % 2 ? part : `\u2068${contained(part).replace(/[\u202a-\u202e]/g, "")}\u2069`)).join("");

const called = (r) => r.hierarchy?.join(" › ") ?? r.id;
/** Those of several results whose name another one has, too: only their identifiers tell them apart. */
function twins(results) {
  const ids = new Map();
  for (const r of results) ids.set(called(r), (ids.get(called(r)) ?? new Set()).add(r.id));
  return new Set([...ids.values()].flatMap((of) => (of.size > 1 ? [...of] : [])));
}
const identifier = (id) => make("bdi", { dir: "ltr", class: "id" }, id.slice(id.indexOf(":") + 1));

/** Whether a step left what a column shows as it was. */
const unmoved = ({ final, from, hits, at }) => !final && from.length === 1
  && hits.slice(0, rows).every((hit) => from[0].at.get(hit.id) === at.get(hit.id)) && from[0].hits.slice(0, rows).every((hit) => at.has(hit.id));

/** Lights what belongs to a result within an element, and nothing else. */
function light(within, id) {
  for (const e of within.querySelectorAll("svg.lab [data-id]")) e.classList.toggle("lit", id !== null && e.dataset.id === id);
}

/** Draws the columns and the lines between them. before is the answer that its results are compared with. */
function chart(lab, answer, before) {
  const columns = columnsOf(answer);
  const top = 62, high = 26, narrow = 100, wide = 196, lastWide = 240;
  // A step that moved nothing needs no room for names: those to its left hold.
  const still = new Set(columns.filter(unmoved));
  const at = new Map();
  let w = 16;
  for (const c of columns) {
    at.set(c, w);
    w += still.has(c) ? narrow : c.final ? lastWide + 20 : wide;
  }
  const shown = new Set(answer.results.slice(0, rows).map((r) => r.id));
  for (const c of columns) c.hits.slice(0, 5).forEach((hit) => shown.add(hit.id));
  const last = Math.max(0, ...columns.flatMap((c) => [...shown].map((id) => c.at.get(id) ?? 0))); // the rank below which there is nothing to draw
  const h = top + (Math.min(last, rows) + 1) * high + 4;
  const svg = draw("svg", { class: "lab", width: `${w / 16}rem`, height: `${h / 16}rem`, viewBox: `0 0 ${w} ${h}`, role: "group", "aria-label": `How ${columns.length} steps of ${answer.profile} order the results` });
  const x = (i) => at.get(columns[i]);
  const y = (rank) => top + Math.min(rank, rows) * high + 10;
  const was = before && new Map(before.results.map((r, i) => [r.id, i]));
  const titles = new Map(answer.results.map((r) => [r.id, r.breadcrumb.replace(/^> /, "")]));
  const names = new Map(answer.results.map(({ id, hierarchy: [first, ...below] }) => [id, below.length ? `${cut(first, Math.max(12, 29 - below.at(-1).length))} › ${below.at(-1)}` : first]));
  const same = twins(answer.results);
  const moves = (c, id) => {
    const moved = c.final && was ? (was.has(id) ? was.get(id) - c.at.get(id) : Infinity) : 0;
    return [moved, moved === Infinity ? "new " : moved > 0 ? `▲${moved} ` : moved < 0 ? `▼${-moved} ` : ""];
  };
  const label = (c, id) => {
    const rank = c.at.get(id);
    return rank >= rows || still.has(c) ? ["", ""] : [`${rank + 1}. ${moves(c, id)[1]}`, cut(c.final ? names.get(id) || short(id) : short(id), c.final ? 32 : 22)];
  };
  const begin = (k, from, id, end) => {
    const text = label(from, id).join("") || (from.at.get(id) >= rows && !still.has(from) ? "below" : "");
    return Math.min(x(k) + (text ? 14 : 8) + 6.6 * text.length, end - 20);
  };
  columns.forEach((c, i) => {
    const room = still.has(c) ? 14 : 28, [name, rest] = c.step.includes(":") ? [c.step.slice(0, c.step.indexOf(":")), c.step.slice(c.step.indexOf(":") + 1).trim()] : [c.step, ""];
    svg.append(
      draw("text", { class: "sub", x: x(i), y: 13 }, cut(c.branch || (c.final ? "" : "all"), Math.min(room, 22))),
      draw("text", { class: "head", x: x(i), y: 30 }, cut(name, still.has(c) ? 12 : 22), draw("title", {}, c.step)),
      draw("text", { class: "sub", x: x(i), y: 46 }, cut(rest.replace(/[{}]/g, "") || `${c.found} found`, room), draw("title", {}, `${c.step}: ${c.found} found`)));
    if (!still.has(c) && [...shown].some((id) => c.at.get(id) >= rows)) svg.append(draw("text", { class: "sub", x: x(i) + 8, y: y(rows) + 4 }, "below"));
    for (const from of c.from) {
      const k = columns.indexOf(from);
      for (const id of shown) {
        const a = from.at.get(id), b = c.at.get(id);
        if (a === undefined || b === undefined) continue;
        // A line begins behind its label, so that both can be read.
        const [x1, x2] = [begin(k, from, id, x(i) - 6), x(i) - 6], bend = Math.min(60, (x2 - x1) / 2);
        svg.append(draw("path", { class: k < i - 1 ? "thread over" : "thread", "data-id": id, d: `M${x1} ${y(a)}C${x2 - bend} ${y(a)} ${x2 - bend} ${y(b)} ${x2} ${y(b)}` }));
      }
    }
  });
  columns.forEach((c, i) => {
    for (const hit of c.hits) {
      const rank = c.at.get(hit.id);
      if (!shown.has(hit.id)) continue;
      const [moved] = moves(c, hit.id), [place, name] = label(c, hit.id), title = titles.get(hit.id) || hit.id;
      const seen = place + (name && isolated(name)), spoken = (name === title ? seen : `${seen}: ${title}`) + (same.has(hit.id) ? `, ${hit.id}` : ""); // who speaks to the page says what is seen
      const words = (part, more) => draw("text", { class: part, x: x(i) + 8, y: y(rank) + 4, ...more }, place, name && isolated(name));
      if (place) svg.append(words("under", { "aria-hidden": "true" })); // beside what it lies under, whose name it is not
      const node = draw("g", { class: "node" + (moved > 0 ? " up" : moved < 0 ? " down" : ""), "data-id": hit.id, ...(c.final ? { tabindex: 0, role: "button", "aria-pressed": String(hit.id === lit), "aria-label": `${spoken}, score ${score(hit.score)}` } : { "aria-hidden": "true" }) }, // whoever hears the lines has the table
        draw("circle", { cx: x(i), cy: y(rank), r: 4 }),
        ...(place ? [words("label")] : []), // most of them stand where there is no room for one
        draw("title", {}, `${hit.id}\n${c.branch ? c.branch + ": " : ""}${c.step}\nrank ${rank + 1}, score ${score(hit.score)}`));
      if (c.final) node.addEventListener("focus", () => { look(hit.id); bring(node); }); // a listener of the whole drawing would make it a stop of its own
      svg.append(node);
    }
  });
  const of = (e) => e.target.closest?.("[data-id]")?.dataset.id ?? null;
  const look = (id) => { lab.looked = id; light(lab.root, id); detail(lab, id, columns, answer); };
  const bring = (node) => { // into sight, when the keyboard gets there: Firefox brings the begin of the drawing
    if (!node.matches(":focus-visible")) return;
    const at = node.getBoundingClientRect(), box = svg.parentElement.getBoundingClientRect();
    const ring = 5; // around it, with what browsers round off
    svg.parentElement.scrollLeft += Math.max(0, at.right + ring - box.right) || Math.min(0, at.left - ring - box.left);
  };
  svg.addEventListener("pointerover", (e) => { const id = of(e); if (id) look(id); });
  svg.addEventListener("pointerleave", () => { light(lab.root, lit); rest(lab, columns, answer); });
  const pin = (id) => {
    lit = lit === id ? null : id;
    if (lit) lab.not = lab.whyNot.value = "";
    page.address(labAddress(lab));
    for (const e of lab.root.querySelectorAll("svg.lab [aria-pressed]")) e.setAttribute("aria-pressed", String(e.dataset.id === lit));
    light(lab.root, lit);
    rest(lab, columns, answer);
  };
  svg.addEventListener("click", (e) => { const id = of(e); if (id) pin(id); });
  svg.addEventListener("keydown", (e) => {
    const id = of(e);
    if (id && (e.key === "Enter" || e.key === " ")) {
      e.preventDefault();
      e.stopPropagation();
      pin(id);
    }
  });
  light(svg, lit);
  return svg;
}

/** The answer that has a result: where two profiles are compared, the second one's if it alone has. */
const having = (lab, id) => [lab.answer, lab.other].find((a) => a?.results.some((r) => r.id === id)) ?? lab.answer;

/** Where one result stood in every column, and the arithmetic of its score. */
function detail(lab, id = lit, columns = null, answer = having(lab, id)) {
  lab.detail.ariaLive = "off"; // all of it would be read out at every step of the focus
  if (!id || !answer) {
    lab.detail.replaceChildren(make("p", { class: "place" }, "Point at a result to see its arithmetic; click to keep it."));
    return;
  }
  columns ||= columnsOf(answer);
  const result = answer.results.find((r) => r.id === id);
  const table = make("table", { class: "plain", "aria-label": "Where it stood in every step" },
    make("thead", {}, make("tr", {}, ...["branch", "step", "rank", "score"].map((t, i) => make("th", { scope: "col", class: i > 1 ? "number" : "" }, t)))),
    make("tbody", {}, ...columns.filter((c) => !c.final).map((c) => {
      const rank = c.at.get(id);
      return make("tr", {}, make("td", {}, c.branch || "all"), make("td", {}, c.step), make("td", { class: "number" }, rank === undefined ? "–" : String(rank + 1)), make("td", { class: "number" }, rank === undefined ? "" : score(c.scores.get(id))));
    })));
  const old = lab.detail.dataset.of === id ? lab.detail.querySelector(".why") : null; // it stays until the new one is there, else what is below would jump
  const sums = make("div", {}, old);
  lab.detail.dataset.of = id;
  lab.detail.replaceChildren(make("h2", {}, make("a", { href: documentAddress(result ? passage(result) : id, question(lab)) }, ...(result ? trail(result.hierarchy) : [id]))), ...(result && twins(answer.results).has(id) ? [identifier(id)] : []), ...(lab.compare ? [make("h3", {}, apart(answer.profile))] : []), make("div", { class: "sums" }, sums, table));
  if (!result) return sums.replaceChildren(make("p", {}, "It is not among the results. ", make("button", { type: "button", onclick: () => {
    lab.not = lab.whyNot.value = id;
    lit = null;
    page.address(labAddress(lab));
    light(lab.root, null);
    whyNot(lab);
    lab.whyNot.focus();
  } }, "Why not?")));
  const reckon = () => answer.arithmetic(id).then((now) => {
    if (!table.isConnected) return;
    if (lab.fault) page.notes(lab.told); // the fault is over
    lab.fault = false;
    // The arithmetic was asked for later than what is drawn.
    const changed = !now ? "The index has changed since this was drawn: it is no longer among the results."
      : Math.abs(now.score - result.score) > 1e-9 * Math.abs(result.score) ? `The score has changed since this was drawn, from ${score(result.score)} to ${score(now.score)}:` : "";
    sums.replaceChildren(...[changed && make("p", {}, changed), now?.explanation && arithmetic(now.explanation, old, now.summary)].filter(Boolean));
  }).catch((e) => {
    if (e.name === "AbortError" || !table.isConnected) return;
    page.notes([telling(e)]);
    lab.fault = true;
    if (passing(e)) setTimeout(() => table.isConnected && reckon(), 1000);
  });
  reckon();
}

async function whyNot(lab) {
  if (!(lab.query || lab.filter)) return;
  const { not, signal } = lab, asking = () => lab.not === not && lab.signal === signal; // else something newer is asked
  lab.detail.ariaLive = "polite";
  try {
    if (lab.named?.not !== not) lab.named = { not, chunk: (await get("/ui/document", { id: not }, signal)).chunk }; // which takes longer than a number to its lines
    const { chunk } = lab.named;
    const sides = await Promise.all([[lab.profile.name, lab.values], lab.compare && [lab.compare, {}]].filter(Boolean).map(async ([profile, parameters]) => [profile,
      await post("/v1/explain/absence", { ...asked(lab), profile, parameters, id: chunk }, signal)]));
    const told = ([profile, a]) => {
      const inside = a.inside && a.inside !== a.id && make("bdi", { dir: "ltr" }, a.inside);
      const lines = [a.rank ? [`It is number ${a.rank}`, ...(inside ? [", inside ", inside] : []), "."] : inside ? ["It is shown inside ", inside, "."] : ["It is not among the results."], ...a.reasons.map((text) => [text])];
      return make("div", {}, sides.length > 1 && make("h3", {}, apart(profile)), make("ul", {}, ...lines.map((parts) => make("li", {}, ...parts))));
    };
    if (asking()) lab.detail.replaceChildren(make("h2", {}, sides[0][1].id), make("div", { class: lab.compare ? "two" : "" }, ...sides.map(told)));
  } catch (e) {
    if (e.name === "AbortError" || !asking()) return;
    lab.named = null; // it may be elsewhere now
    const said = lab.detail.querySelector("p[role=alert]"), text = telling(e);
    const fault = said?.textContent === text ? said : make("p", { role: "alert" }, text); // a new one would be read out again
    if (fault !== said) lab.detail.replaceChildren(fault);
    if (passing(e)) setTimeout(() => fault.isConnected && asking() && whyNot(lab), 1000);
  }
}

// Judgements: what is right and wrong, kept in the browser.
const judged = () => JSON.parse(kept.getItem(judgedKey) || "{}");
const keep = (all) => kept.setItem(judgedKey, JSON.stringify(all));
// What is marked in another window of the browser is marked here.
addEventListener("storage", (e) => e.key === judgedKey && current?.main.contains(current.root) && current.answer && judgeList(current));

/** What the index calls a result, by which it is marked. */
const known = new Map();
async function knownAs(r, { generation, lined }) {
  await lined;
  const at = passage(r), key = `${generation} ${at}`;
  if (at === r.id) return r.id;
  if (!known.has(key)) known.set(key, get("/ui/document", { id: at }).then((doc) => doc.chunk, (e) => {
    if (e.status !== 404) known.delete(key);
    return r.id; // the index has no such file yet
  }));
  return (r.known = await known.get(key));
}

function judgeList(lab) {
  const { query } = asked(lab), { answer } = lab;
  const unknown = [answer, lab.other].flatMap((a) => a?.results.filter((r) => numbered(r) && !r.known).map((r) => knownAs(r, a)) ?? []);
  if (unknown.length) return Promise.all(unknown).then(() => lab.answer === answer && lab.main.contains(lab.root) && judgeList(lab));
  const mark = (id, value) => {
    const now = judged();
    const set = (now[query] ||= {});
    if (set[id] === value) delete set[id];
    else set[id] = value;
    if (!Object.keys(set).length) delete now[query];
    keep(now);
    press();
    judgeAll(lab);
  };
  const buttons = [];
  const press = () => {
    const mine = judged()[query] || {};
    for (const [button, id, value] of buttons) button.ariaPressed = String(mine[id] === value);
  };
  const button = (id, value, text, label) => {
    buttons.push([make("button", { type: "button", class: value ? "chip" : "chip wrong", "aria-label": label, onclick: () => mark(id, value) }, text), id, value]);
    return buttons.at(-1)[0];
  };
  const idOf = (r) => r.known ?? r.id;
  const same = twins([...lab.answer.results, ...(lab.other?.results ?? [])]);
  const entry = (r) => {
    const id = idOf(r), name = same.has(r.id) ? `${called(r)}, ${id}` : called(r);
    return make("li", {}, button(id, 1, "right", `right: ${name}`), " ", button(id, 0, "wrong", `wrong: ${name}`), " ", make("a", { href: documentAddress(id, question(lab)) }, ...(r.hierarchy ? trail(r.hierarchy) : [r.id])), ...(same.has(r.id) ? [" ", identifier(id)] : []));
  };
  const parts = [make("h2", { tabindex: "-1" }, "Right or wrong?"), make("ol", {}, ...lab.answer.results.map(entry))];
  // What is right is often what is missing.
  const others = new Map(Object.keys(judged()[query] || {}).map((id) => [id, { id }]));
  for (const r of lab.other?.results ?? []) others.set(idOf(r), r);
  for (const r of lab.answer.results) others.delete(idOf(r));
  if (others.size) parts.push(make("p", { class: "place" }, lab.compare ? `Not among these, but marked or found by ${lab.compare}:` : "Marked, and not among these:"), make("ul", {}, ...[...others.values()].map(entry)));
  press();
  lab.scores = make("div", {});
  lab.judge.replaceChildren(...parts, lab.scores);
  judgeAll(lab);
}

/** nDCG at 10 with gains of 1 for what is right. */
function ndcg(ids, marks) {
  const right = Object.values(marks).filter((v) => v === 1).length;
  if (!right) return null;
  let sum = 0, best = 0;
  ids.slice(0, 10).forEach((id, i) => { if (marks[id] === 1) sum += 1 / Math.log2(i + 2); });
  for (let i = 0; i < Math.min(right, 10); i++) best += 1 / Math.log2(i + 2);
  return sum / best;
}

/** Where passages lie, by identifier and generation of the index. */
const places = new Map();
function place(id, generation) {
  const key = `${generation} ${id}`;
  if (!places.has(key)) places.set(key, get(`/v1/chunks/${encodeURIComponent(id)}`).catch((e) => {
    if (e.status === 404) return {}; // it is gone, and nothing lies in it
    places.delete(key);
    throw e;
  }));
  return places.get(key);
}

/** What results count as, each once, as sheaf eval has it: the nearest passage among the right ones that they are or lie in. Where only documents are right, their document. */
async function countedAs(found, right) {
  const { results, generation } = found;
  const chunks = await Promise.all(right.map((id) => place(id, generation)));
  const documents = chunks.every((c) => c.id === c.doc);
  const ids = await Promise.all(results.map((r) => (chunks.some((c) => c.doc === r.doc) ? knownAs(r, found) : r.id)));
  return [...new Set(results.map((r, i) => {
    const around = chunks.filter((c) => c.doc === r.doc && (c.id === r.doc || c.id === ids[i] || (r.id !== r.doc && c.span.start <= r.span.start && r.span.end <= c.span.end)));
    return around.sort((a, b) => a.span.end - a.span.start - (b.span.end - b.span.start))[0]?.id ?? (documents ? r.doc : r.id);
  }))];
}

async function judgeAll(lab) {
  const all = Object.entries(judged()).filter(([, marks]) => Object.values(marks).includes(1));
  if (!lab.scores) return;
  if (!all.length) {
    lab.scores.replaceChildren(make("p", { class: "place" }, "Mark results, and nDCG@10 of all marked queries is shown here as the numbers change."));
    return;
  }
  const changed = Object.keys(lab.values).length > 0;
  const columns = [changed && ["as it was", lab.profile.name, {}], ["now", lab.profile.name, lab.values], lab.other && [lab.compare, lab.compare, {}]].filter(Boolean);
  const now = columns.findIndex(([name]) => name === "now");
  const ask = async (q, marks, profile, parameters) => {
    const found = await post("/v1/search", { query: q, profile, parameters, limit: 20 });
    return ndcg(await countedAs(found, Object.keys(marks).filter((id) => marks[id] === 1)), marks);
  };
  const lines = [];
  const round = (lab.judging = {}); // a later one has the newer numbers
  for (const [q, marks] of all) {
    let scores;
    try {
      scores = await Promise.all(columns.map(([, profile, parameters]) => ask(q, marks, profile, parameters)));
    } catch (e) {
      // A mean without it would be of other queries.
      if (lab.judging === round) lab.scores.replaceChildren(make("p", { role: "alert" }, `${q}: ${e.message}`), ...ofMarks(lab));
      if (passing(e)) setTimeout(() => lab.judging === round && lab.main.contains(lab.root) && judgeAll(lab), 1000);
      return;
    }
    if (lab.judging !== round) return;
    lines.push([q, scores]);
  }
  const line = ([name, scores]) => make("tr", {}, make("th", { scope: "row" }, name), ...scores.map((n, i) => {
    const by = changed && i === now ? n - scores[0] : 0;
    return make("td", { class: by > 0 ? "number up" : by < 0 ? "number down" : "number" }, by > 0 ? "▲ " : by < 0 ? "▼ " : "", n.toFixed(3));
  }));
  lab.scores.replaceChildren(
    make("table", { class: "plain", "aria-label": "Queries with marks" },
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "nDCG@10"), ...columns.map(([name]) => make("th", { scope: "col", class: "number" }, name)))),
      make("tbody", {}, ...lines.map(line), line(["mean", columns.map((_, i) => lines.reduce((n, [, scores]) => n + scores[i], 0) / lines.length)]))),
    ...ofMarks(lab));
}

/** What can be done with all marks. */
const ofMarks = (lab) => [
  make("button", { type: "button", onclick: saveJudged }, "Save as judged queries"), " ",
  make("button", { type: "button", onclick: () => {
    if (!confirm("Forget what was marked for all queries? This browser alone has it.")) return;
    keep({});
    judgeList(lab);
    lab.judge.firstChild.focus();
  } }, "Forget all marks")];

function download(name, text) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "text/yaml" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Saves something on the server by a name that is asked for; null when it was not. Who may not gets a file, as text makes it of a name: its own and what is in it. */
async function save(kind, what, suggestion, body, text) {
  const name = prompt(`Name of the ${what} (small letters, digits, - and _)`, suggestion);
  if (!name) return null;
  if (!/^[a-z][a-z0-9_-]{0,63}$/.test(name)) {
    page.notes([`"${name}" is no name: small letters, digits, - and _, a letter first`]);
    return null;
  }
  const put = (replace) => post(`/v1/${kind}/${name}`, { ...body(name), replace }, undefined, "PUT");
  try {
    const saved = await put(false).catch((e) => {
      const taken = e.status === 409 && e.problem?.errors?.[0]?.parameter === "name"; // else parameters contradict each other
      if (taken && !e.message.includes("built-in") && confirm(`There is a ${what} called ${name}. Replace it?`)) return put(true);
      throw e;
    });
    page.notes([`Saved as ${saved.file || saved.name}.`]);
    return name;
  } catch (e) {
    if (e.status !== 403 && e.problem?.type !== "urn:sheaf:problem:unsupported") {
      page.notes([e.message]);
      return null;
    }
    const [file, content] = text(name);
    download(file, content);
    page.notes([`${e.message}: it is in your downloads, as ${file}.`]);
    return null;
  }
}

/** A profile that extends this one with the numbers as they are; one of one's own may take them itself. */
async function saveProfile(lab) {
  const from = lab.profile.name, mine = `${from}-mine`;
  const body = (name) => ({ extends: from, ...(name === from ? {} : { about: `Like ${from}, with numbers from the lab.` }), parameters: lab.values });
  const file = (name) => (name === from ? file(mine) : [`${name}.yaml`, profileText(name, lab.profile, lab.values)]);
  const name = await save("profiles", "profile", lab.profile.builtin ? mine : from, body, file);
  if (!name) return;
  const said = document.getElementById("notes").textContent; // where it lies
  await page.go(labAddress(lab, { profile: name, set: {} }));
  page.notes([said]);
}

function profileText(name, profile, values) {
  const lines = [`name: ${name}`, `about: Like ${profile.name}, with numbers from the lab.`, `extends: ${profile.name}`];
  const set = Object.entries(values);
  if (set.length) lines.push("parameters:", ...set.map(([k, v]) => `  ${k}: ${/^-?[\d.]+$/.test(v) ? v : JSON.stringify(v)}`));
  return lines.join("\n") + "\n";
}

function saveJudged() {
  const queries = Object.entries(judged()).map(([query, marks]) => ({ query, expect: Object.keys(marks).filter((id) => marks[id] === 1) })).filter((q) => q.expect.length);
  const file = (name) => [`${name}.yaml`, ["queries:", ...queries.flatMap((q) => [`  - query: ${JSON.stringify(q.query)}`, "    expect:", ...q.expect.map((id) => `      - ${JSON.stringify(id.slice(id.indexOf(":") + 1))}`)])].join("\n") + "\n"];
  return save("judged", "set of judgements", "judged", () => ({ queries }), file);
}
