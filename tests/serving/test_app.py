"""Requests to the application, without a server."""

import json
import threading

import numpy as np
import pytest
from serving_cases import rows, stream_model

import colk
from colk.cli.serving import LiveFeed, Service, make_app
from colk.cli.serving.app import LARGEST_BODY
from colk.cli.serving.server import LOOPBACK_NAMES
from colk.tabular import TableModel


def made(learns=True, **options):
    service = Service(stream_model(), learns=learns)
    return service, make_app(LiveFeed(), "Model of y", service, **options)


def test_predictions_are_those_of_the_model(client):
    service, app = made(learns=False)
    answer = client(app, "POST", "/predict", json={"rows": rows(5, seed=1)})
    assert answer.status_code == 200
    table = rows(5, seed=1)
    columns = {
        "x": [np.nan if row["x"] is None else row["x"] for row in table],
        "city": [row["city"] for row in table],
    }
    assert answer.json() == {"rows": 300, "predictions": service.model.predict(columns).tolist()}
    assert client(app, "POST", "/learn", json={"rows": rows(1)}).status_code == 404


def test_learning_is_that_of_the_model(client):
    service, app = made()
    twin = stream_model()
    table = rows(40, seed=2)
    for row in table:
        answer = client(app, "POST", "/learn", json={"rows": [row]}).json()
        x = np.array([np.nan if row["x"] is None else row["x"]])
        columns = {"x": x, "city": np.array([row["city"]], dtype=object)}
        assert answer["predictions"] == twin.predict(columns).tolist()
        twin.learn(columns, np.array([row["y"]]))
    assert answer["rows"] == service.model.rows == twin.rows == 340
    assert np.array_equal(service.model.function.weights, twin.function.weights)
    state = client(app, "GET", "/model").json()
    assert (state["rows"], state["learns"]) == (340, True)
    assert state["error"] > 0.0


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"{", 400, "not JSON"),
        (b"[" * 100_000, 400, "not JSON"),
        (b'{"rows": [{"x": NaN}]}', 400, "not JSON"),
        (b"[]", 422, "a JSON object"),
        (b"{}", 422, "rows must be a list"),
        (b'{"rows": []}', 422, "rows must be a list"),
        (b'{"rows": [1]}', 422, "row 1 must be an object"),
        (b'{"rows": [{"q": 1}]}', 422, "row 1: 'q' is not a feature"),
        (b'{"rows": [{}, {"x": "1"}]}', 422, "row 2: x must be a number"),
        (b'{"rows": [{"x": true}]}', 422, "row 1: x must be a number"),
        (b'{"rows": [{"x": 1' + b"0" * 400 + b"}]}", 422, "row 1: x is too large"),
        (b'{"rows": [{"x": 1e300}]}', 422, "x has values"),
        (b'{"rows": [{"city": []}]}', 422, "row 1: city must be a text"),
        (b'{"rows": [{"city": "\\ud800"}]}', 422, "city has a text that is not UTF-8"),
        (json.dumps({"rows": [{"city": 1001 * "x"}]}).encode(), 422, "longer than 1,000"),
        (b'{"rows": [{}], "more": 1}', 422, "field 'more'"),
        (b'{"size": 120}', 422, 'send rows as {"rows": [{"column": value}]}'),
        (b'{"rows": [{}], "coverage": 1}', 422, "coverage must be a number between 0 and 1"),
        (b'{"rows": [{}], "coverage": 0.9}', 409, "the model has no intervals"),
        (json.dumps({"rows": [{}] * 10_001}).encode(), 422, "10,001 rows"),
        (b" " * (LARGEST_BODY + 1), 413, "longer than"),
    ],
)
def test_bad_bodies_get_one_clear_message(client, body, status, message):
    service, app = made()
    before = service.model.function.weights
    headers = {"content-type": "application/json"}
    answer = client(app, "POST", "/predict", content=body, headers=headers)
    assert answer.status_code == status
    assert message in answer.json()["error"]
    assert np.array_equal(service.model.function.weights, before)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"x": 1.0}, "row 1: the target 'y' is missing"),
        ({"x": 1.0, "y": "much"}, "row 1: y must be a number"),
        ({"x": 1.0, "y": 1e200}, "y has values that are missing or beyond"),
    ],
)
def test_bad_rows_are_not_learned(client, row, message):
    service, app = made()
    answer = client(app, "POST", "/learn", json={"rows": [row]})
    assert answer.status_code == 422
    assert message in answer.json()["error"]
    assert service.model.rows == 300


def test_a_label_that_is_not_utf8_is_refused(client):
    """A model that knew it could not answer any more, because answers hold the labels."""
    x = np.linspace(-1.0, 1.0, 40)
    model = TableModel("y", ["x"], task="classification").learn({"x": x}, ["no", "yes"] * 20)
    app = make_app(LiveFeed(), "Model of y", Service(model, learns=True))
    headers = {"content-type": "application/json"}
    for body in (
        b'{"rows": [{"x": 1, "y": "\\udfff"}]}',
        b'{"rows": [{"y": "a"}], "key": "\\ud800"}',
    ):
        answer = client(app, "POST", "/learn", content=body, headers=headers)
        assert answer.status_code == 422
        assert "not UTF-8" in answer.json()["error"]
    answer = client(app, "POST", "/predict", json={"rows": [{"x": 0.5}]})
    assert set(answer.json()["probabilities"][0]) == {"no", "yes"}


