// Pages: newest, best or borderline; by host, language, verdict and words of their text; with marks.

import { get } from "./api.js";
import { el, field, inward, moment, percent, said, select } from "./dom.js";
import { list } from "./list.js";
import { marking } from "./marking.js";

const ORDERS = [["newest", "newest"], ["best", "best"], ["borderline", "borderline"]];
const VERDICTS = [["", "any"], ["relevant", "relevant"], ["irrelevant", "irrelevant"]];

export async function show(holder, context) {
  const chosen = Object.fromEntries(["order", "search", "host", "language", "verdict"].map((name) => [name, context.parameters.get(name) ?? ""]));
  const languages = (await get(`crawls/${context.crawl}/languages`)).items;
  holder.append(
    el("section", {}, el("h2", {}, "Pages"), filters(context, chosen, languages), ...(await list(context, "pages", chosen, (pages) => cards(context, pages)))),
  );
}

function filters(context, chosen, languages) {
  const go = (changed) => (location.hash = context.address(context.crawl, "pages", { ...chosen, ...changed }));
  const search = el("input", { type: "search", name: "search", value: chosen.search, dir: "auto", placeholder: "words in any script" });
  const host = el("input", { type: "text", name: "host", value: chosen.host, dir: "ltr", placeholder: "example.org" });
  const named = [["", "any"], ...languages.map((one) => [one.language, `${one.language} (${one.pages})`])];
  const submit = (event) => {
    event.preventDefault();
    go({ search: search.value, host: host.value });
  };
  const searchable = context.overview?.searchable ?? 1;
  const note = searchable < 0.999 ? el("p", { class: "note" }, `The texts of ${percent(searchable)} of the pages are indexed so far.`) : null;
  return el("form", { class: "filters", onsubmit: submit, role: "search" },
    field("Search", search), field("Host", host),
    field("Order", select("order", ORDERS, chosen.order || "newest", (order) => go({ order }))),
    field("Language", select("language", named, chosen.language, (language) => go({ language }))),
    field("Verdict", select("verdict", VERDICTS, chosen.verdict, (verdict) => go({ verdict }))),
    el("button", { type: "submit" }, "Find"), note);
}

function cards(context, pages) {
  return el("ul", { class: "cards" }, pages.map((page) => card(context, page)));
}

function card(context, page) {
  return el("li", { class: page.relevant ? "relevant" : "irrelevant" },
    el("div", { class: "what" },
      el("h3", {}, inward(context.address(context.crawl, `page/${page.id}`), said(page.title.trim() || page.url))),
      el("p", { class: "url" }, el("bdi", { dir: "ltr" }, page.url)),
      el("p", { class: "because" }, said(page.because)),
      el("p", { class: "facts" }, facts(page))),
    el("div", { class: "verdict" },
      el("b", {}, page.relevance.toFixed(2)), el("span", {}, page.relevant ? "relevant" : "irrelevant"), marking(context, page)));
}

function facts(page) {
  return [moment(page.fetched_at), page.language, `HTTP ${page.status}`, page.duplicate_of && "duplicate", page.needs_scripts && "needs scripts", !page.kept && "not in the archive"].filter(Boolean).join(" · ");
}
