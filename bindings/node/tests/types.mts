// Not run: the compiler must accept valid lines, and reject those that are marked.
import {
  Backend,
  Model,
  Session,
  Tensor,
  errors,
  type Piece,
  type Report,
} from "runcible";

const backend: Backend = await Backend.open("cpu", { threads: 2 });
const model: Model = await Model.load("builtin:fable", { backend });
const session: Session = model.session({ whenFull: "shift" });

for await (const piece of session.stream("A", { seed: 1n, stop: ["."] })) {
  const kept: Piece = piece;
  const tokens: Int32Array = kept.tokens;
  void tokens;
}
for (const piece of session.streamSync([1, 2])) piece.text satisfies string;
const { text, report }: { text: string; report: Report } =
  await session.generate(null, { signal: AbortSignal.timeout(100) });
const logits: Float32Array = (await session.logits()).row(0);
const product: Tensor = Tensor.from([1], [1, 1], backend).matmul(
  Tensor.zeros([1, 1], backend),
);
const error: errors.DeadlineError = new errors.DeadlineError(text);
const status: number = error.status;
void [report, logits, product, status];

// @ts-expect-error
model.session({ whenFull: "burst" });
// @ts-expect-error
session.stream("A", { maxtokens: 1 });
// @ts-expect-error
new Session();
// @ts-expect-error
report.seed = 1n;
