"""Options of `spoor doctor`."""

from __future__ import annotations

from spoor.cli.command import Commands, add_command, add_json

DOCTOR_EXAMPLES = """
spoor doctor
spoor doctor --json > doctor.json
"""


def register_doctor(commands: Commands) -> None:
    summary = "say what this installation is and lacks, each with its remedy; exit with 1 if a crawl cannot run"
    add_json(add_command(commands, "doctor", summary, DOCTOR_EXAMPLES, "doctor.run_doctor"))
