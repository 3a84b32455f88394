// A judge that is taught: pages that it asks about, answered here; what it has learned so far.

import { get, query } from "./api.js";
import { button, el, marks, moment, number, outward, said, section, table, tile, whole, wide, wideHead } from "./dom.js";
import { list } from "./list.js";

const AT_ONCE = 5;

export async function show(holder, context) {
  if (!context.overview?.teaching) throw new Error("the judge of this crawl cannot be taught; crawl with [target] like or about");
  const figures = el("div", { class: "tiles" });
  const place = el("div", { class: "question" });
  const asking = questions(context, place);
  const lessons = el("div");
  holder.append(section("Is this page relevant?", place, note(context.overview)), figures, lessons);
  let version = -1;
  const update = async (crawls, overview) => {
    const teaching = overview?.teaching;
    if (!teaching) return;
    learned(figures, teaching);
    if (teaching.version === version) return;
    version = teaching.version;
    asking.forget();
    lessons.replaceChildren(section("Lessons", ...(await list(context, "events", { kind: "taught" }, drawn))));
  };
  await asking.next();
  await update(context.crawls, context.overview);
  return update;
}

function note(overview) {
  const live = overview.state === "running" || overview.state === "paused";
  return el("p", { class: "note" }, live ? "The crawl learns from some answers at a time, and goes on meanwhile." : "The judge learns from the answers when the crawl is resumed.");
}

function learned(holder, teaching) {
  holder.replaceChildren(
    tile(number(teaching.answers), `pages with an answer; ${number(teaching.questions)} questions are allowed`),
    tile(number(teaching.version), "lessons, each from all answers so far"),
    tile(number(teaching.turned), "verdicts revised by them"),
    tile(number(teaching.surprises), "answers that contradict confident verdicts"),
    tile(number(teaching.contradictions), "pages on which two teachers disagree"),
  );
}

// One page after the other. Those that were passed over are not asked about again until the view is opened anew.
function questions(context, place) {
  const done = new Set();
  let waiting = [];
  const next = async () => {
    if (!waiting.length) {
      const limit = Math.min(500, AT_ONCE + done.size);
      waiting = (await get(`crawls/${context.crawl}/questions${query({ limit })}`)).items.filter((one) => !done.has(one.url));
    }
    const question = waiting.shift();
    place.replaceChildren(question ? asked(question) : el("p", {}, "There is no page to ask about now. Try again when the crawl has fetched more."));
  };
  const answer = (question, relevant) => async () => {
    if (relevant !== null && !(await context.ask({ action: "mark", url: question.url, relevant }))) return;
    done.add(question.url);
    await next();
  };
  const asked = (question) => {
    const opinion = `The judge says ${question.relevance >= 0.5 ? "yes" : "no"}, probability ${question.relevance.toFixed(2)}.`;
    return el("article", {},
      el("h3", {}, said(question.title.trim() || question.url)),
      el("p", { class: "url" }, outward(question.url)),
      el("div", { class: "text", dir: "auto", tabindex: "0", role: "region", "aria-label": "Beginning of the text" }, marks(question.text)),
      el("p", { class: "facts" }, opinion),
      el("div", { class: "filters" }, button("Relevant", answer(question, true)), button("Not relevant", answer(question, false)), button("Skip", answer(question, null))));
  };
  return { next, forget: () => (waiting = []) };
}

function drawn(events) {
  const rows = events.map(({ at, detail }) => [
    el("th", { scope: "row" }, `version ${detail.version}`), number(detail.answers), number(detail.changed), wide(number(detail.surprises)), wide(number(detail.contradictions)), whole(moment(at)),
  ]);
  return table(["Judge", "Answers", "Verdicts revised", wideHead("Against what was sure"), wideHead("Two answers"), wideHead("When")], rows, "Lessons");
}
