"""What several test files share: the worked examples, and how Hypothesis searches."""

import json
from pathlib import Path

import pytest
from hypothesis import settings

collect_ignore_glob = ["golden/*.py", "benchmarks/*.py"]  # scripts to be run by hand; some need PyTorch

settings.register_profile("repeatable", max_examples=60, deadline=None, derandomize=True)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def worked():
    """Examples worked outside this project, with how their numbers were drawn; rounded to 8 decimals."""
    return json.loads((Path(__file__).parent / "golden" / "worked_examples.json").read_text(encoding="utf-8"))
