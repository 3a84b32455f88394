"""How property tests run: without a clock, because the machine that runs them may be busy with something else. And
that the processes which tests start keep the bytecode they make: hundreds of them import all of spoor."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")
