// Which view is shown, of which crawl; and what happens when the server has news.

import { act, follow, get, query } from "./api.js";
import { el, inward } from "./dom.js";
import * as failures from "./failures.js";
import * as hosts from "./hosts.js";
import * as log from "./log.js";
import * as overview from "./overview.js";
import * as page from "./page.js";
import * as pages from "./pages.js";
import * as queue from "./queue.js";
import * as settings from "./settings.js";
import * as teach from "./teach.js";

const VIEWS = { overview, pages, teach, hosts, queue, failures, log, settings };
const TITLES = { overview: "Overview", pages: "Pages", teach: "Teach", hosts: "Hosts", queue: "Queue", failures: "Failures", log: "Log", settings: "Settings" };
const main = document.getElementById("view");
let crawls = [];
let update = null;
let shown = "";

function address(crawl, view, parameters = {}) {
  return `#/${crawl}/${view}${query(parameters)}`;
}

function say(text) {
  document.getElementById("message").textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => say(""), 8000);
}

// Whether an action was done; what became of it is said.
async function ask(crawl, action, done) {
  try {
    await act(crawl, action);
    if (done) say(done);
    return true;
  } catch (error) {
    say(error.message);
    return false;
  }
}

function place() {
  const [path, parameters = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [crawl, view, id] = path.split("/");
  return { crawl: Number(crawl) || 1, view: view || "overview", id, parameters: new URLSearchParams(parameters) };
}

async function show() {
  if (location.hash === "#view") return;
  const now = place();
  const context = { ...now, crawls, address, ask: (action, done) => ask(now.crawl, action, done), overview: crawls.find((one) => one.number === now.crawl) };
  const view = now.view === "page" ? page : VIEWS[now.view] ?? overview;
  const mine = (shown = location.hash);
  update = null;
  heading(now);
  const holder = el("div", { class: "view" });
  try {
    const news = await view.show(holder, context);
    if (shown !== mine) return;
    main.replaceChildren(holder);
    update = news ?? null;
  } catch (error) {
    if (shown === mine) main.replaceChildren(el("section", {}, el("p", { role: "alert" }, error.message)));
  }
}

function heading(now) {
  const crawl = crawls.find((one) => one.number === now.crawl);
  if (!crawl) return;
  document.title = `${crawl.name} – spoor`;
  document.getElementById("name").textContent = crawl.name;
  const state = document.getElementById("state");
  state.textContent = crawl.state;
  state.className = `state ${crawl.state}`;
  const about = [crawl.target, crawl.strategy && `by ${crawl.strategy}`, crawl.because];
  document.getElementById("about").textContent = about.filter(Boolean).join(" · ");
  navigation(now, crawl);
  choice(now);
}

function navigation(now, crawl) {
  const current = now.view === "page" ? "pages" : now.view;
  const links = Object.keys(VIEWS).filter((view) => view !== "teach" || crawl.teaching).map((view) => {
    const link = inward(address(now.crawl, view), TITLES[view]);
    if (view === current) link.setAttribute("aria-current", "page");
    return link;
  });
  const bar = document.getElementById("views");
  if (bar.children.length !== links.length || bar.dataset.at !== `${now.crawl}/${current}`) {
    bar.replaceChildren(...links);
    bar.dataset.at = `${now.crawl}/${current}`;
  }
}

function choice(now) {
  const list = document.getElementById("crawl");
  document.getElementById("choice").hidden = crawls.length < 2;
  if (list.options.length !== crawls.length) {
    list.replaceChildren(...crawls.map((one) => el("option", { value: one.number }, `${one.number} ${one.name}`)));
    list.addEventListener("change", () => (location.hash = address(list.value, place().view === "page" ? "pages" : place().view)));
  }
  list.value = String(now.crawl);
}

function changed(news) {
  crawls = news;
  document.body.classList.remove("lost");
  heading(place());
  update?.(crawls, crawls.find((one) => one.number === place().crawl));
}

window.addEventListener("hashchange", show);
crawls = await get("crawls");
await show();
follow(changed, () => document.body.classList.add("lost"));
