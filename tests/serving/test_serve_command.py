"""`colk serve` as a process."""

import signal

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from serving_cases import rows

import colk
from colk.cli import main
from colk.cli.serving import Service


def test_it_learns_and_saves_on_ctrl_c(start, model_file, tmp_path):
    out = tmp_path / "out.colk"
    server = start("serve", model_file, "--learn", "--port", 0, "--out", out)
    answer = httpx.post(server.url + "learn", json={"rows": rows(20, seed=3)})
    assert answer.json()["rows"] == 320
    asked = {"rows": rows(4, seed=4)}
    predicted = httpx.post(server.url + "predict", json=asked).json()["predictions"]
    code, printed, error = server.stop()
    assert (code, error) == (0, "")
    assert "320 rows learned" in printed
    assert colk.load(model_file).rows == 300
    assert Service(colk.load(out)).predict(asked)["predictions"] == predicted


@pytest.mark.slow
def test_sigterm_and_checkpoints(start, model_file):
    server = start("serve", model_file, "--learn", "--port", 0, "--checkpoint-every", 10)
    httpx.post(server.url + "learn", json={"rows": rows(12, seed=3)})
    assert colk.load(model_file).rows == 312
    httpx.post(server.url + "learn", json={"rows": rows(3, seed=3)})
    assert server.stop(signal.SIGTERM)[0] == 0
    assert colk.load(model_file).rows == 315


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--host", "0.0.0.0"], "can be reached from other machines: set a token"),
        (["--host", "::"], "can be reached from other machines: set a token"),
        (["--port", "99999"], "must be a port"),
        (["--checkpoint-every", "3"], "need --learn"),
        (["--token-file", "TOKEN"], "at least 16 printable ASCII characters"),
        (["--host", "no.such.host.invalid", "--token-file", "GOOD"], "is not an address"),
    ],
)
def test_it_refuses_to_start(model_file, tmp_path, capsys, monkeypatch, options, message):
    monkeypatch.delenv("COLK_TOKEN", raising=False)
    (tmp_path / "TOKEN").write_text("short")
    (tmp_path / "GOOD").write_text("long enough to be a token\n")
    monkeypatch.chdir(tmp_path)
    try:
        code = main(["serve", str(model_file), *options])
    except SystemExit as exit_:
        code = exit_.code
    assert code == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1


@pytest.mark.slow
def test_schemathesis_finds_nothing(start, model_file):
    """Requests that follow the description are answered, others get an error of the client."""
    schemathesis = pytest.importorskip("schemathesis")
    server = start("serve", model_file, "--learn", "--port", 0)
    schema = schemathesis.openapi.from_url(server.url + "openapi.json")
    tried = []
    for operation in schema.get_all_operations():

        @given(case=operation.ok().as_strategy())
        @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
        def check(case):
            tried.append(case.path)
            case.call_and_validate(base_url=server.url.rstrip("/"))

        check()
    assert set(tried) == {"/health", "/model", "/predict", "/learn"}
    assert server.stop()[0] == 0
