// A crawl at a glance, side by side with others, and the buttons that steer it.

import { query, svg } from "./api.js";
import { button, bytes, drawing, duration, el, field, inward, moment, number, percent, section, select, tile } from "./dom.js";

const CHARTS = [
  ["relevant", "Relevant pages found"],
  ["share", "Share of relevant pages, lately, in percent"],
  ["waiting", "Links waiting"],
  ["failures", "Failures"],
];

export async function show(holder, context) {
  if (!context.overview) throw new Error(`there is no crawl ${context.crawl}`);
  const over = context.parameters.get("over") ?? "visits";
  const beside = new Set((context.parameters.get("beside") ?? "").split(",").filter(Boolean));
  const numbers = el("div", { class: "tiles" });
  const forecast = el("div");
  const charts = el("div", { class: "charts" });
  const steering = el("div");
  const drawn = CHARTS.map(([what, title]) => {
    const place = el("div", { class: "chart", "data-what": what });
    charts.append(section(title, place));
    return [what, place];
  });
  const redraw = async () => {
    const crawls = [context.crawl, ...beside].join(",");
    for (const [what, place] of drawn) place.replaceChildren(drawing(await svg(`chart${query({ what, over, crawls })}`)));
  };
  const go = (parameters) => (location.hash = context.address(context.crawl, "overview", { over, beside: [...beside].join(","), ...parameters }));
  holder.append(numbers, forecast, choices(context, over, beside, go), charts, steering);
  let known = "";
  const update = (crawls, overview) => {
    if (!overview) return;
    tiles(numbers, context, overview);
    forecast.replaceChildren(expectation(overview));
    const now = JSON.stringify(crawls.map((one) => [one.requests, one.visits, one.waiting]));
    if (known && now !== known) redraw();
    known = now;
    const state = `${overview.state} ${overview.blocks.join()} ${overview.max_pages} ${overview.max_minutes}`;
    if (steering.dataset.state !== state) {
      steering.dataset.state = state;
      steering.replaceChildren(controls(context, overview));
    }
  };
  update(context.crawls, context.overview);
  await redraw();
  return update;
}

function tiles(holder, context, crawl) {
  const known = crawl.counted < 1 ? el("small", {}, `counted up to ${percent(crawl.counted)}`) : null;
  const { expected, teaching } = crawl;
  const more = [];
  if (expected) more.push(tile(number(expected.among_waiting), `relevant pages expected among the waiting links; with those yet to be discovered, ${number(expected.next_200)} in the next 200 requests and ${number(expected.next_500)} in the next 500`));
  if (teaching) more.push(tile(number(teaching.answers), `answers taught the judge, in ${number(teaching.version)} lessons; ${number(teaching.turned)} verdicts revised`, inward(context.address(crawl.number, "teach"), "Teach")));
  for (const one of more) one.classList.add("broad");
  holder.replaceChildren(
    tile(number(crawl.relevant), "relevant pages", known),
    tile(percent(crawl.share), `of ${number(crawl.pages)} pages are relevant; ${percent(crawl.share_lately)} lately`),
    tile(number(crawl.visits), `visits in ${duration(crawl.seconds)}, ${crawl.per_second.toFixed(1)} per second lately; ${number(crawl.requests)} requests`),
    tile(number(crawl.waiting), `links waiting; ${number(crawl.parked)} parked, ${number(crawl.returning)} to be tried again, ${number(crawl.in_transit)} in transit`),
    tile(number(crawl.failures), `failures; ${number(crawl.retries)} visits to be tried again, ${number(crawl.redirects)} redirects, ${number(crawl.excused)} excused`),
    tile(bytes(crawl.bytes), "fetched"),
    tile(number(crawl.hosts), `hosts visited; ${number(crawl.hosts_with_relevant)} with relevant pages`),
    tile(duration(crawl.idle), "idle by choice: connections left free for better links"),
    ...more,
  );
}

function expectation(crawl) {
  const forecast = crawl.forecast;
  const began = `Began ${moment(crawl.began)}, last heard of ${moment(crawl.last)}.`;
  if (!forecast) return el("p", { class: "note" }, began);
  const ends = `The budget ends about ${moment(forecast.ends_at)}, after ${number(forecast.visits)} more visits.`;
  const expected = `By then about ${number(forecast.relevant)} relevant pages are expected (${number(forecast.at_least)} to ${number(forecast.at_most)}, if it continues as in ${forecast.basis}).`;
  return el("p", { class: "note" }, `${began} ${ends} ${expected}`);
}

function choices(context, over, beside, go) {
  const parts = [field("Over", select("over", [["visits", "visits"], ["time", "time"]], over, (value) => go({ over: value })))];
  for (const other of context.crawls.filter((one) => one.number !== context.crawl)) {
    const key = String(other.number);
    const change = () => {
      if (!beside.delete(key)) beside.add(key);
      go({});
    };
    parts.push(el("label", { class: "tick-box" }, el("input", { type: "checkbox", checked: beside.has(key), onchange: change }), ` beside ${other.name}`));
  }
  return el("div", { class: "filters" }, parts);
}

function controls(context, crawl) {
  const run = (action, done) => () => context.ask(action, done);
  const live = crawl.state === "running" || crawl.state === "paused";
  const buttons = live
    ? [
        crawl.state === "paused" ? button("Resume", run({ action: "unpause" }, "The crawl resumes.")) : button("Pause", run({ action: "pause" }, "The crawl pauses.")),
        button("Stop", () => confirm("Stop this crawl? It can be resumed by `spoor crawl`.") && run({ action: "stop" }, "The crawl stops.")(), { class: "danger" }),
      ]
    : [el("p", { class: "note" }, "The crawl is not running: actions are applied now or when it is resumed.")];
  return section("Steer", el("div", { class: "filters" }, buttons), forms(run, crawl), blocks(run, crawl));
}

function forms(run, crawl) {
  const budget = el("input", { type: "number", min: 1, value: crawl.max_pages ?? "", size: 9 });
  const seeds = el("textarea", { rows: 2, dir: "ltr", placeholder: "https://example.org/" });
  const pattern = el("input", { type: "text", dir: "ltr", placeholder: "ads.example.org" });
  const lines = () => seeds.value.split(/\s+/).filter(Boolean);
  return el("div", { class: "steer" },
    el("div", { class: "filters" }, field("Budget of visits", budget), button("Set", () => run({ action: "budget", max_pages: Number(budget.value) }, "The budget is set.")())),
    el("div", { class: "filters" }, field("Host or pattern", pattern), button("Block", () => run({ action: "block", pattern: pattern.value }, `${pattern.value} is blocked.`)())),
    el("div", { class: "filters" }, field("Seeds, one a line", seeds), button("Add", () => run({ action: "add seeds", urls: lines() }, "The seeds were added.")())),
  );
}

function blocks(run, crawl) {
  if (!crawl.blocks.length) return null;
  const items = crawl.blocks.map((pattern) => el("li", {}, el("code", { dir: "ltr" }, pattern), " ", button("Unblock", run({ action: "unblock", pattern }, `${pattern} is unblocked.`), { "aria-label": `Unblock ${pattern}` })));
  return el("div", {}, el("h3", {}, "Blocked"), el("ul", {}, items));
}