def test_a_checkpoint_that_fails_is_said_and_the_rows_are_learned(client, tmp_path, capsys):
    folder = tmp_path / "gone"
    service = Service(stream_model(), folder / "m.colk", learns=True, every=2)
    app = make_app(LiveFeed(), "Model of y", service)
    answers = [client(app, "POST", "/learn", json={"rows": rows(1, seed=k)}) for k in range(4)]
    assert [answer.status_code for answer in answers] == [200] * 4
    assert [answer.json()["rows"] for answer in answers] == [301, 302, 303, 304]
    warned = [answer.json().get("warning", "") for answer in answers]
    assert [bool(text) for text in warned] == [False, True, False, True]
    assert "the rows are learned, but the model is not saved" in warned[1]
    assert len(capsys.readouterr().err.splitlines()) == 2
    folder.mkdir()
    client(app, "POST", "/learn", json={"rows": rows(2, seed=9)})
    assert colk.load(folder / "m.colk").rows == 306


def test_a_request_with_the_key_of_an_earlier_one_learns_nothing(client, tmp_path):
    """Also after a restart: the keys are saved with the rows."""
    service = Service(stream_model(), tmp_path / "m.colk", learns=True, every=1)
    app = make_app(LiveFeed(), "Model of y", service)
    body = {"rows": rows(3, seed=1), "key": "monday-7"}
    first = client(app, "POST", "/learn", json=body).json()
    assert (first["rows"], first["learned"]) == (303, 3)
    again = Service(colk.load(tmp_path / "m.colk"), learns=True)
    for each in (service, again):
        app = make_app(LiveFeed(), "Model of y", each)
        answer = client(app, "POST", "/learn", json=body).json()
        assert answer == {"rows": 303, "learned": 0, "predictions": None}
        assert client(app, "POST", "/learn", json={**body, "key": "b"}).json()["learned"] == 3
    for key in ("", 101 * "x", 7, []):
        answer = client(app, "POST", "/learn", json={**body, "key": key})
        assert answer.status_code == 422
        assert "key must be a text" in answer.json()["error"]


def test_the_keys_take_bounded_memory():
    service = Service(stream_model(50), learns=True)
    for k in range(1010):
        service.learn({"rows": [{"x": 0.1, "y": 0.1}], "key": f"key {k}"})
    assert service.model.notes["keys"] == [f"key {k}" for k in range(10, 1010)]


def test_other_requests(client):
    _, app = made()
    assert client(app, "POST", "/predict", content=b"{}").status_code == 415
    assert client(app, "GET", "/predict").status_code == 405
    assert client(app, "GET", "/nothing").json() == {"error": "not found"}
    assert client(app, "GET", "/health").json() == {"status": "ok"}
    paths = client(app, "GET", "/openapi.json").json()["paths"]
    assert set(paths) == {"/health", "/model", "/predict", "/learn"}


def test_a_token_is_needed(client):
    _, app = made(token="a long and secret text")
    body = {"rows": [{"x": 1.0}]}
    for given in ({}, {"Authorization": "Bearer another"}, {"Authorization": "bearer x"}):
        for method, path in (("POST", "/predict"), ("GET", "/"), ("GET", "/health")):
            assert client(app, method, path, headers=given).status_code == 401
    good = {"Authorization": "Bearer a long and secret text"}
    assert client(app, "POST", "/predict", json=body, headers=good).status_code == 200
    scheme = client(app, "GET", "/openapi.json", headers=good).json()["components"]
    assert scheme["securitySchemes"]["token"]["scheme"] == "bearer"


def test_other_names_of_the_server_are_refused(client):
    """A page of another site could have a name that points to this machine."""
    _, app = made(hosts=LOOPBACK_NAMES)
    for name, status in (
        ("http://evil.example", 421),
        ("http://127.0.0.1.evil.example:80", 421),
        ("http://localhost:123", 200),
        ("http://127.0.0.1:8765", 200),
        ("http://[::1]:8765", 200),
    ):
        assert client(app, "GET", "/health", base_url=name).status_code == status


def test_a_page_fetches_nothing_from_elsewhere(client):
    _, app = made()
    answer = client(app, "GET", "/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "http://" not in answer.text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in answer.text


def test_answers_belong_to_one_state_of_the_model():
    """Threads ask while another learns: each answer is that of the model after `rows` rows."""
    service = Service(stream_model(50), learns=True)
    asked, answers = {"rows": rows(3, seed=5)}, []
    done = threading.Event()

    def ask():
        while not done.is_set():
            answers.append(service.predict(asked))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    table = rows(120, seed=6)
    for row in table:
        service.learn({"rows": [row]})
    done.set()
    for thread in threads:
        thread.join()
    twin = Service(stream_model(50), learns=True)
    expected = {50: twin.predict(asked)["predictions"]}
    for row in table:
        n = twin.learn({"rows": [row]})["rows"]
        expected[n] = twin.predict(asked)["predictions"]
    assert len({answer["rows"] for answer in answers}) > 5
    assert all(answer["predictions"] == expected[answer["rows"]] for answer in answers)


def test_a_feed_wakes_its_readers():
    feed, seen = LiveFeed(), []

    def read():
        number = 0
        while (found := feed.after(number, 5.0)) is not None:
            number, state = found
            seen.append(json.loads(state)["rows"])

    thread = threading.Thread(target=read)
    thread.start()
    for n in range(5):
        feed.publish({"rows": n})
    feed.close()
    thread.join(10.0)
    assert not thread.is_alive()
    assert seen == sorted(seen)
