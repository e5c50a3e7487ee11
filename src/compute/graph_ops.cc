#include "compute/graph_ops.h"

#include <cstddef>
#include <utility>

namespace rc::compute {
namespace {

constexpr size_t kNobody = static_cast<size_t>(-1);

class Reduction {
 public:
  Reduction(Recorded& recorded, std::span<const int32_t> results)
      : recorded_(recorded),
        ops_(recorded.ops),
        needed_(ops_.size()),
        uses_(recorded.bases.size()),
        users_(recorded.bases.size(), kNobody) {
    for (const int32_t base : results) need(base);
    for (size_t i = ops_.size(); i-- > 0;) {
      if (!needed_[i]) continue;
      for (const int32_t input : ops_[i].inputs) {
        if (input < 0) continue;
        need(base_of(input));
        users_[static_cast<size_t>(base_of(input))] = i;
      }
    }
  }

  void run() {
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (!needed_[i] || ops_[i].code != RC_OP_MATMUL) continue;
      // Halves are rounded after each op.
      const DType number = value(ops_[i].outputs[0]).dtype;
      if (number == RC_DTYPE_F16 || number == RC_DTYPE_BF16) continue;
      size_t at = i;
      if (const size_t user = only_user(at); takes_bias(at, user)) {
        Op fused = ops_[at];
        fused.inputs[2] = ops_[user].inputs[1];
        at = move_to(user, at, fused);
      }
      if (const size_t user = only_user(at); takes_function(at, user)) {
        Op fused = ops_[at];
        fused.params.matmul.function = ops_[user].params.unary.function;
        at = move_to(user, at, fused);
      }
    }
    std::vector<RecordedOp> kept;
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (needed_[i]) kept.push_back(std::move(ops_[i]));
    }
    ops_ = std::move(kept);
  }

 private:
  int32_t base_of(int32_t value) const {
    return recorded_.values[static_cast<size_t>(value)].index;
  }
  const rc_plugin_value& value(int32_t number) const {
    return recorded_.values[static_cast<size_t>(number)];
  }
  int64_t elements(int32_t number) const {
    int64_t count = 1;
    for (int i = 0; i < value(number).rank; ++i)
      count *= value(number).shape[i];
    return count;
  }

  void need(int32_t base) {
    const Base& found = recorded_.bases[static_cast<size_t>(base)];
    ++uses_[static_cast<size_t>(base)];
    if (found.kind == Base::kResult) needed_[found.index] = true;
  }

  // The op that alone reads the result of this one; kNobody: there is none, or
  // the result is wanted as well.
  size_t only_user(size_t op) const {
    const auto base = static_cast<size_t>(base_of(ops_[op].outputs[0]));
    return uses_[base] == 1 ? users_[base] : kNobody;
  }

  // Whether what is read is all that was written, in the same order.
  bool reads_whole(size_t user, size_t op) const {
    const int32_t read = ops_[user].inputs[0];
    return base_of(read) == base_of(ops_[op].outputs[0]) &&
           value(read).offset == 0 &&
           elements(read) == elements(ops_[op].outputs[0]) &&
           elements(read) == elements(ops_[user].outputs[0]);
  }

  // a b + bias, in that order: which NaN a sum of two is depends on it.
  bool takes_bias(size_t op, size_t user) const {
    if (user == kNobody || ops_[user].code != RC_OP_BINARY ||
        ops_[user].params.binary.function != RC_BINARY_ADD ||
        ops_[op].inputs[2] >= 0 ||
        ops_[op].params.matmul.function != RC_FUNCTION_NONE ||
        !reads_whole(user, op)) {
      return false;
    }
    const rc_plugin_value& sum = value(ops_[user].inputs[0]);
    const rc_plugin_value& bias = value(ops_[user].inputs[1]);
    const rc_plugin_value& product = value(ops_[op].outputs[0]);
    const int64_t columns = product.shape[product.rank - 1];
    return bias.rank == 1 && bias.shape[0] == columns &&
           sum.shape[sum.rank - 1] == columns;
  }

  bool takes_function(size_t op, size_t user) const {
    return user != kNobody && ops_[user].code == RC_OP_UNARY &&
           ops_[user].params.unary.function <= RC_FUNCTION_GELU_QUICK &&
           ops_[op].params.matmul.function == RC_FUNCTION_NONE &&
           reads_whole(user, op);
  }

  // Op `from`, as `fused`, in place of op `to`, whose result it gives: all that
  // both read is there by then. Gives `to`.
  size_t move_to(size_t to, size_t from, Op fused) {
    const int32_t result = ops_[to].outputs[0];
    const int32_t base = base_of(result);
    // In the shape that this kind of op has.
    recorded_.values[static_cast<size_t>(result)] = value(fused.outputs[0]);
    recorded_.values[static_cast<size_t>(result)].index = base;
    fused.outputs[0] = result;
    needed_[from] = false;
    static_cast<Op&>(ops_[to]) = fused;
    return to;
  }

  Recorded& recorded_;
  std::vector<RecordedOp>& ops_;
  std::vector<bool> needed_;
  std::vector<size_t> uses_;   // by base
  std::vector<size_t> users_;  // by base: the first op that reads it
};

}  // namespace

void keep_needed(Recorded& recorded, std::span<const int32_t> results) {
  Reduction(recorded, results).run();
}

}  // namespace rc::compute
