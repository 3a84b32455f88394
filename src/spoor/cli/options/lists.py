"""Options of `spoor judge`, `spoor strategies`, `spoor judges` and `spoor completion`."""

from __future__ import annotations

from spoor.cli.command import Commands, add_command, add_json

JUDGE_EXAMPLES = """
spoor judge mn page.html
spoor judge gsw.spoor letter.txt other.html
spoor judge script:thai:least=0.5 - < page.html
spoor judge crawl.toml page.html
"""

STRATEGIES_EXAMPLES = """
spoor strategies
spoor compare WEB --strategies breadth-first,limited-distance:n=3 …
"""

JUDGES_EXAMPLES = """
spoor judges
spoor compare WEB --judge charset:th:sources=meta …
"""

COMPLETION_EXAMPLES = """
spoor completion bash > ~/.local/share/bash-completion/completions/spoor
spoor completion zsh > ~/.zsh/completions/_spoor        (a folder of $fpath)
spoor completion fish > ~/.config/fish/completions/spoor.fish
"""

SHELLS = ("bash", "zsh", "fish")


def register_judge(commands: Commands) -> None:
    summary = "show the verdict of a judge on local pages, and the n-grams that decide"
    parser = add_command(commands, "judge", summary, JUDGE_EXAMPLES, "catalogue.run_judge")
    parser.add_argument(
        "target", metavar="TARGET", help="a language tag, a model, a judge such as script:thai, or a crawl.toml"
    )
    parser.add_argument("pages", nargs="+", metavar="PAGE", help="a file of HTML or text; - reads standard input")
    add_json(parser)


def register_strategies(commands: Commands) -> None:
    summary = "list the strategies with their parameters and sources"
    add_json(add_command(commands, "strategies", summary, STRATEGIES_EXAMPLES, "catalogue.run_strategies"))


def register_judges(commands: Commands) -> None:
    summary = "list the judges with their parameters and sources"
    add_json(add_command(commands, "judges", summary, JUDGES_EXAMPLES, "catalogue.run_judges"))


def register_completion(commands: Commands) -> None:
    summary = "print a script that completes spoor commands and options in a shell"
    parser = add_command(commands, "completion", summary, COMPLETION_EXAMPLES, "catalogue.run_completion")
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")
