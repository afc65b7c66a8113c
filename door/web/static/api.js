// Requests to the server, and a few small tools that every view uses.

/** A request that failed, with what the server said. */
export class Fault extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || `the server answered ${status}`);
    this.status = status;
    this.problem = problem;
  }
}

/** Whether what failed may work in a moment: the server is away, or has too much to do, or opens its index. */
export const passing = (e) => [0, 429, 503].includes(e.status);
/** What is said of a fault behind which the page asks again, where it passes. */
export const telling = (e) => (passing(e) ? `${e.message}: this page asks again until ${e.status ? "that is over" : "it does"}` : e.message);

/** What the browser keeps, or the page itself where that is forbidden. */
function storage(name) {
  try {
    window[name].getItem("");
    return window[name];
  } catch {
    const all = new Map();
    return { getItem: (key) => all.get(key) ?? null, setItem: (key, value) => all.set(key, value), removeItem: (key) => all.delete(key) };
  }
}
export const kept = storage("localStorage"), session = storage("sessionStorage");

/** What is before the addresses of the server: nothing, or where another program or a proxy has it. */
const above = location.pathname.slice(0, -1);
/** By what name the browser keeps something of this server: another one may be below another address of the same host. */
export const own = (name) => name + above;

async function send(path, options, read = (response) => response.json()) {
  const headers = { ...options.headers };
  const key = givenKey();
  if (key) headers.Authorization = `Bearer ${key.replace(/[^\x20-\x7e]/g, "?")}`; // no header can hold other signs: the server says that it knows no such key
  let response;
  try {
    response = await fetch(above + path, { ...options, headers });
  } catch (e) {
    if (e.name === "AbortError") throw e;
    throw new Fault(0, { detail: "the server does not answer" });
  }
  const body = await (response.ok ? read(response) : response.json()).catch((e) => {
    if (e.name === "AbortError" || response.ok) throw e;
    return {};
  });
  if (response.status === 401 && !options.unasked) {
    if (await another(key, body.detail)) return send(path, options, read);
    if (!key) throw new Fault(401, { detail: "this server answers with a key only: Key, above, asks for one" });
  }
  if (!response.ok) throw new Fault(response.status, body);
  return body;
}

/** Parameters as they stand in an address, behind a question mark; those that are undefined or empty are left out. */
function written(parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined && value !== "" && value !== null) query.set(name, value);
  const text = query.toString();
  return text && `?${text}`;
}

/** Asks for JSON. What nobody asked for, as a look whether something has changed, asks for no key. */
export function get(path, parameters = {}, signal, unasked = false) {
  return send(path + written(parameters), { signal, unasked });
}

/** Asks for text. */
export const text = (path, signal) => send(path, { signal }, (response) => response.text());

