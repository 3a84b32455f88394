// Events, newest first.

import { get } from "./api.js";
import { el, field, inward, moment, number, said, section, select, table } from "./dom.js";
import { list } from "./list.js";

export async function show(holder, context) {
  const kind = context.parameters.get("kind") ?? "";
  const failure = context.parameters.get("failure") ?? "";
  const kinds = (await get(`crawls/${context.crawl}/kinds`)).items;
  const options = [["", "all"], ...kinds.map((one) => [one.kind, `${one.kind} (${number(one.times)})`])];
  const go = (value) => (location.hash = context.address(context.crawl, "log", { kind: value }));
  const form = el("div", { class: "filters" }, field("Kind", select("kind", options, kind, go)));
  holder.append(section("Log", form, ...(await list(context, "events", { kind, failure }, (events) => drawn(context, events)))));
}

function drawn(context, events) {
  const rows = events.map((event) => [
    el("td", { class: "left" }, el("b", {}, event.kind), " ", event.url ? inward(context.address(context.crawl, "queue", { url: event.url }), el("bdi", { dir: "ltr" }, event.url)) : "", el("small", {}, said(detail(event.detail)))),
    moment(event.at),
  ]);
  return table(["What", "When"], rows, "Events");
}

function detail(facts) {
  const shown = (name, value) => (name === "again_at" ? moment(value) : typeof value === "object" ? JSON.stringify(value) : value);
  return Object.entries(facts).filter(([name, value]) => value && name !== "purpose").map(([name, value]) => `${name.replaceAll("_", " ")}: ${shown(name, value)}`).join(", ");
}
