"""A server on loopback that acts as a hub with the given models.

    hub.py ADDRESS_FILE OWNER/NAME=FILE...

writes its address to a file when it is ready, and runs until it is ended.
"""

import hashlib
import http.server
import json
import os
import re
import sys

COMMIT = "c" * 40


class Hub(http.server.BaseHTTPRequestHandler):
    models: "dict[str, bytes]" = {}

    def log_message(self, *_):
        pass

    def answer(self, status, body, content_range=""):
        self.send_response(status)
        if content_range:
            self.send_header("Content-Range", content_range)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        asked = re.fullmatch(
            r"(?:/api/models)?/(\w+/\w+)/(revision|resolve)/(.*)", self.path
        )
        content = self.models.get(asked[1]) if asked else None
        if content is None:
            self.answer(404, b"")
            return
        size = len(content)
        if asked[3] == "main?blobs=true":
            sha256 = hashlib.sha256(content).hexdigest()
            lfs = {"sha256": sha256, "size": size, "pointerSize": 130}
            files = [{"rfilename": "m.gguf", "lfs": lfs}]
            answer = {"sha": COMMIT, "siblings": files}
            self.answer(200, json.dumps(answer).encode())
        elif asked[3] == f"{COMMIT}/m.gguf":
            first, last = map(int, re.findall(r"\d+", self.headers["Range"]))
            self.answer(
                206,
                content[first : last + 1],
                f"bytes {first}-{last}/{size}",
            )
        else:
            self.answer(404, b"")


def main() -> None:
    address_file, *models = sys.argv[1:]
    for name, path in (each.split("=", 1) for each in models):
        with open(path, "rb") as file:
            Hub.models[name] = file.read()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        with open(address_file + ".new", "w", encoding="ascii") as file:
            file.write(f"http://127.0.0.1:{server.server_address[1]}")
        os.rename(address_file + ".new", address_file)
        server.serve_forever()


if __name__ == "__main__":
    main()
