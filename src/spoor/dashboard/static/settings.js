// Settings of the crawl, as crawl.toml has them.

import { get } from "./api.js";
import { el, section } from "./dom.js";

export async function show(holder, context) {
  const { toml } = await get(`crawls/${context.crawl}/settings`);
  holder.append(section("Settings", el("pre", { class: "settings", dir: "ltr", tabindex: "0" }, toml || "This crawl has no crawl.toml.")));
}
