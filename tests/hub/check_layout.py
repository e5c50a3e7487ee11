#!/usr/bin/env python3
"""Holds the cache of fetched models against the package that it is shared with.

    pip install huggingface_hub
    tests/hub/check_layout.py build/release/bin/runcible

Serves a repository on loopback as a hub does. What the command fetches must be
found by huggingface_hub, and what huggingface_hub fetches by the command; what
one has, the other must not fetch again. No other network is needed.
"""

import hashlib
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"
MODEL = Path(__file__).resolve().parents[1] / "golden/architectures/llama2.gguf"
FILES = {
    "m-F32.gguf": MODEL.read_bytes(),
    "sub/m-Q8_0.gguf": bytes(range(256)) * 300,
    "config.json": b'{"model_type": "llama"}\n',
}
asked = []


def git_id(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def is_large(name):
    return name.endswith(".gguf")


def tag(name):
    content = FILES[name]
    return (hashlib.sha256(content).hexdigest() if is_large(name)
            else git_id(content))


def description():
    files = []
    for name, content in FILES.items():
        file = {"rfilename": name, "size": len(content), "blobId": git_id(content)}
        if is_large(name):
            file["lfs"] = {"sha256": tag(name), "size": len(content),
                           "pointerSize": 130}
        files.append(file)
    return {"id": "o/m", "modelId": "o/m", "sha": COMMIT, "private": False,
            "siblings": files, "tags": [], "downloads": 0, "likes": 0}


class Hub(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, headers, body=b""):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def content(self, headers, content):
        found = re.match(r"bytes=(\d+)-(\d*)$", self.headers.get("Range", ""))
        if not found:
            return self.answer(200, headers, content)
        first = int(found[1])
        last = min(int(found[2] or len(content) - 1), len(content) - 1)
        headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
        return self.answer(206, headers, content[first:last + 1])

    def do_GET(self):
        asked.append((self.command, self.path))
        if re.match(r"/api/models/o/m(/revision/main)?(\?.*)?$", self.path):
            return self.answer(200, {"Content-Type": "application/json"},
                               json.dumps(description()).encode())
        found = re.match(rf"/o/m/resolve/(main|{COMMIT})/(.*)$", self.path)
        if found and found[2] in FILES:
            name = found[2]
            headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{tag(name)}"'}
            if not is_large(name):
                return self.content(headers, FILES[name])
            headers |= {"Location": f"http://localhost:{PORT}/cdn/{name}",
                        "X-Linked-Etag": f'"{tag(name)}"',
                        "X-Linked-Size": str(len(FILES[name]))}
            return self.answer(302, headers)
        if self.path.startswith("/cdn/"):
            return self.content({"ETag": '"cdn"'}, FILES[self.path[5:]])
        return self.answer(404, {"X-Error-Code": "EntryNotFound"})

    do_HEAD = do_GET


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
PORT = server.server_address[1]
threading.Thread(target=server.serve_forever, daemon=True).start()
home = tempfile.TemporaryDirectory()
os.environ.update(HF_ENDPOINT=f"http://127.0.0.1:{PORT}", HF_HOME=home.name,
                  HF_HUB_DISABLE_PROGRESS_BARS="1", HF_HUB_DISABLE_XET="1",
                  HF_HUB_DISABLE_TELEMETRY="1")
for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_TOKEN",
                 "HF_HUB_OFFLINE", "http_proxy", "https_proxy"):
    os.environ.pop(variable, None)

import huggingface_hub  # noqa: E402  (it reads the environment)


def runcible(*arguments):
    done = subprocess.run([sys.argv[1], *arguments], capture_output=True, text=True)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def bodies():
    """The files whose content was asked for since the last call."""
    names = [path.rsplit("/", 1)[-1] for method, path in asked
             if method == "GET" and ("/cdn/" in path or path.endswith(".json"))]
    asked.clear()
    return sorted(set(names))


def main():
    # Ours, found by huggingface_hub.
    path = runcible("pull", "hf:o/m:F32").strip()
    assert bodies() == ["m-F32.gguf"]
    for revision in (None, "main", COMMIT):
        found = huggingface_hub.try_to_load_from_cache(
            "o/m", "m-F32.gguf", revision=revision)
        assert found == path, (revision, found, path)
    assert huggingface_hub.hf_hub_download("o/m", "m-F32.gguf") == path
    runcible("pull", "hf:o/m:sub/m-Q8_0.gguf")
    bodies()
    scanned = huggingface_hub.scan_cache_dir()
    assert not scanned.warnings, scanned.warnings
    (repository,) = scanned.repos
    (revision,) = repository.revisions
    assert repository.repo_id == "o/m" and revision.commit_hash == COMMIT
    assert revision.refs == {"main"}, revision.refs
    names = {file.file_name: file for file in revision.files}
    assert set(names) == {"m-F32.gguf", "m-Q8_0.gguf"}, names
    for name, file in names.items():
        content = FILES[name] if name in FILES else FILES["sub/" + name]
        assert file.file_path.read_bytes() == content
        assert file.blob_path.name == hashlib.sha256(content).hexdigest()
    # Theirs, found by us.
    huggingface_hub.hf_hub_download("o/m", "config.json")
    assert bodies() == ["config.json"]
    assert runcible("pull", "hf:o/m:config.json").strip().endswith(
        f"{COMMIT}/config.json")
    assert bodies() == []
    listed = json.loads(runcible("models", "--json"))["models"]
    assert [each["name"] for each in listed] == ["hf:o/m"]
    assert listed[0]["bytes"] == sum(map(len, FILES.values()))
    runcible("models", "remove", "hf:o/m")
    assert not huggingface_hub.scan_cache_dir().repos
    theirs = huggingface_hub.hf_hub_download("o/m", "m-F32.gguf")
    bodies()
    assert runcible("pull", "hf:o/m:F32").strip() == theirs
    assert bodies() == []
    assert '"llama"' in runcible("inspect", "hf:o/m")
    # What is removed of ours leaves a cache that is sound.
    runcible("pull", "hf:o/m:Q8_0")
    runcible("models", "remove", "hf:o/m:F32")
    scanned = huggingface_hub.scan_cache_dir()
    assert not scanned.warnings, scanned.warnings
    assert scanned.size_on_disk == len(FILES["sub/m-Q8_0.gguf"])
    print(f"the layout is that of huggingface_hub {huggingface_hub.__version__}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