/** Sends JSON and asks for JSON. */
export function post(path, body, signal, method = "POST") {
  return send(path, { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" }, signal });
}

// The key of who uses the page, kept until the window is closed.
const keyName = own("sheaf-key");
export const givenKey = () => session.getItem(keyName);
let asking = null; // the question for a key that is open, whoever waits for it
let declined = false; // no key was given: nothing asks again but the button

// Letters that follow one that asked for a key belong to the query: the question waits for a pause.
const pause = 600; // milliseconds
let typed = -pause;
addEventListener("input", (e) => { if (!e.target.closest("dialog")) typed = performance.now(); }, true);
async function paused() {
  for (let left; (left = typed + pause - performance.now()) > 0;) await new Promise((done) => setTimeout(done, left));
}

/** Whether there is a key now that a request was not refused with. */
async function another(tried, said) {
  if (givenKey() !== tried) return true; // while it was asked
  if (declined && !tried) return false;
  return askKey(tried ? said : "");
}

/** Asks for a key; fault says what is wrong with the one that there is. Whether one was given. */
export function askKey(fault = "") {
  return (asking ||= paused().then(() => new Promise((done) => {
    const dialog = document.getElementById("login"), field = document.getElementById("key");
    document.getElementById("key-fault").textContent = fault;
    document.getElementById("forget").hidden = fault || !givenKey();
    document.getElementById("another").hidden = false;
    field.value = "";
    dialog.returnValue = "";
    dialog.showModal();
    dialog.addEventListener("close", () => {
      const given = dialog.returnValue === "use";
      if (given) session.setItem(keyName, field.value.trim());
      else if (fault || dialog.returnValue === "forget") session.removeItem(keyName);
      field.value = "";
      declined = !given;
      asking = null;
      done(given);
    }, { once: true });
  })));
}

/** Makes an element: make("a", {href: "/", class: "x"}, "text", child...). Text is always text. */
export function make(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  set(e, attributes);
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

/** A name beside other text, which no letter of it can turn around. */
export const apart = (name) => make("bdi", {}, contained(name));
/** A name without the signs that would end too early what sets it apart. */
export const contained = (name) => String(name).replace(/[\u2066-\u2069]/g, "");
/** Names in a row. The last one, behind which nothing stands, decides which way they run. */
export const listed = (names, between) => names.flatMap((n, i) => (i < names.length - 1 ? [apart(n), between] : [n]));
/** The headings above a passage and its own. */
export const trail = (hierarchy) => listed(hierarchy, " › ");

/** A path or name, which breaks behind its slashes and underscores. */
export const breaking = (text) => text.split(/(?<=[/_])/).flatMap((part, i) => (i ? [make("wbr"), part] : [part]));

/** The same for SVG. */
export function draw(name, attributes = {}, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  set(e, attributes);
  e.append(...children);
  return e;
}

function set(e, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else e.setAttribute(key, value === true ? "" : value);
  }
}

/** Text with the ranges of bytes marked. */
export function marked(text, ranges) {
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder();
  const out = [];
  let at = 0;
  for (const { start, end } of ranges) {
    if (start < at || end > bytes.length) continue;
    out.push(decoder.decode(bytes.subarray(at, start)), make("mark", {}, decoder.decode(bytes.subarray(start, end))));
    at = end;
  }
  out.push(decoder.decode(bytes.subarray(at)));
  return out;
}

/** Letters of words between which no spaces stand. */
export const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** Which way a text runs in which there are letters from right to left: as its first letter, unless twice as many run the other way: it may begin with a name in another script. Code, which is of Latin letters anywhere, does not count. */
export function direction(text) {
  const leftward = /[\p{sc=Arabic}\p{sc=Hebrew}\p{sc=Syriac}\p{sc=Thaana}\p{sc=Nko}\p{sc=Adlm}\p{sc=Rohg}\p{sc=Mand}\p{sc=Samr}]/u;
  if (!leftward.test(text)) return null;
  const letters = text.replace(/`[^`]*`/g, "").match(/\p{L}/gu) ?? [], left = letters.filter((c) => leftward.test(c)).length, right = letters.length - left;
  return (leftward.test(letters[0] ?? text) ? right <= 2 * left : left >= 2 * right) ? "rtl" : "ltr";
}

export const number = (n) => n.toLocaleString("en");
export function size(bytes) {
  const units = ["B", "kB", "MB", "GB"];
  let i = 0;
  for (; bytes >= 1000 && i < units.length - 1; i++) bytes /= 1000;
  return `${bytes.toFixed(i && bytes < 10 ? 1 : 0)}\u00a0${units[i]}`;
}
export const score = (s) => (Math.abs(s) < 0.01 && s !== 0 ? s.toExponential(2) : s.toFixed(3));

/** How the person's editor is addressed. */
export const editorPattern = () => kept.getItem("sheaf-editor") || "obsidian://open?path={path}";

/** The address that opens a file in the person's editor. */
export function editorAddress(file, line) {
  const pattern = editorPattern();
  // C:\notes\a.md is /C:/notes/a.md in addresses.
  const rooted = /^([a-z]:|\\)\\/i.test(file) ? file.replaceAll("\\", "/").replace(/^(?=[a-z]:)/i, "/") : file;
  const path = pattern.startsWith("obsidian:") ? encodeURIComponent(file) : encodeURI(rooted).replaceAll("#", "%23").replaceAll("?", "%3F");
  return pattern.replaceAll("{path}", path).replaceAll("{line}", String(line));
}

/** A share of a score in percent, as the command writes it. */
const percent = (share) => (Math.abs(share) < 0.005 ? "below 1 %" : `${Math.round(100 * share)} %`);

/**
 * The summary and the tree of an explanation, as nested lists that fold. From the top as much is open as one looks over;
 * where it takes the place of another one, what is open there.
 */
export function arithmetic(explanation, old, summary = []) {
  const open = new Set(), queue = [explanation];
  let left = 16; // lines
  for (const e of queue) { // which grows
    if (!e.parts?.length || e.parts.length > left) continue;
    left -= e.parts.length;
    open.add(e);
    queue.push(...e.parts);
  }
  const was = new Map([...(old?.querySelectorAll("details") || [])].map((d) => [d.dataset.at, d.open]));
  const part = (e, at) => {
    const line = [make("b", {}, Number(e.value.toPrecision(5)).toString()), " ", make("bdi", { dir: "ltr" }, e.label)];
    if (!e.parts?.length) return make("li", {}, ...line);
    return make("li", {}, make("details", { "data-at": at, open: was.get(at) ?? open.has(e) },
      make("summary", {}, ...line, e.combine && make("i", {}, ` = ${e.combine} of`)),
      make("ul", {}, ...e.parts.map((p, i) => part(p, `${at}.${i}`)))));
  };
  const tree = make("ul", {}, part(explanation, "0"));
  const all = (to) => { for (const d of tree.querySelectorAll("details")) d.open = to; };
  return make("div", { class: "why" }, summary.length > 0 && make("p", {}, summary.map((r) => `${r.text} (${percent(r.share)})`).join("; ")), tree, open.size < tree.querySelectorAll("details").length && make("button", { type: "button", class: "chip", onclick: (e) => {
    all(e.target.textContent === "unfold all");
    e.target.textContent = e.target.textContent === "unfold all" ? "fold all" : "unfold all";
  } }, "unfold all"));
}

/** The address of a view of this page. */
export const address = (state) => `${above}/` + written({ ...state, view: state.view === "search" ? "" : state.view });

/** The address of a document or passage, which takes along what was asked. */
export const documentAddress = (id, { q, filter, profile } = {}) => address({ view: "document", id, q, filter, profile });

/** What documents call a result. Profiles that find in files number the sections of these, as the index does not: such a result goes by its line, or its document. */
export const passage = (r) => (numbered(r) ? (r.line ? `${r.doc}:${r.line}` : r.doc) : r.id);
export const numbered = (r) => r.doc && r.id !== r.doc && /#\d+$/.test(r.id);
