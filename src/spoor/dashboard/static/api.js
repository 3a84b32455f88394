// Questions to the server that this page came from, and actions.

let csrf = "";

async function answer(response) {
  if (response.ok) return response;
  let problem = response.statusText;
  try {
    problem = (await response.json()).error;
  } catch {
    // The status has to do.
  }
  throw new Error(problem);
}

export async function get(path) {
  return (await answer(await fetch(`/api/v1/${path}`))).json();
}

export async function svg(path) {
  return (await answer(await fetch(`/api/v1/${path}`))).text();
}

export async function act(crawl, action) {
  csrf ||= (await get("session")).csrf;
  const response = await fetch(`/api/v1/crawls/${crawl}/actions`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Spoor-CSRF": csrf },
    body: JSON.stringify(action),
  });
  const receipt = await (await answer(response)).json();
  if (receipt.refused) throw new Error(receipt.refused);
  return receipt;
}

export function query(parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const text = new URLSearchParams(given).toString();
  return text ? `?${text}` : "";
}

export function follow(changed, lost) {
  const stream = new EventSource("/api/v1/stream");
  stream.addEventListener("crawls", (event) => changed(JSON.parse(event.data)));
  stream.addEventListener("error", lost);
}
