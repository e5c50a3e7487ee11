// Prints a fable as it is generated:
//
//     node fable.mjs [BEGINNING]
import { Model } from "runcible";

const beginning = process.argv[2] ?? "Once upon a time";
const model = await Model.load("builtin:fable");
const options = { echo: true, maxTokens: 200, seed: 1 };
for await (const piece of model.session().stream(beginning, options)) {
  process.stdout.write(piece.text);
}
process.stdout.write("\n");
