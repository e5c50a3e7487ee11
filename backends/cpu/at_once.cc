#include "cpu/at_once.h"

#include <algorithm>

#include "cpu/direct_matmul.h"
#include "cpu/elements.h"
#include "cpu/numbers.h"
#include "cpu/ranges.h"
#include "cpu/sums.h"

namespace rc::cpu {
namespace {

// Above this cost a run has to check whether it is to stop.
constexpr int64_t kMostCost = int64_t{1} << 20;
// And above this one threads that sleep are worth waking; those that are awake
// help from kHelpCost on.
constexpr int64_t kWakingCost = int64_t{1} << 16;
constexpr int64_t kHelpCost = int64_t{1} << 14;
// Below this one no thread waits for another on a crowded machine.
constexpr int64_t kCrowdCost = int64_t{1} << 18;
// So many times a thread comes for more: the last ones end together.
constexpr int kRanges = 64;
// Above this cost products have to check whether they are to stop: it is a
// millisecond of one thread, if memory is slow.
constexpr int64_t kMostProductCost = int64_t{1} << 21;
// Floats of a matrix's last columns whose copy lies on the stack.
constexpr int64_t kMostCopied = 128 * kTileRows;
// Elements of a line that a thread does in one go.
constexpr int64_t kGoElements = int64_t{1} << 12;

// Calls function(i) for 0 <= i < count, each taking a part of the cost.
template <class Function>
void each_of(Pool& pool, int64_t cost, int64_t count,
             const Function& function) {
  const bool wake = cost >= kWakingCost;
  if (cost < kHelpCost || count == 1 || (!wake && pool.all_asleep()) ||
      (cost < kCrowdCost && pool.crowded())) {
    for (int64_t i = 0; i < count; ++i) function(i);
    return;
  }
  run_ranges(
      pool, count,
      [](void* user, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          (*static_cast<const Function*>(user))(i);
        }
      },
      const_cast<void*>(static_cast<const void*>(&function)), wake, kRanges);
}

bool sum_at_once(const Kernels& kernels, Pool& pool, const Sums& of,
                 const float* x, float* y) {
  constexpr int64_t kMostUnits = 1024;
  // It takes no longer than memory does.
  if (of.cost() > 8 * kMostCost) return false;
  const int64_t pieces = of.pieces();
  if (pieces == 1) {
    each_of(pool, of.cost(), of.lines, [&](int64_t line) {
      y[line] = of.result(of.of_piece(kernels, x, line, 0));
    });
    return true;
  }
  if (of.lines > kMostUnits / pieces) return false;
  double sums[kMostUnits];
  each_of(pool, of.cost(), of.lines * pieces, [&](int64_t unit) {
    sums[unit] = of.of_piece(kernels, x, unit / pieces, unit % pieces);
  });
  for (int64_t line = 0; line < of.lines; ++line) {
    double total = 0;
    for (int64_t i = 0; i < pieces; ++i) total += sums[line * pieces + i];
    y[line] = of.result(total);
  }
  return true;
}

bool softmax_at_once(const Kernels& kernels, Pool& pool, const int64_t* shape,
                     const float* x, float* y) {
  const int64_t lines = shape[0];
  const int64_t n = shape[1];
  if (shape[2] != 1 || lines > kMostCost / 4 / n) return false;
  each_of(pool, lines * n * 4, lines, [&](int64_t line) {
    kernels.softmax(x + line * n, n, y + line * n);
  });
  return true;
}

bool product_at_once(const Kernels& kernels, Pool& pool, const Op& op,
                     std::span<const rc_plugin_value> values, const float* a,
                     const float* b, float* y) {
  const DirectMatmul product(
      MatmulSizes(values[op.inputs[0]], values[op.inputs[1]], op));
  if (!product.pays(kernels) || op.inputs[2] >= 0 ||
      op.params.matmul.function != RC_FUNCTION_NONE ||
      product.cost() > kMostProductCost || product.room() > kMostCopied) {
    return false;
  }
  each_of(pool, product.cost(), product.pieces(), [&](int64_t piece) {
    float copy[kMostCopied];
    product.compute(kernels, a, b, piece, y, copy);
  });
  return true;
}

bool elements_at_once(const Kernels& kernels, Pool& pool,
                      const Elements& elements, const float* const* from,
                      float* to) {
  if (elements.cost() > kMostCost) return false;
  const int64_t columns = elements.columns();
  const int64_t blocks = (columns + kGoElements - 1) / kGoElements;
  each_of(pool, elements.cost(), elements.lines() * blocks, [&](int64_t unit) {
    const int64_t first = unit % blocks * kGoElements;
    elements.compute(kernels, from, to, unit / blocks, first,
                     std::min(kGoElements, columns - first));
  });
  return true;
}

bool numbers_at_once(const Kernels& kernels, Pool& pool,
                     const Elements& elements, rc_dtype type,
                     const uint8_t* const* from, uint8_t* to) {
  if (elements.cost() > kMostCost) return false;
  const int64_t columns = elements.columns();
  const int64_t blocks = (columns + kGoElements - 1) / kGoElements;
  each_of(pool, elements.cost(), elements.lines() * blocks, [&](int64_t unit) {
    const int64_t first = unit % blocks * kGoElements;
    numbers::compute_elements(kernels, elements, type, from, to, unit / blocks,
                              first, std::min(kGoElements, columns - first));
  });
  return true;
}

}  // namespace

bool run_at_once(const Kernels& kernels, Pool& pool, const Op& op,
                 std::span<const rc_plugin_value> values,
                 uint8_t* const* memory) {
  const auto at = [&](int32_t number) {
    return reinterpret_cast<float*>(memory[number]);
  };
  if (Elements::has(op.code)) {
    const Elements elements(op, values);
    const uint8_t* from[kMaxInputs];
    const float* floats[kMaxInputs];
    for (int k = 0; k < elements.operands(); ++k) {
      from[k] = memory[op.inputs[k]];
      floats[k] = at(op.inputs[k]);
    }
    const rc_dtype type = values[op.outputs[0]].dtype;
    if (type != RC_DTYPE_F32) {
      return numbers_at_once(kernels, pool, elements, type, from,
                             memory[op.outputs[0]]);
    }
    return elements_at_once(kernels, pool, elements, floats, at(op.outputs[0]));
  }
  if (op.code != RC_OP_REDUCE && op.code != RC_OP_SOFTMAX &&
      op.code != RC_OP_MATMUL) {
    return false;
  }
  if (has_other_numbers(op, values.data())) return false;
  if (op.code == RC_OP_MATMUL) {
    return product_at_once(kernels, pool, op, values, at(op.inputs[0]),
                           at(op.inputs[1]), at(op.outputs[0]));
  }
  if (op.code == RC_OP_SOFTMAX) {
    return softmax_at_once(kernels, pool, values[op.inputs[0]].shape,
                           at(op.inputs[0]), at(op.outputs[0]));
  }
  return Sums::are(op, values) &&
         sum_at_once(kernels, pool, Sums(op, values), at(op.inputs[0]),
                     at(op.outputs[0]));
}

}  // namespace rc::cpu
