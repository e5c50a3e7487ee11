// A server that writes a fable to each client as it is generated, and stops when the
// client disconnects:
//
//     node server.mjs [PORT]
//     curl -N http://localhost:8080/A%20fox
import { createServer } from "node:http";

import { Model } from "runcible";

const model = await Model.load("builtin:fable");

const server = createServer(async (request, response) => {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const beginning = decodeURIComponent(request.url.slice(1));
  const options = { echo: true, maxTokens: 200, signal: gone.signal };
  try {
    for await (const piece of model.session().stream(beginning, options)) {
      response.write(piece.text);
    }
    response.end("\n");
  } catch (error) {
    response.destroy(gone.signal.aborted ? undefined : error);
  }
});

server.listen(Number(process.argv[2] ?? 8080), "localhost", () => {
  console.log(`http://localhost:${server.address().port}/`);
});
