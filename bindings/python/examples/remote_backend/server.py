#!/usr/bin/env python3
"""Computes ops for clients with certificates of the same authority.

    python server.py HOST PORT AUTHORITY CERTIFICATE KEY

prints the port that it listens on (a free one for port 0) and serves until it is
ended. Weights are sent once and kept, up to --memory bytes: those unused for the
longest time are dropped first, and requested again when they are needed.
"""

import argparse
import collections
import math
import socket
import ssl
import threading
import traceback

import kernels
import numpy
import wire


class Weights:
    """Weights that clients have sent, by (client, number)."""

    def __init__(self, limit):
        self._limit = limit
        self._bytes = 0
        self._kept = collections.OrderedDict()
        self._mutex = threading.Lock()

    def get(self, key):
        with self._mutex:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key, array):
        with self._mutex:
            self._drop(key)
            self._kept[key] = array
            self._bytes += array.nbytes
            while self._bytes > self._limit and len(self._kept) > 1:
                self._drop(next(iter(self._kept)))

    def forget(self, key):
        with self._mutex:
            self._drop(key)

    def _drop(self, key):
        gone = self._kept.pop(key, None)
        if gone is not None:
            self._bytes -= gone.nbytes


def array_of(described, body, offset):
    """Returns the array that a client describes, and the offset of the next one."""
    dtype = kernels.FORMATS[described["dtype"]]
    shape = tuple(described["shape"])
    if not all(isinstance(size, int) and 0 <= size < 1 << 40 for size in shape):
        raise ValueError(f"an array of shape {shape}")
    size = math.prod(shape) * dtype.itemsize
    if offset + size > len(body):
        raise ValueError(f"{size} bytes at {offset} of {len(body)}")
    return numpy.ndarray(shape, dtype, body, offset), offset + size


class Server:
    def __init__(self, memory):
        self._weights = Weights(memory)

    def answer(self, message, body):
        """Returns (object, arrays) in answer to a message."""
        if message.get("do") == "ping":
            return {"capabilities": kernels.CAPABILITIES}, []
        if message.get("do") == "forget":
            self._weights.forget((message["client"], message["weight"]))
            return {}, []
        if message.get("do") != "compute" or message.get("op") not in kernels.KERNELS:
            return {"error": f"{message.get('op')!r} is not computed here"}, []
        inputs, missing, offset = [], [], 0
        for each in message["inputs"]:
            array = None
            if each is not None:
                key = (message["client"], each["weight"])
                if each["sent"]:
                    array, offset = array_of(each, body, offset)
                    if each["weight"]:
                        self._weights.put(key, array)
                else:
                    array = self._weights.get(key)
                    if array is None:
                        missing.append(each["weight"])
            inputs.append(array)
        if missing:
            return {"missing": missing}, []
        return {}, [kernels.compute(message["op"], inputs, message["params"])]

    def serve(self, connection):
        while True:
            message, body = wire.receive(connection)
            try:
                head, arrays = self.answer(message, body)
            except Exception as error:
                # The op failed, not the connection: the client receives the error.
                traceback.print_exc()
                head, arrays = {"error": f"{type(error).__name__}: {error}"}, []
            wire.send(connection, {**head, "number": message.get("number")}, arrays)


def serve_one(server, accepted, tls, idle):
    try:
        accepted.settimeout(idle)
        with tls.wrap_socket(accepted, server_side=True) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server.serve(connection)
    except (OSError, ssl.SSLError):
        pass  # cut, idle, or not authorized: the client may connect again
    finally:
        accepted.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("authority")
    parser.add_argument("certificate")
    parser.add_argument("key")
    parser.add_argument("--memory", type=int, default=1 << 30)
    parser.add_argument("--idle", type=float, default=600, help="seconds")
    given = parser.parse_args()
    tls = wire.context(True, given.authority, given.certificate, given.key)
    server = Server(given.memory)
    with socket.create_server((given.host, given.port)) as listening:
        print(listening.getsockname()[1], flush=True)
        while True:
            accepted, _ = listening.accept()
            threading.Thread(
                target=serve_one, args=(server, accepted, tls, given.idle), daemon=True
            ).start()


if __name__ == "__main__":
    main()
