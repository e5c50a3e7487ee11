#include "opencl/compiler.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "gpu/weight.h"
#include "opencl/arguments.h"
#include "opencl/buffer.h"
#include "opencl/model_ops.h"
#include "tensor/dtype.h"

namespace rc::opencl {
namespace {

// Flags of kernels/linear.cl.
constexpr cl_int kHasBias = 1;
constexpr cl_int kHasResidual = 2;
constexpr cl_int kXPerChoice = 4;

// Places of the numbers in the buffer of counts.
cl_int count_index(int64_t dimension) {
  return dimension == RC_DIM_ROWS ? 0 : dimension == RC_DIM_OUTPUTS ? 1 : 2;
}

}  // namespace

void Compiler::compile() {
  for (size_t i = 0; i < program_.ops.size(); ++i) {
    const Op& op = program_.ops[i];
    const size_t first = target_.size();
    const int32_t deciding = deciding_value(op);
    if (is_tensor_op(
            op, deciding < 0 ? nullptr : &program_.values[deciding].value)) {
      add_tensor_op(op);
    } else {
      add(op);
    }
    for (size_t j = first; j < target_.size(); ++j) {
      target_[j].op = static_cast<int32_t>(i);
    }
  }
}

Place Compiler::place(int32_t number, uint64_t unit) const {
  if (number < 0) return {nullptr, 0};
  const gpu::Placed& placed = program_.values[number];
  if (placed.weight != nullptr) {
    return {memory_of(placed.weight->slices[0].buffer.get()), 0};
  }
  return {memory_of(placed.region.buffer), placed.region.offset / unit};
}

cl_mem Compiler::elements(int32_t number) const { return place(number).memory; }

void Compiler::add(const Op& op) {
  const auto make = [&]() -> Step {
    switch (op.code) {
      case RC_OP_GET_ROWS:
        return get_rows(op);
      case RC_OP_RMS_NORM:
        return rms_norm(op);
      case RC_OP_LINEAR:
        return linear(op);
      case RC_OP_ROPE:
        return rope(op);
      case RC_OP_CACHE_STORE:
        return cache_store(op);
      case RC_OP_ATTENTION:
        return attention(op);
      case RC_OP_LAYER_NORM:
        return layer_norm(op);
      case RC_OP_GLU:
      case RC_OP_UNARY:
      case RC_OP_ADD:
      case RC_OP_SCALE:
      case RC_OP_SOFTCAP:
        return elementwise(op);
      case RC_OP_ROUTE:
        return route(op);
      case RC_OP_EXPERT_LINEAR:
        return expert_linear(op);
      case RC_OP_EXPERT_SUM:
        return expert_sum(op);
      case RC_OP_SHORT_CONV:
        return short_conv(op);
      case RC_OP_SELECTIVE_SCAN:
        return selective_scan(op);
    }
    fail(RC_E_UNSUPPORTED, "op number ", op.code, " is not known");
  };
  Step step = make();
  step.dimension = has_states(op)              ? int64_t{RC_DIM_SEQUENCES}
                   : op.code == RC_OP_GET_ROWS ? input(op, 1).shape[0]
                                               : input(op, 0).shape[0];
  target_.push_back(std::move(step));
}

Range Compiler::range(Kernel kernel, int64_t items, int group) const {
  Range range;
  range.kernel = std::move(kernel);
  range.group[0] = static_cast<size_t>(group);
  range.items[0] = (static_cast<size_t>(items) + group - 1) / group * group;
  return range;
}

std::string Compiler::type_definitions(rc_dtype dtype, int tile) {
  return cat(" -DTYPE_", dtype_name(dtype), definition("TILE", tile));
}

std::string Compiler::cache_definitions(const rc_plugin_value& cache) const {
  return cat(" -DCACHE_", dtype_name(cache.dtype),
             definition("HEAD", cache.shape[3]));
}

Step Compiler::get_rows(const Op& op) {
  const rc_plugin_value& table = input(op, 0);
  if (table.storage == RC_STORAGE_WEIGHT) {
    return decode_rows(op, place(op.inputs[0]), tuning_.tile,
                       weight(op.inputs[0]).layout.tile_bytes);
  }
  const Place ids = place(op.inputs[1]);
  const Place out = place(op.outputs[0]);
  const Place x = place(op.inputs[0]);
  const cl_int d = number(table.shape[1]);
  Step step;
  step.cost = static_cast<uint64_t>(d);
  step.narrow = range(device_.library().kernel("elementwise.cl", "copy_rows"),
                      (d + tuning_.lanes - 1) / tuning_.lanes, tuning_.plain);
  set_arguments(step.narrow.kernel, 0, x.memory, x.offset, ids.memory,
                ids.offset, out.memory, out.offset, d, counts_,
                count_index(table.shape[0]));
  return step;
}

Step Compiler::decode_rows(const Op& op, const Place& place_of_table, int tile,
                           uint64_t tile_bytes) {
  const rc_plugin_value& table = input(op, 0);
  const Place ids = place(op.inputs[1]);
  const Place out = place(op.outputs[0]);
  const cl_int d = number(table.shape[1]);
  Step step;
  step.cost = static_cast<uint64_t>(d);
  step.narrow = range(
      device_.library().kernel("get_rows.cl", "get_rows",
                               type_definitions(table.dtype, tile), 1),
      // No type has chunks of less than 32.
      dtype_info(table.dtype)->block_size == 1 ? d : d / 32, tuning_.plain);
  set_arguments(step.narrow.kernel, 0, place_of_table.memory,
                place_of_table.offset, cl_ulong{tile_bytes},
                number(table.shape[0]), d, ids.memory, ids.offset, out.memory,
                out.offset);
  return step;
}

Step Compiler::rms_norm(const Op& op) {
  const rc_plugin_value& x = input(op, 0);
  const Place from = place(op.inputs[0]);
  const Place to = place(op.outputs[0]);
  Step step;
  step.rows_per_row = product_of(x, 1, x.rank - 1);
  step.cost = static_cast<uint64_t>(x.shape[x.rank - 1]);
  step.narrow =
      range(device_.library().kernel("norm.cl", "rms_norm",
                                     definition("GROUP_ITEMS", tuning_.reduce)),
            tuning_.reduce, tuning_.reduce);
  set_arguments(step.narrow.kernel, 0, from.memory, from.offset,
                elements(op.inputs[1]), to.memory, to.offset,
                number(x.shape[x.rank - 1]), op.params.norm.epsilon);
  return step;
}

Range Compiler::product(const gpu::Weight& weight, int64_t n, int rows,
                        bool experts) {
  // Narrow products of GPUs share the columns among work-items; wide ones have
  // enough to do.
  const int slices = rows == 1 ? static_cast<int>(tuning_.parts) : 1;
  std::string definitions =
      type_definitions(weight.dtype, tuning_.tile) + definition("ROWS", rows) +
      definition("GROUP_ITEMS", tuning_.linear) + definition("SLICES", slices);
  if (experts) definitions += " -DEXPERTS";
  Range made =
      range(device_.library().kernel("linear.cl", "linear", definitions),
            (n + tuning_.lanes - 1) / tuning_.lanes, tuning_.linear);
  made.rows_per_block = rows;
  made.items[1] = made.group[1] = static_cast<size_t>(slices);
  return made;
}

Step Compiler::linear(const Op& op) {
  const rc_plugin_value& x = input(op, 0);
  const gpu::Weight& w = weight(op.inputs[1]);
  const int64_t n = input(op, 1).shape[0];
  const int64_t k = input(op, 1).shape[1];
  Step step;
  step.cost = static_cast<uint64_t>(n) * static_cast<uint64_t>(k);
  step.narrow = product(w, n, 1, false);
  const int64_t most = resolve_dimension(x.shape[0], program_.limits);
  if (tuning_.batch > 1 && most > tuning_.few) {
    step.wide = product(w, n, static_cast<int>(tuning_.batch), false);
    step.wide_from = tuning_.few + 1;
  }
  const Place from = place(op.inputs[0]);
  const Place residual = place(op.inputs[3]);
  const Place to = place(op.outputs[0]);
  const cl_int flags = (op.inputs[2] >= 0 ? kHasBias : 0) |
                       (op.inputs[3] >= 0 ? kHasResidual : 0);
  for (const Range* range : {&step.narrow, &step.wide}) {
    if (range->kernel == nullptr) continue;
    set_arguments(range->kernel, 0, elements(op.inputs[1]),
                  cl_ulong{w.layout.tile_bytes}, number(n), number(k),
                  from.memory, from.offset, elements(op.inputs[2]),
                  residual.memory, residual.offset, to.memory, to.offset, flags,
                  counts_, count_index(x.shape[0]));
  }
  return step;
}

Step Compiler::expert_linear(const Op& op) {
  const rc_plugin_value& x = input(op, 0);
  const rc_plugin_value& all = input(op, 1);
  const gpu::Weight& w = weight(op.inputs[1]);
  const int64_t chosen = input(op, 2).shape[1];
  number(chosen * resolve_dimension(x.shape[0], program_.limits));
  Step step;
  step.rows_per_row = chosen;
  step.cost =
      static_cast<uint64_t>(all.shape[1]) * static_cast<uint64_t>(all.shape[2]);
  step.narrow = product(w, all.shape[1], 1, true);
  const cl_int flags =
      (op.inputs[3] >= 0 ? kHasBias : 0) | (x.rank == 3 ? kXPerChoice : 0);
  const Place from = place(op.inputs[0]);
  const Place ids = place(op.inputs[2]);
  const Place to = place(op.outputs[0]);
  set_arguments(step.narrow.kernel, 0, elements(op.inputs[1]),
                cl_ulong{w.layout.tile_bytes}, number(all.shape[1]),
                number(all.shape[2]), from.memory, from.offset,
                elements(op.inputs[3]), cl_mem{}, cl_ulong{0}, to.memory,
                to.offset, flags, counts_, count_index(x.shape[0]), ids.memory,
                ids.offset, number(chosen), number(all.shape[0]),
                cl_ulong{w.layout.tiles * w.layout.tile_bytes});
  return step;
}

Step Compiler::rope(const Op& op) {
  const rc_plugin_value& x = input(op, 0);
  const int64_t pairs = input(op, 2).shape[0];
  const Place from = place(op.inputs[0]);
  const Place positions = place(op.inputs[1]);
  const Place frequencies = place(op.inputs[2]);
  const Place to = place(op.outputs[0]);
  Step step;
  step.cost = static_cast<uint64_t>(x.shape[1] * x.shape[2]);
  step.narrow = range(device_.library().kernel("rope.cl", "rope"),
                      (pairs + tuning_.lanes - 1) / tuning_.lanes, 1);
  set_arguments(step.narrow.kernel, 0, from.memory, from.offset,
                positions.memory, positions.offset, frequencies.memory,
                frequencies.offset, to.memory, to.offset, number(x.shape[1]),
                number(x.shape[2]), number(pairs),
                cl_int{op.params.rope.style == RC_ROPE_HALVES ? 1 : 0},
                op.params.rope.scale);
  return step;
}

Step Compiler::cache_store(const Op& op) {
  const rc_plugin_value& cache = input(op, 4);
  const Place x = place(op.inputs[0]);
  const Place positions = place(op.inputs[1]);
  const Place sequences = place(op.inputs[2]);
  const Place table = place(op.inputs[3]);
  Step step;
  step.cost = static_cast<uint64_t>(cache.shape[1] * cache.shape[3]);
  step.narrow = range(device_.library().kernel("cache_store.cl", "cache_store",
                                               cache_definitions(cache)),
                      cache.shape[1] * ((cache.shape[3] + 31) / 32), 1);
  set_arguments(step.narrow.kernel, 0, x.memory, x.offset, positions.memory,
                positions.offset, sequences.memory, sequences.offset,
                table.memory, table.offset, elements(op.inputs[4]),
                number(input(op, 3).shape[1]), number(cache.shape[2]),
                number(cache.shape[0]), number(cache.shape[1]), counts_);
  return step;
}

Step Compiler::attention(const Op& op) {
  const rc_plugin_value& q = input(op, 0);
  const rc_plugin_value& keys = input(op, 1);
  const Place query = place(op.inputs[0]);
  const Place positions = place(op.inputs[3]);
  const Place sequences = place(op.inputs[4]);
  const Place table = place(op.inputs[5]);
  const Place lengths = place(op.inputs[7]);
  const Place to = place(op.outputs[0]);
  Step step;
  step.attention = true;
  step.cost = static_cast<uint64_t>(2 * q.shape[1] * q.shape[2]);
  const int items = head_items(q.shape[2]);
  step.narrow =
      range(device_.library().kernel(
                "attention.cl", "attention",
                cache_definitions(keys) + definition("GROUP_ITEMS", items)),
            q.shape[1] * items, items);
  const int64_t window =
      std::min<int64_t>(op.params.attention.window, kLargest);
  set_arguments(
      step.narrow.kernel, 0, query.memory, query.offset, elements(op.inputs[1]),
      elements(op.inputs[2]), positions.memory, positions.offset,
      sequences.memory, sequences.offset, table.memory, table.offset, to.memory,
      to.offset, number(q.shape[1]), number(keys.shape[1]),
      number(input(op, 5).shape[1]), number(keys.shape[2]),
      number(keys.shape[0]), op.params.attention.scale,
      op.params.attention.softcap, number(window), counts_,
      elements(op.inputs[6]), cl_int{op.inputs[6] >= 0 ? 1 : 0}, lengths.memory,
      lengths.offset, cl_int{op.inputs[7] >= 0 ? 1 : 0});
  return step;
}

Step Compiler::elementwise(const Op& op) {
  const rc_plugin_value& x = input(op, 0);
  const int64_t width = product_of(x, 1, x.rank);
  const char* name = op.code == RC_OP_GLU     ? "glu"
                     : op.code == RC_OP_UNARY ? "unary"
                     : op.code == RC_OP_ADD   ? "add"
                     : op.code == RC_OP_SCALE ? "scale"
                                              : "softcap";
  Step step;
  step.cost = static_cast<uint64_t>(width);
  step.narrow =
      range(device_.library().kernel("elementwise.cl", name),
            (width + tuning_.lanes - 1) / tuning_.lanes, tuning_.plain);
  const Kernel& kernel = step.narrow.kernel;
  const Place a = place(op.inputs[0]);
  const Place b = place(op.inputs[1]);
  const Place to = place(op.outputs[0]);
  switch (op.code) {
    case RC_OP_GLU:
      set_arguments(kernel, 0, a.memory, a.offset, b.memory, b.offset,
                    to.memory, to.offset, number(width), op.params.glu.function,
                    op.params.glu.limit, op.params.glu.offset);
      break;
    case RC_OP_UNARY:
      set_arguments(kernel, 0, a.memory, a.offset, to.memory, to.offset,
                    number(width), op.params.unary.function);
      break;
    case RC_OP_ADD:
      set_arguments(kernel, 0, a.memory, a.offset, b.memory, b.offset,
                    to.memory, to.offset, number(width));
      break;
    case RC_OP_SCALE:
      set_arguments(kernel, 0, a.memory, a.offset, to.memory, to.offset,
                    number(width), op.params.scale.factor);
      break;
    default:
      set_arguments(kernel, 0, a.memory, a.offset, to.memory, to.offset,
                    number(width), op.params.softcap.cap);
  }
  return step;
}

Step Compiler::route(const Op& op) {
  const rc_plugin_value& x = input(op, 0);
  const int64_t chosen = output(op).shape[1];
  const Place from = place(op.inputs[0]);
  const Place ids = place(op.outputs[0]);
  const Place weights = place(op.outputs[1]);
  Step step;
  step.cost = static_cast<uint64_t>(x.shape[1] * chosen);
  step.narrow = range(device_.library().kernel("route.cl", "route"), 1, 1);
  set_arguments(step.narrow.kernel, 0, from.memory, from.offset, ids.memory,
                ids.offset, weights.memory, weights.offset, number(x.shape[1]),
                number(chosen), cl_int{op.params.route.normalize != 0 ? 1 : 0});
  return step;
}

Step Compiler::expert_sum(const Op& op) {
  const rc_plugin_value& x = input(op, 0);
  const int64_t chosen = x.shape[1];
  const int64_t width = x.shape[2];
  const Place from = place(op.inputs[0]);
  const Place weights = place(op.inputs[1]);
  const Place to = place(op.outputs[0]);
  Step step;
  step.cost = static_cast<uint64_t>(width * chosen);
  step.narrow =
      range(device_.library().kernel("elementwise.cl", "expert_sum"),
            (width + tuning_.lanes - 1) / tuning_.lanes, tuning_.plain);
  set_arguments(step.narrow.kernel, 0, from.memory, from.offset, weights.memory,
                weights.offset, to.memory, to.offset, number(width),
                number(chosen));
  return step;
}

}  // namespace rc::opencl
