"""A server that writes a fable to each client as it is generated, and stops when the
client disconnects:

    python server.py [PORT]
    curl -N http://localhost:8080/A%20fox
"""

import asyncio
import sys
import urllib.parse

import runcible

HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Connection: close\r\n\r\n"
)


async def answer(model, reader, writer):
    try:
        request = await reader.readuntil(b"\r\n\r\n")
        path = request.split(b" ", 2)[1].decode("ascii")
        beginning = urllib.parse.unquote(path[1:])
        writer.write(HEAD)
        session = model.session()
        options = {"echo": True, "max_tokens": 200}
        async with session.stream(beginning, **options) as stream:
            async for piece in stream:
                writer.write(piece.encode())
                await writer.drain()
        writer.write(b"\n")
    except (ConnectionError, asyncio.IncompleteReadError):
        pass  # the client has disconnected
    finally:
        writer.close()


async def main(port):
    model = await runcible.Model.load("builtin:fable")
    server = await asyncio.start_server(
        lambda reader, writer: answer(model, reader, writer), "localhost", port
    )
    port = server.sockets[0].getsockname()[1]
    print(f"http://localhost:{port}/", flush=True)
    async with server:
        await server.serve_forever()


asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 8080))
