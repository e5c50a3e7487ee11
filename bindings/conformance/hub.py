"""A hub on loopback that has one model, o/m: the file that is given.

    hub.py MODEL ADDRESS_FILE

writes its address to a file when it answers, and goes on until it is ended.
"""

import hashlib
import http.server
import json
import os
import re
import sys

COMMIT = "c" * 40


class Hub(http.server.BaseHTTPRequestHandler):
    content = b""

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
        size = len(self.content)
        if self.path == "/api/models/o/m/revision/main?blobs=true":
            sha256 = hashlib.sha256(self.content).hexdigest()
            lfs = {"sha256": sha256, "size": size, "pointerSize": 130}
            files = [{"rfilename": "m.gguf", "lfs": lfs}]
            told = {"sha": COMMIT, "siblings": files}
            self.answer(200, json.dumps(told).encode())
        elif self.path == f"/o/m/resolve/{COMMIT}/m.gguf":
            asked = re.findall(r"\d+", self.headers["Range"])
            first, last = int(asked[0]), int(asked[1])
            self.answer(
                206,
                self.content[first : last + 1],
                f"bytes {first}-{last}/{size}",
            )
        else:
            self.answer(404, b"")


def main() -> None:
    model, address_file = sys.argv[1:]
    with open(model, "rb") as file:
        Hub.content = file.read()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        with open(address_file + ".new", "w", encoding="ascii") as file:
            file.write(f"http://127.0.0.1:{server.server_address[1]}")
        os.rename(address_file + ".new", address_file)
        server.serve_forever()


if __name__ == "__main__":
    main()
