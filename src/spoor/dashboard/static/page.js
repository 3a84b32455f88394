// One page: why it was judged so, its text with the words of the reason marked, and the archived page.

import { get } from "./api.js";
import { bytes, button, el, inward, marks, moment, outward, said, section } from "./dom.js";
import { marking } from "./marking.js";

export async function show(holder, context) {
  const path = `crawls/${context.crawl}/pages/${encodeURIComponent(context.id)}`;
  const { page, text, shortened, why } = await get(path);
  holder.append(
    el("p", {}, inward(context.address(context.crawl, "pages"), "← Pages")),
    section(said(page.title.trim() || page.url),
      el("p", { class: "url" }, outward(page.url)),
      el("p", {}, el("b", {}, page.relevant ? "Relevant" : "Irrelevant"), ` ${page.relevance.toFixed(2)}: `, said(page.because)),
      el("p", { class: "facts" }, [moment(page.fetched_at), page.language, `HTTP ${page.status}`, bytes(page.size)].filter(Boolean).join(" · ")),
      el("p", {}, "Do you agree? ", marking(context, page)),
      page.duplicate_of ? el("p", { class: "note" }, "A duplicate of ", outward(page.duplicate_of)) : null),
    section("Archived page", preview(`/api/v1/${path}/preview`, page)),
    section("Text", text.length ? el("div", { class: "text", dir: "auto", lang: page.language || null, tabindex: "0", role: "region", "aria-label": "Text" }, marks(text)) : el("p", { class: "note" }, "No text in the archive."),
      shortened ? el("p", { class: "note" }, "The text continues.") : null),
    section("Why", lines(why)),
  );
}

// Nothing is allowed: no scripts, no origin, no forms, no windows.
function preview(address, page) {
  if (!page.kept) return el("p", { class: "note" }, "It is not in the archive.");
  const place = el("div");
  const open = () => place.replaceChildren(el("iframe", { src: address, sandbox: "", referrerpolicy: "no-referrer", title: "The archived page", loading: "lazy" }));
  place.append(button("Show, without scripts and pictures", open));
  return place;
}

export function lines(why) {
  return el("dl", { class: "why" }, why.map((line) => [el("dt", {}, line.name), el("dd", {}, said(line.what))]));
}
