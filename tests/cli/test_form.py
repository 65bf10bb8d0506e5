"""The form of the page predicts what the model predicts."""

import re
import shutil
import subprocess

import pytest

import colk as package

NODE = shutil.which("node")
# A page of a browser, as far as the script uses it.
BROWSER = """
const shown = {};
const fields = NAMES.map(([name, value]) => ({name, value, setAttribute() {}}));
const document = {getElementById: id => id === "predict"
  ? {elements: fields, addEventListener() {}} : shown};
"""


def fields(page):
    found = re.findall(r'<input name="([^"]+)" value="([^"]*)"', page)
    for name, options in re.findall(r'<select name="([^"]+)">(.*?)</select>', page, re.S):
        found.append((name, re.search(r"<option selected>([^<]+)", options)[1]))
    return dict(found)


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize("target", ["price", "kind"])
def test_the_page_predicts(colk, houses, tmp_path, target):
    page, model = tmp_path / "page.html", tmp_path / "m"
    options = (
        ["--intervals", "0.9", "--exclude", "kind"] if target == "price" else ["--exclude", "price"]
    )
    assert (
        colk("fit", houses, "--target", target, "--model", model, "--report", page, *options)[0]
        == 0
    )
    text = page.read_text()
    row = fields(text)
    assert row["city"] in ("Bonn", "Rome")
    row["age"], row["city"] = "", "Paris"
    script = BROWSER.replace("NAMES", str([list(pair) for pair in row.items()]))
    script += re.search(r"<script>(.*?)</script>", text, re.S)[1]
    done = subprocess.run(
        [NODE],
        input=f"{script}\nconsole.log(shown.textContent)",
        capture_output=True,
        text=True,
        check=True,
    )
    columns = {
        name: [float(value) if value else float("nan")]
        for name, value in row.items()
        if name != "city"
    }
    fitted, columns = package.load(model), columns | {"city": ["Paris"]}
    if target == "kind":
        shares = dict(zip(fitted.labels, fitted.predict_proba(columns)[0], strict=True))
        best = max(shares, key=shares.get)
        assert done.stdout.startswith(f"kind: {best} {100.0 * shares[best]:.1f} %, ")
        return
    (value,) = fitted.predict(columns)
    low, high = fitted.predict_interval(columns, 0.9)
    assert done.stdout == (
        f"price: {value:.1f}, between {low[0]:.1f} and {high[0]:.1f} with a probability of 90 %\n"
    )


def test_a_name_does_not_end_the_script(colk, tmp_path):
    path, page = tmp_path / "t.csv", tmp_path / "page.html"
    path.write_text('"</script>`${alert(1)}",y\n' + "1,2\n2,1\n" * 10)
    target = ("--target", "</script>`${alert(1)}")
    assert colk("fit", path, *target, "--model", tmp_path / "m", "--report", page)[0] == 0
    assert page.read_text().count("</script>") == 1
    script = re.search(r"<script>(.*?)</script>", page.read_text(), re.S)[1]
    assert "`${alert" not in re.sub(r'"[^"]*"', "", script)
