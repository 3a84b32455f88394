"""`python -m bench [PART] [options]`: run one part, or all of them."""

from __future__ import annotations

import sys

from bench import (
    bounds,
    browser,
    compiled,
    dashboard,
    deciding,
    documents,
    effort,
    endurance,
    expected_finds,
    extraction,
    frontier,
    growth,
    language,
    language_judges,
    learned,
    live,
    live_vs_simulated,
    local_disks,
    long_crawl,
    ontologies,
    path_models,
    reading,
    rendering,
    reports,
    resume,
    shard_costs,
    shards,
    signs,
    sitemap_links,
    sitemaps,
    stages,
    startup,
    teaching,
    topic_judges,
    topics,
    transcriber,
    traps,
    watching,
)

PARTS = {
    "bounds": bounds.main,
    "browser": browser.main,
    "compiled": compiled.main,
    "dashboard": dashboard.main,
    "deciding": deciding.main,
    "documents": documents.main,
    "effort": effort.main,
    "frontier": frontier.main,
    "growth": growth.main,
    "live": live.main,
    "stages": stages.main,
    "startup": startup.main,
    "live-vs-simulated": live_vs_simulated.main,
    "local-disks": local_disks.main,
    "long-crawl": long_crawl.main,
    "endurance": endurance.main,
    "expected-finds": expected_finds.main,
    "learned": learned.main,
    "shards": shards.main,
    "shard-costs": shard_costs.main,
    "signs": signs.main,
    "sitemap-links": sitemap_links.main,
    "sitemaps": sitemaps.main,
    "teaching": teaching.main,
    "traps": traps.main,
    "language": language.main,
    "language-judges": language_judges.main,
    "reading": reading.main,
    "rendering": rendering.main,
    "reports": reports.main,
    "extraction": extraction.main,
    "topic-judges": topic_judges.main,
    "topics": topics.main,
    "ontologies": ontologies.main,
    "path-models": path_models.main,
    "resume": resume.main,
    "transcriber": transcriber.main,
    "watching": watching.main,
}


def main() -> int:
    name, options = (sys.argv[1], sys.argv[2:]) if sys.argv[1:] and sys.argv[1] in PARTS else ("", sys.argv[1:])
    if options and not name:
        print(f"bench: no part is called {options[0]!r}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    for part in [PARTS[name]] if name else PARTS.values():
        part(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
