#!/usr/bin/env python3
"""A backend whose ops server.py computes on another machine.

    python client.py HOST PORT AUTHORITY CERTIFICATE KEY [PROMPT]

An op is sent again over a new connection if one was cut: ops have no memory, so
computing one twice does no harm. When the server does not answer in time, the
client computes the op, or it fails if `here` is false.
"""

import secrets
import socket
import sys
import threading
import time

import kernels
import numpy
import wire

import runcible


class RemoteError(RuntimeError):
    """The server has refused an op."""


class Remote:
    """For runcible.register_backend.

    timeout: the limit of an op, and of connecting, in seconds; tries: how often an
    op is sent; here: whether the client computes an op if that fails, and also those
    of the next `rest` seconds, after which it asks the server again.
    """

    capabilities = kernels.CAPABILITIES

    def __init__(
        self,
        host,
        port,
        tls,
        *,
        name=None,
        timeout=10.0,
        tries=5,
        here=True,
        rest=1.0,
    ):
        self._address = (host, port)
        self._tls = tls
        self._name = name or host  # the name in the server's certificate
        self._timeout = timeout
        self._tries = tries
        self._here = here
        self._rest = rest
        self._rests_until = 0.0  # a time of time.monotonic()
        #: Distinguishes the weights of this client on the server.
        self._client = secrets.token_hex(16)
        self._mutex = threading.Lock()
        self._connection = None
        self._number = 0
        self._gone = []  # freed weights that the server still has
        #: Counts since the start.
        self.connections = self.computed_there = self.computed_here = 0

    def health(self):
        """Raises an error if the server cannot be used."""
        with self._mutex:
            try:
                begin = time.monotonic()
                reply, _ = self._ask({"do": "ping"}, [])
            except OSError:
                # The server may have closed a connection that was idle.
                begin = time.monotonic()
                reply, _ = self._ask({"do": "ping"}, [])
            missing = self.capabilities.keys() - reply["capabilities"].keys()
            if missing:
                raise RemoteError(f"the server does not compute {', '.join(missing)}")
            spent = (time.monotonic() - begin) * 1000
            host, port = self._address
            return f"{self._connection.version()} to {host}:{port}, {spent:.1f} ms"

    def compute(self, call):
        (out,) = call.outputs
        with self._mutex:
            result = self._computed(call)
        if result is None:
            result = kernels.compute(call.op, call.inputs, call.params)
        out[...] = result.reshape(out.shape)

    def forget(self, number):
        # Sent with the next op: this may be any thread, at any time.
        self._gone.append(number)

    def close(self):
        with self._mutex:
            self._drop()

    def _computed(self, call):
        """Returns the server's result; None: the client must compute it."""
        error = "no time was left"
        if time.monotonic() < self._rests_until:
            self.computed_here += 1
            return None
        until = time.monotonic() + self._timeout
        for attempt in range(self._tries):
            if attempt > 0:
                time.sleep(min(0.01 * 2**attempt, max(until - time.monotonic(), 0)))
            if time.monotonic() >= until:
                break
            try:
                body = self._ask_to_compute(call, until)
                if len(body) != call.outputs[0].nbytes:
                    raise wire.WireError(f"{len(body)} bytes are no result")
                result = numpy.frombuffer(body, "<f4")
                self.computed_there += 1
                return result
            except OSError as failure:  # also TLS errors, timeouts and cut connections
                # Keeps only its text: the exception would keep views of the operands.
                error = str(failure) or type(failure).__name__
                self._drop()
        if not self._here:
            raise ConnectionError(
                f"{self._address[0]}:{self._address[1]} did not compute {call.op}: "
                f"{error}"
            )
        self._rests_until = time.monotonic() + self._rest
        self.computed_here += 1
        return None

    def _ask_to_compute(self, call, until):
        while self._gone:
            weight = self._gone[-1]
            self._ask({"do": "forget", "client": self._client, "weight": weight}, [])
            self._gone.pop()
        send = set()  # numbers of weights that the server does not have
        while True:
            inputs, parts = [], []
            for array, dtype, weight in zip(call.inputs, call.dtypes, call.weights):
                if array is None:
                    inputs.append(None)
                    continue
                sent = weight == 0 or weight in send
                inputs.append(
                    {
                        "dtype": dtype,
                        "shape": array.shape,
                        "weight": weight,
                        "sent": sent,
                    }
                )
                if sent:
                    parts.append(numpy.ascontiguousarray(array).reshape(-1).view("u1"))
            reply, body = self._ask(
                {
                    "do": "compute",
                    "op": call.op,
                    "params": call.params,
                    "client": self._client,
                    "inputs": inputs,
                },
                parts,
                until,
            )
            missing = set(reply.get("missing", ()))
            if not missing:
                return body
            if missing <= send:
                raise RemoteError("the server has no room for the weights of one op")
            send |= missing

    def _ask(self, head, parts, until=None):
        """Sends a message, after connecting if necessary; returns the answer."""
        until = until or time.monotonic() + self._timeout
        if self._connection is None:
            self._connect(until)
        self._number += 1
        self._connection.settimeout(max(until - time.monotonic(), 0.001))
        try:
            wire.send(self._connection, {**head, "number": self._number}, parts)
            reply, body = wire.receive(self._connection, until)
        except BaseException:
            # The connection may still carry the rest of a message.
            self._drop()
            raise
        if reply.get("number") != self._number:
            self._drop()
            raise wire.WireError("an answer to another question came")
        if "error" in reply:
            raise RemoteError(reply["error"])
        return reply, body

    def _connect(self, until):
        left = max(until - time.monotonic(), 0.001)
        plain = socket.create_connection(self._address, timeout=left)
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._connection = self._tls.wrap_socket(plain, server_hostname=self._name)
        except BaseException:
            plain.close()
            raise
        self.connections += 1

    def _drop(self):
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def main():
    host, port, authority, certificate, key = sys.argv[1:6]
    tls = wire.context(False, authority, certificate, key)
    remote = runcible.register_backend("remote", Remote(host, int(port), tls))
    model = runcible.Model("builtin:fable", "remote,cpu")
    prompt = " ".join(sys.argv[6:]) or "Once upon a time"
    print(prompt, end="")
    # The same text every time.
    for piece in model.session().generate(prompt, max_tokens=100, temperature=0):
        print(piece, end="", flush=True)
    print()
    counts = f"{remote.computed_there} ops there, {remote.computed_here} here"
    print(counts, file=sys.stderr)


if __name__ == "__main__":
    main()
