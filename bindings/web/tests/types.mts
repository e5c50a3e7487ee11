// Compiled only: the declarations of the package.
import {
  AnswerStream,
  Backend,
  Grammar,
  Model,
  Piece,
  RuncibleError,
  Session,
  Stream,
  ToolCall,
  cachedModels,
  discover,
  errors,
  start,
  support,
  terminate,
  type Message,
  type Report,
} from "runcible-web";

const version: string = await start({ threads: true, workers: 8 });
const { simd, threads, advice } = support();
console.log(version, simd, threads, advice, (await discover()).automatic);

const backend: Backend = await Backend.open("cpu", { threads: 2, strict: true });
const model = await Model.load(new URL("https://example.com/m.gguf"), {
  backend,
  contextLength: 512,
  cacheDtype: "q8_0",
  sha256: "0".repeat(64),
  progress: (fraction, { stage, bytes }) => console.log(fraction, stage, bytes),
  signal: AbortSignal.timeout(1000),
});
const { vocabulary }: { vocabulary: number } = await model.report();
await Model.load(new File([], "m.gguf"));
await Model.load(new Uint8Array(vocabulary), { name: "mine.gguf" });

const session: Session = model.session({ whenFull: "shift" });
const stream: Stream = session.stream("A", { topK: 1, seed: 1n, stop: ["b"] });
for await (const piece of stream) {
  const text: string = piece.text;
  console.log(text, piece.tokens.length);
}
const report: Report | undefined = stream.report;
console.log(report?.generatedTokens, report?.reason === "stop");

const grammar = await Grammar.jsonSchema(model, { type: "object" });
const chat = session.chat({ templateName: "zephyr", tools: [] });
await chat.add([{ role: "user", content: "Hello" }]);
const answer: AnswerStream = chat.answer({ grammar, maxTokens: 5 });
for await (const part of answer) {
  if (part instanceof ToolCall) console.log(part.arguments["city"]);
  else if (part instanceof Piece) console.log(part.text);
}
const messages: Message[] = await chat.messages();
console.log(messages.length, (await cachedModels())[0]?.url);

try {
  await session.append([1, 2]);
} catch (error) {
  if (error instanceof errors.ContextFullError) console.log(error.status);
  if (error instanceof RuncibleError) console.log(error.code, error.report);
}
await terminate();

// @ts-expect-error: there is no such option
await session.generate("A", { topq: 1 });
// @ts-expect-error: a page has no paths to save to
await session.save("x");
