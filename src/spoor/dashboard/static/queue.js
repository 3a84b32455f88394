// Links that wait, and why; and the explanation of any URL.

import { get, query } from "./api.js";
import { el, field, inward, moment, section, table, whole, wide, wideHead } from "./dom.js";
import { list } from "./list.js";
import { lines } from "./page.js";

export async function show(holder, context) {
  const url = context.parameters.get("url") ?? "";
  const host = context.parameters.get("host") ?? "";
  holder.append(section("Why?", asking(context, url), url ? await explained(context, url) : null));
  holder.append(section("Links waiting", ...(await list(context, "queue", { host }, (links) => drawn(context, links)))));
}

function asking(context, url) {
  const input = el("input", { type: "text", inputmode: "url", value: url, dir: "ltr", placeholder: "https://example.org/about", class: "long" });
  const submit = (event) => {
    event.preventDefault();
    location.hash = context.address(context.crawl, "queue", { url: input.value });
  };
  return el("form", { class: "filters", onsubmit: submit }, field("Why was a URL fetched, not yet, or never?", input), el("button", { type: "submit" }, "Explain"));
}

async function explained(context, url) {
  try {
    const found = await get(`crawls/${context.crawl}/why${query({ url })}`);
    return el("div", {}, el("p", { class: "url" }, el("bdi", { dir: "ltr" }, found.url)), lines(found.lines));
  } catch (error) {
    return el("p", { role: "alert" }, error.message);
  }
}

function drawn(context, links) {
  const rows = links.map((link) => [
    el("td", { class: "left" }, inward(context.address(context.crawl, "queue", { url: link.url }), el("bdi", { dir: "ltr" }, link.url)), el("small", {}, evidence(link.evidence))),
    String(link.place), whole(link.key), wide(String(link.depth)), whole(moment(link.free_at)),
  ]);
  return table(["Link", "Place", wideHead("Key"), wideHead("Depth"), wideHead("Host free at")], rows, "Links waiting");
}

function evidence(numbers) {
  return Object.entries(numbers).filter(([, value]) => value).map(([name, value]) => `${name.replaceAll("_", " ")} ${Number(value.toFixed(2))}`).join(", ");
}
