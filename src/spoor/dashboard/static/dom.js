// Elements and their text. Whatever came from a crawl is set as text, never as markup.

export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

// Text in any script and direction, which does not turn what stands beside it.
export function said(text) {
  return el("bdi", { dir: "auto" }, String(text ?? ""));
}

// Only what leads to the web is a link.
export function outward(url, text = url) {
  if (!/^https?:\/\//i.test(url)) return said(text);
  return el("a", { href: url, rel: "noreferrer noopener nofollow", target: "_blank" }, said(text));
}

// A text in pieces, of which some are words to be seen.
export function marks(pieces) {
  return pieces.map((piece) => (piece.marked ? el("mark", {}, piece.text) : piece.text));
}

export function inward(address, ...children) {
  return el("a", { href: address }, ...children);
}

export function button(text, act, more = {}) {
  return el("button", { type: "button", onclick: act, ...more }, text);
}

export function section(title, ...children) {
  return el("section", {}, el("h2", {}, title), ...children);
}

export function tile(number, meaning, more = null) {
  return el("div", { class: "tile" }, el("b", {}, number), el("span", {}, meaning), more && " ", more);
}

export function table(columns, rows, caption) {
  const head = columns.map((column) => (column instanceof Node ? column : el("th", { scope: "col" }, column)));
  const body = rows.map((cells) => el("tr", {}, cells.map((cell) => (cell instanceof HTMLTableCellElement ? cell : el("td", {}, cell)))));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, body)));
}

export function wide(...children) {
  return el("td", { class: "wide" }, ...children);
}

// On one line.
export function whole(...children) {
  return el("td", { class: "wide whole" }, ...children);
}

export function wideHead(text) {
  return el("th", { class: "wide", scope: "col" }, text);
}

export function field(label, control) {
  return el("label", { class: "field" }, el("span", {}, label), control);
}

export function select(name, options, chosen, change) {
  const list = options.map(([value, text]) => el("option", { value, selected: value === chosen }, text));
  return el("select", { name, onchange: (event) => change(event.target.value) }, list);
}

// SVG that our own server drew.
export function drawing(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  return document.importNode(parsed, true);
}

const integers = new Intl.NumberFormat("en");

export const number = (value) => integers.format(Math.round(value));
export const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)}\u00a0%`;
export const moment = (at) => (at ? new Date(1000 * at).toLocaleString("sv-SE") : "–");

export function bytes(count) {
  for (const [unit, length] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
    if (count >= length) return `${(count / length).toFixed(1)} ${unit}`;
  }
  return `${count} bytes`;
}

export function duration(seconds) {
  for (const [unit, length] of [["days", 86400], ["hours", 3600], ["minutes", 60]]) {
    if (seconds >= 2 * length) return `${(seconds / length).toFixed(1)} ${unit}`;
  }
  return `${seconds.toFixed(1)} s`;
}
