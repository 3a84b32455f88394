// Hosts: what each gave and cost; sorted by any column, searched, blocked, slowed down.

import { button, el, field, inward, moment, number, percent, said, section, table, whole, wide } from "./dom.js";
import { list } from "./list.js";

const COLUMNS = [["name", "Host"], ["relevant", "Relevant"], ["pages", "Pages"], ["share", "Share"], ["failures", "Failures"], ["seconds", "Seconds"], ["last", "Last"]];
const NARROW = new Set(["name", "relevant", "pages"]);

export async function show(holder, context) {
  const chosen = Object.fromEntries(["sort", "direction", "search"].map((name) => [name, context.parameters.get(name) ?? ""]));
  const go = (changed) => (location.hash = context.address(context.crawl, "hosts", { ...chosen, ...changed }));
  const search = el("input", { type: "search", value: chosen.search, dir: "ltr", placeholder: "part of the name" });
  const submit = (event) => {
    event.preventDefault();
    go({ search: search.value });
  };
  const form = el("form", { class: "filters", onsubmit: submit, role: "search" }, field("Search", search), el("button", { type: "submit" }, "Find"));
  holder.append(section("Hosts", form, ...(await list(context, "hosts", chosen, (hosts) => drawn(context, chosen, hosts, go)))));
}

function drawn(context, chosen, hosts, go) {
  const sort = chosen.sort || "relevant";
  const ascending = chosen.direction === "ascending";
  const heads = COLUMNS.map(([key, text]) => {
    const next = key === sort && !ascending ? "ascending" : "descending";
    const order = key === sort ? (ascending ? "ascending" : "descending") : null;
    const arrow = order ? (ascending ? " ↑" : " ↓") : "";
    return el("th", { scope: "col", "aria-sort": order, class: NARROW.has(key) ? null : "wide" }, button(text + arrow, () => go({ sort: key, direction: next }), { class: "plain" }));
  });
  heads.push(el("th", { scope: "col", class: "wide" }, "Delay"), el("th", { scope: "col" }, el("span", { class: "unseen" }, "Actions")));
  return table(heads, hosts.map((host) => row(context, host)), "Hosts");
}

function row(context, host) {
  const blocked = context.overview?.blocks.includes(host.host);
  const why = host.blocked;
  const delay = wide(host.delay === null ? "–" : `${host.delay} s`);
  return [
    el("th", { scope: "row" }, inward(context.address(context.crawl, "pages", { host: host.host }), el("bdi", { dir: "ltr" }, host.host)), why ? el("small", {}, said(why)) : null),
    number(host.relevant), number(host.pages), wide(percent(host.share)), wide(number(host.failures)), wide(host.seconds.toFixed(2)), whole(moment(host.last)),
    delay,
    el("td", {}, el("div", { class: "acts" }, blocking(context, host.host, blocked), slowing(context, host, delay))),
  ];
}

function blocking(context, host, blocked) {
  const change = async (event) => {
    const action = blocked ? "unblock" : "block";
    event.target.disabled = true;
    if (await context.ask({ action, pattern: host }, `${host} is ${action}ed.`)) blocked = !blocked;
    event.target.disabled = false;
    named();
  };
  const named = () => {
    own.textContent = blocked ? "Unblock" : "Block";
    own.setAttribute("aria-label", `${own.textContent} ${host}`);
  };
  const own = button("", change);
  named();
  return own;
}

// A longer delay. The server says what is too short.
function slowing(context, host, delay) {
  const seconds = el("input", { type: "number", min: 0, step: "any", value: 2 * (host.delay || 1), "aria-label": `Seconds between two requests to ${host.host}` });
  const open = button("Slow", () => {
    open.replaceWith(form);
    seconds.focus();
  }, { "aria-label": `Slow down ${host.host}` });
  const submit = async (event) => {
    event.preventDefault();
    const asked = Number(seconds.value);
    if (await context.ask({ action: "slow down", host: host.host, seconds: asked }, `${host.host} is asked every ${asked} s at most.`)) {
      delay.textContent = `${asked} s`;
      form.replaceWith(open);
      open.focus();
    }
  };
  const form = el("form", { class: "acts", onsubmit: submit }, seconds, "s", el("button", { type: "submit" }, "Set"));
  return open;
}
