// Generates without the event loop, as a script would:
//
//     node sync.cjs
const { Model } = require("runcible");

const model = Model.loadSync("builtin:fable");
const session = model.session();
for (const piece of session.streamSync("A fox", { maxTokens: 50, seed: 1 })) {
  process.stdout.write(piece.text);
}
process.stdout.write("\n");
