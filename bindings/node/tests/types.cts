// The same for require.
import runcible = require("runcible");

const model: runcible.Model = runcible.Model.loadSync("builtin:fable");
const text: string = model.session().generateSync("A", { maxTokens: 1 }).text;
void text;

// @ts-expect-error
runcible.Model.loadSync(7);
