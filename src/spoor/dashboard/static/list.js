// A list that is read a part at a time, with links to the whole of it as files.

import { get, query } from "./api.js";
import { button, el } from "./dom.js";

export async function list(context, path, parameters, draw, what = "") {
  const base = `crawls/${context.crawl}/${path}`;
  const items = [];
  const holder = el("div", { class: "list" });
  let cursor = "";
  const more = button("Show more", read);
  const note = el("p", { class: "note" });
  async function read() {
    const part = await get(base + query({ ...parameters, cursor }));
    items.push(...part.items);
    cursor = part.cursor;
    holder.replaceChildren(draw(items));
    more.hidden = !cursor;
    note.textContent = items.length ? `${what && `${what}: `}${items.length}${cursor ? " shown, there are more" : " in all"}` : "Nothing here.";
  }
  await read();
  const files = ["csv", "jsonl"].map((format) => el("a", { href: `/api/v1/${base}${query({ ...parameters, format })}`, download: "" }, format.toUpperCase()));
  return [note, holder, el("p", { class: "below" }, more, el("span", { class: "files" }, "All as ", files[0], " ", files[1]))];
}
