"""Models from a hub, which a server on loopback simulates."""

import hashlib
import http.server
import json
import re
import threading

import pytest

import runcible
from runcible import errors

COMMIT = "c" * 40
CONTENT = b"GGUF" + bytes(range(256)) * 100


class Hub(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, body, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/api/models/o/m/revision/main?blobs=true":
            sha256 = hashlib.sha256(CONTENT).hexdigest()
            lfs = {"sha256": sha256, "size": len(CONTENT), "pointerSize": 130}
            files = [{"rfilename": "m.gguf", "lfs": lfs}]
            answer = {"sha": COMMIT, "siblings": files}
            return self.answer(200, json.dumps(answer).encode())
        if self.path == f"/o/m/resolve/{COMMIT}/m.gguf":
            first, last = map(
                int, re.findall(r"\d+", self.headers["Range"])
            )
            return self.answer(
                206,
                CONTENT[first : last + 1],
                Content_Range=f"bytes {first}-{last}/{len(CONTENT)}",
            )
        return self.answer(404, b"")


@pytest.fixture
def hub(tmp_path, monkeypatch):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        monkeypatch.setenv("HF_ENDPOINT", address)
        monkeypatch.setenv("HF_HOME", str(tmp_path))
        yield tmp_path
        server.shutdown()


def test_fetched_models_are_listed_and_removed(hub):
    path = runcible.fetch("hf:o/m")
    snapshots = hub / "hub/models--o--m/snapshots"
    assert path == str(snapshots / COMMIT / "m.gguf")
    with open(path, "rb") as file:
        assert file.read() == CONTENT
    cached = runcible.cached_models()
    assert cached["folder"] == str(hub / "hub")
    (model,) = cached["models"]
    assert (model["name"], model["bytes"]) == ("hf:o/m", len(CONTENT))
    (revision,) = model["revisions"]
    assert (revision["commit"], revision["names"]) == (COMMIT, ["main"])
    assert runcible.remove_cached_model("hf:o/m") > 0
    assert not runcible.cached_models()["models"]


def test_fetching_to_a_file_and_to_another_cache(hub):
    to = hub / "mine.gguf"
    assert runcible.fetch("hf:o/m", to=to) == str(to)
    assert to.read_bytes() == CONTENT
    other = hub / "other"
    assert runcible.fetch("hf:o/m", cache=other).startswith(str(other))


def test_failures_of_fetching_are_reported(hub):
    with pytest.raises(errors.NotFoundError, match="404"):
        runcible.fetch("hf:o/none")
    with pytest.raises(ValueError, match="hf:OWNER/NAME"):
        runcible.fetch("m.gguf")
    with pytest.raises(errors.NotFoundError, match="fetch it first"):
        runcible.Model("hf:o/m", "cpu")
    # It is fetched, and is not a model.
    with pytest.raises(errors.FormatError, match="m.gguf"):
        runcible.Model.from_hub("o/m", "cpu")
    assert runcible.cached_models()["models"]
