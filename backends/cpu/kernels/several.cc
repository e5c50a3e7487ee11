// Several ops of elements, one after the other, of which each is of what the
// one before has made: that stays in registers.
#include "cpu/kernels/functions.h"
#include "cpu/kernels/levels.h"
#include "runcible/plugin_ops.h"

namespace rc::cpu::RC_CPU_LEVEL {
namespace {

// Vectors that are done together: half of the registers.
constexpr int kVectors = kParts == 1 ? 8 : kParts == 2 ? 4 : 2;

// x = f(x, other).
template <int vectors, class Function>
RC_SIMD void apply(Vf (&x)[vectors], const ElementOp& op, int64_t at,
                   Function f) {
  if (op.step != 0) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      x[v] = f(x[v], load(op.other + at + v * kLanes));
    }
  } else {
    const Vf all = splat(*op.other);
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) x[v] = f(x[v], all);
  }
}

template <int vectors>
void some(const ElementsTask& task, int64_t at) {
  Vf x[vectors];
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) x[v] = load(task.x + at + v * kLanes);
  for (int i = 0; i < task.count; ++i) {
    const ElementOp& op = task.ops[i];
#define RC_APPLY(f)                                                            \
  apply(                                                                       \
      x, op, at, [](const Vf& a, const Vf& b) __attribute__((always_inline)) { \
        return f;                                                              \
      })
#define RC_APPLY_EACH(f) \
  _Pragma("GCC unroll 8") for (int v = 0; v < vectors; ++v) x[v] = f(x[v])
    switch (op.what) {
      case ElementOp::kAdd:
        RC_APPLY(add(a, b));
        break;
      case ElementOp::kMultiply:
        RC_APPLY(mul(a, b));
        break;
      case ElementOp::kSubtract:
        RC_APPLY(sub(a, b));
        break;
      case ElementOp::kSubtractFrom:
        RC_APPLY(sub(b, a));
        break;
      case ElementOp::kDivide:
        RC_APPLY(div(a, b));
        break;
      case ElementOp::kDivideInto:
        RC_APPLY(div(b, a));
        break;
      case ElementOp::kNegate:
        RC_APPLY_EACH(negated);
        break;
      default:
        RC_APPLY_EACH(relu);
        break;
    }
#undef RC_APPLY
#undef RC_APPLY_EACH
  }
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) store(task.y + at + v * kLanes, x[v]);
}

}  // namespace

int64_t elements(const ElementsTask& task) {
  int64_t at = 0;
  for (; at + kVectors * kLanes <= task.n; at += kVectors * kLanes) {
    some<kVectors>(task, at);
  }
  for (; at + kLanes <= task.n; at += kLanes) some<1>(task, at);
  return at;
}

}  // namespace rc::cpu::RC_CPU_LEVEL
