// Failures by their reason, with examples.

import { el, inward, number, said, section, table } from "./dom.js";
import { list } from "./list.js";

export async function show(holder, context) {
  holder.append(section("Failures", ...(await list(context, "failures", {}, (failures) => drawn(context, failures), "Different reasons"))));
}

function drawn(context, failures) {
  const rows = failures.map((failure) => [
    el("td", { class: "left" }, inward(context.address(context.crawl, "log", { failure: failure.id }), said(`${failure.purpose === "page" ? "" : `${failure.purpose}: `}${failure.reason}`)),
      el("small", {}, failure.examples.map((url) => el("div", {}, inward(context.address(context.crawl, "queue", { url }), el("bdi", { dir: "ltr" }, url)))))),
    number(failure.times), number(failure.given_up),
  ]);
  return table(["Reason and last examples", "Times", "Given up"], rows, "Failures");
}
