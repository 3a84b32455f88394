"""The style sheet of report.html and the dashboard: colours, light and dark mode, and shared components."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5d6b7a; --line: #dde3ea; --card: #fff; --ground: #f4f6f8;
  --accent: #0b6e75; --second: #a94a14; --third: #6247b0; --fourth: #7a6200; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e9ee; --soft: #98a5b3; --line: #313c48; --card: #1b232c;
  --ground: #12181e; --accent: #45b8bf; --second: #f0935b; --third: #b39dff; --fourth: #d8bd4a; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 1.5rem clamp(.75rem, 4vw, 3rem) 3rem; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
main, header { max-width: 72rem; margin: 0 auto; }
h1 { margin: 0; font-size: 1.6rem; overflow-wrap: anywhere; }
h2 { margin: 0 0 .6rem; font-size: 1.05rem; }
header p, .note { margin: .25rem 0 0; color: var(--soft); }
.note { margin: 0 0 .6rem; font-size: .88rem; }
.tiles, .charts { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); }
.tiles { grid-template-columns: repeat(auto-fit, minmax(max(9rem, 22%), 1fr)); margin: 1.25rem 0 .75rem; }
.columns { columns: 2 26rem; column-gap: .75rem; }
section { margin-bottom: .75rem; break-inside: avoid; }
.columns section { display: inline-block; width: 100%; }
.tile, section { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .9rem 1.1rem; }
.tile b { display: block; font-size: 1.5rem; line-height: 1.25; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: .88rem; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .92rem; }
th { color: var(--soft); font-weight: 500; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
td { text-align: right; border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; }
tr:last-child td { border-bottom: 0; }
th, td { padding: .3rem 0 .3rem 1rem; vertical-align: top; }
th:first-child, td:first-child { text-align: left; padding-left: 0; overflow-wrap: anywhere; min-width: 8rem; }
.bar { display: block; height: .3rem; margin-top: .15rem; border-radius: .15rem; background: var(--line); }
.bar i { display: block; height: 100%; border-radius: inherit; background: var(--accent); }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
small { color: var(--soft); }
svg { display: block; width: 100%; height: auto; }
.grid { stroke: var(--line); }
.tick { fill: var(--soft); font: 12px system-ui, sans-serif; }
.line { fill: none; stroke: var(--accent); stroke-width: 2.2; stroke-linejoin: round; }
.area { fill: var(--accent); opacity: .12; }
.legend { fill: var(--ink); font: 12px system-ui, sans-serif; }
.line-2 { stroke: var(--second); } .line-3 { stroke: var(--third); } .line-4 { stroke: var(--fourth); }
footer { margin-top: 1rem; color: var(--soft); font-size: .85rem; text-align: center; }
@media print { :root { --ink: #000; --soft: #444; --line: #bbb; --card: #fff; --ground: #fff; --accent: #0b6e75; }
  body { padding: 0; font-size: 11px; } .tile { break-inside: avoid; }
  .bar i, .area { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""
