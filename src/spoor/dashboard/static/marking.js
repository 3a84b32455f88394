// What a person says of a page: relevant or not; the same button again takes it back.

import { button, el } from "./dom.js";

export function marking(context, page) {
  const mark = (relevant) => async () => {
    const said = page.mark === relevant ? null : relevant;
    if (await context.ask({ action: "mark", url: page.url, relevant: said })) {
      page.mark = said;
      draw();
    }
  };
  const about = page.title.trim() || page.url;
  const yes = button("✓", mark(true), { "aria-label": `Mark as relevant: ${about}`, title: "Mark as relevant" });
  const no = button("✗", mark(false), { "aria-label": `Mark as not relevant: ${about}`, title: "Mark as not relevant" });
  function draw() {
    yes.setAttribute("aria-pressed", String(page.mark === true));
    no.setAttribute("aria-pressed", String(page.mark === false));
  }
  draw();
  return el("span", { class: "marks" }, yes, no);
}
