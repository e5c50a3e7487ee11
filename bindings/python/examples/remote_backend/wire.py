"""Messages of client and server, over a socket with TLS.

A message is the lengths of its two parts as big-endian numbers of 32 and 64 bits,
a JSON object, and bytes. The lengths reveal a connection that was cut in the
middle; TLS ensures that nothing was changed on the way.
"""

import json
import ssl
import struct
import time

#: The limits of a message: a peer that sends more is neither client nor server.
MAX_HEAD = 1 << 20
MAX_BODY = 1 << 34

_LENGTHS = struct.Struct("!IQ")


class WireError(ConnectionError):
    """An incomplete message, or data that is not a message."""


def context(ours_is_server, authority, certificate, key):
    """Makes a context: both sides present a certificate, and trust only the authority."""
    side = ssl.PROTOCOL_TLS_SERVER if ours_is_server else ssl.PROTOCOL_TLS_CLIENT
    made = ssl.SSLContext(side)
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    made.load_cert_chain(certificate, key)
    made.load_verify_locations(authority)
    made.verify_mode = ssl.CERT_REQUIRED
    return made


def send(connection, head, parts=()):
    """Sends an object, followed by the bytes of `parts`."""
    text = json.dumps(head).encode()
    views = [memoryview(part).cast("B") for part in parts]
    total = sum(len(view) for view in views)
    connection.sendall(_LENGTHS.pack(len(text), total) + text)
    for view in views:
        connection.sendall(view)


def _receive_exactly(connection, count, until):
    data = bytearray(count)
    view = memoryview(data)
    while len(view) > 0:
        if until is not None:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError("the other side did not answer in time")
            connection.settimeout(left)
        got = connection.recv_into(view)
        if got == 0:
            raise WireError("the connection was cut")
        view = view[got:]
    return data


def receive(connection, until=None):
    """Returns (object, bytes); `until` is a time of time.monotonic()."""
    lengths = _receive_exactly(connection, _LENGTHS.size, until)
    head, body = _LENGTHS.unpack(lengths)
    if head > MAX_HEAD or body > MAX_BODY:
        raise WireError(f"a message of {head} and {body} bytes is none of ours")
    try:
        message = json.loads(_receive_exactly(connection, head, until))
    except ValueError as error:
        raise WireError(f"a message is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise WireError("a message is not an object")
    return message, _receive_exactly(connection, body, until)
