"""Pages as frameworks and people write them: those that scripts make in the browser, and those that are static."""

from __future__ import annotations

import json

CODE = "const root = document.getElementById('root'); fetch('/list').then(r => r.json()).then(draw);\n" * 6
BUNDLE = "<script defer src=/assets/index-4f1c.js></script>"
STORY = "The riders crossed the wide plain for many days until they reached the river at the foot of the hills. " * 3
MENU = "".join(f"<li><a href=/p{n}>Page {n}</a>" for n in range(8))


def shell(body: str, head: str = "") -> str:
    return f"<!doctype html><html lang=en><head><meta charset=utf-8><title>App</title>{head}</head><body>{body}</body>"


SCRIPTED = {
    "react": shell("<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>", BUNDLE),
    "vue": shell("<div id=app></div><script type=module src=/src/main.js></script>"),
    "angular": shell("<app-root></app-root><script src=runtime.js></script><script src=main.js></script>"),
    "svelte": shell("<div style='display: contents'></div><script type=module src=/_app/start.js></script>"),
    "ember": shell("<script src=/assets/vendor.js></script><script src=/assets/app.js></script>"),
    "next without prerendering": shell(
        '<div id=__next></div><script id=__NEXT_DATA__ type=application/json>{"props":{}}</script>',
        "<script src=/_next/static/main.js></script>",
    ),
    "nuxt without prerendering": shell("<div id=__nuxt></div><script>window.__NUXT__={}</script>" + BUNDLE),
    "filled by fetch, inline": shell(f"<div id=root></div><script>{CODE}</script>"),
    "inline module": shell(f"<main></main><script type=module>{CODE}</script>"),
    "script with an old type": shell(f"<div></div><script type='text/javascript; charset=utf-8'>{CODE}</script>"),
    "document.write": shell(f"<script>{'document.write(line);' * 40}</script>"),
    "loading": shell(f"<div class=spinner>Loading, please wait…</div>{BUNDLE}"),
    "endless list": shell(f"<h1>News</h1><ul id=list></ul><div id=more></div>{BUNDLE}"),
    "links by pushState": shell(f"<header><h1>Shop</h1></header><div id=view></div>{BUNDLE}"),
    "buttons with addresses": shell(f"<button data-href=/a>A</button><button data-href=/b>B</button>{BUNDLE}"),
    "menu and footer, no content": shell(f"<nav><a href=/>Home</a> <a href=/in>Log in</a></nav><p>© 2026</p>{BUNDLE}"),
    "web components": shell("<x-page><template><p>{{ text }}</p></template></x-page>" + BUNDLE),
    "service worker": shell(f"<div id=app></div><script>navigator.serviceWorker.register('/w.js');{CODE}</script>"),
    "wasm": shell("<canvas id=canvas></canvas><script src=/game.js></script>"),
    "markdown drawn in the browser": shell("<xmp></xmp><script src=/strapdown.js></script>"),
    "short text, one link": shell(f"<p>Welcome to our site.</p><p><a href=/about>About</a></p>{BUNDLE}"),
    "text of three hundred characters": shell(f"<p>{STORY}</p><div id=comments></div>{BUNDLE}"),
}
"""22 kinds; the last has text of its own, which is why the rule passes over it."""

STATIC = {
    "an article": shell(f"<nav><ul>{MENU}</ul></nav><article><p>{STORY}</p></article>"),
    "an article with scripts": shell(f"<ul>{MENU}</ul><p>{STORY}</p>{BUNDLE}<script>{CODE}</script>"),
    "a list of links": shell(f"<ul>{MENU}</ul>{BUNDLE}"),
    "a short note": shell("<p>Closed on Mondays. <a href=/>Home</a></p>"),
    "a short note that is counted": shell("<p>Closed on Mondays.</p><script>count('/note')</script>"),
    "a short note with data for search engines": shell(
        f"<p>Closed.</p><script type=application/ld+json>{json.dumps({'@type': 'Shop', 'name': 'x' * 900})}</script>"
    ),
    "nothing": shell(""),
    "an answer in Thai": shell(f"<p>{'ประเทศไทยมีภูมิอากาศแบบร้อนชื้น' * 10}</p>{BUNDLE}"),
}
