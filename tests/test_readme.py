"""What the README says is what happens."""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")

OPEN_IT = """
from streamlit.testing.v1 import AppTest
at = AppTest.from_file("pages/frame.py", default_timeout=30).run()
at.switch_page("99_name.py").run()
assert not at.exception, at.exception
assert [title.value for title in at.title] == ["Name"], at.title
assert len(at.get("plotly_chart")) == 1
assert any("1 of 1 hold" in box.label for box in at.expander), [box.label for box in at.expander]
print("opened")
"""


def test_the_lesson_in_ten_lines_works(tmp_path):
    lesson = re.search(r"```python\n(.*?)```", README, re.S)[1]
    assert len(lesson.strip().splitlines()) <= 12
    copy = tmp_path / "app"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__", "tests"))
    (copy / "pages" / "99_name.py").write_text('"""A lesson."""\n\n' + lesson, encoding="utf-8")
    syllabus = copy / "pages" / "shared" / "syllabus.py"
    source = syllabus.read_text(encoding="utf-8")
    entry = '    Lesson("99_name.py", "name", ATTENTION, "Name", "A question?", "an idea"),\n)\n\n\ndef by_url'
    syllabus.write_text(source.replace(")\n\n\ndef by_url", entry), encoding="utf-8")
    assert entry in syllabus.read_text(encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", OPEN_IT], cwd=copy, capture_output=True, text=True, timeout=120, check=False)
    assert "opened" in done.stdout, done.stderr


def test_every_room_that_the_readme_names_is_there():
    house = re.search(r"```\napp\.py.*?```", README, re.S)[0]
    for line in house.splitlines():
        if found := re.match(r"  ([a-z_]+(?: · [a-z_]+)*)  ", line):
            for name in found[1].split(" · "):
                assert (ROOT / "core" / f"{name}.py").exists() or (ROOT / "pages" / "shared" / f"{name}.py").exists(), name


def test_the_picture_is_there():
    for path in re.findall(r"!\[.*?\]\((.*?)\)", README):
        assert (ROOT / path).stat().st_size > 10_000
