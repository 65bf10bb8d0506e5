"""`colk serve` as a process."""

import signal
import socket
import subprocess
import sys

import httpx
import numpy as np
import pytest
from serving_cases import rows, stream_model

import colk
from colk.cli import main
from colk.cli.serving import Service
from colk.tabular import TableModel


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


def test_what_was_learned_is_saved_elsewhere_if_its_folder_is_gone(start, model_file, tmp_path):
    folder, home = tmp_path / "gone", tmp_path / "home"
    folder.mkdir(), home.mkdir()
    options = ("--learn", "--port", 0, "--out", folder / "m.colk")
    server = start("serve", model_file, *options, folder=home)
    httpx.post(server.url + "learn", json={"rows": rows(20, seed=3)})
    folder.rmdir()
    code, _, error = server.stop()
    (saved,) = home.glob("m-*.colk")
    assert code == 2
    assert f"the model is saved in {saved}" in error
    assert colk.load(saved).rows == 320


def test_a_body_that_is_half_sent_writes_nothing(start, model_file):
    server = start("serve", model_file, "--learn", "--port", 0)
    host, port = server.url.split("/")[2].split(":")
    head = b"POST /learn HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    for _ in range(5):
        with socket.create_connection((host, int(port))) as half:
            half.sendall(head + b"Content-Length: 100\r\n\r\n{")
    assert httpx.get(server.url + "health").status_code == 200
    assert server.stop()[::2] == (0, "")


def labels_model():
    x = np.linspace(-1.0, 1.0, 40)
    model = TableModel("y", ["x", "day"], dates=["day"], task="classification")
    return model.learn({"x": x, "day": 86400.0 * np.arange(40)}, ["no", "yes"] * 20)


def intervals_model():
    model = stream_model()
    model.calibrate(np.linspace(-0.1, 0.1, 99))
    model.notes = {"intervals": 0.9}
    return model


@pytest.mark.parametrize("make", [labels_model, intervals_model])
def test_schemathesis_finds_nothing(start, make, tmp_path):
    """Requests that follow the description are answered, others get an error of the client."""
    pytest.importorskip("schemathesis")
    colk.save(make(), tmp_path / "m.colk")
    server = start("serve", tmp_path / "m.colk", "--learn", "--port", 0)
    command = [sys.executable, "-m", "schemathesis.cli", "run", server.url + "openapi.json"]
    command += ["--checks", "all", "--max-examples", "15", "--seed", "1", "--no-color"]
    found = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, cwd=tmp_path
    )
    assert found.returncode == 0, found.stdout
    assert "Tested: 4" in found.stdout
    assert server.stop()[0] == 0
