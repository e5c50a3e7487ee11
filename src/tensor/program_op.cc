// The rules of the ops on rows, in programs with symbolic dimensions.
#include "base/error.h"
#include "tensor/op_rules.h"
#include "tensor/op_schema.h"

namespace rc {
namespace {

bool is_floating_row(int64_t dimension) {
  return dimension == RC_DIM_ROWS || dimension == RC_DIM_OUTPUTS;
}

// Programs with a symbolic number of rows.
class OpCheck : OpRules {
 public:
  using OpRules::OpRules;
  void run() const;

 private:
  const PluginValue& input(int slot, const char* role) const {
    return value(op_.inputs[slot], role);
  }
  const PluginValue* optional_input(int slot, const char* role) const {
    return op_.inputs[slot] == -1 ? nullptr : &input(slot, role);
  }
  // F32 rows that an op or the host has written.
  const PluginValue& activation(const PluginValue& value, const char* role,
                                int min_rank, int max_rank) const {
    if (value.storage == RC_STORAGE_WEIGHT ||
        value.storage == RC_STORAGE_CACHE) {
      refuse(role, " is a weight or cache where rows are needed");
    }
    if (value.dtype != RC_DTYPE_F32 || !is_floating_row(value.shape[0]) ||
        value.rank < min_rank || value.rank > max_rank) {
      refuse(role, " is ", value_text(value), " where F32 rows of rank ",
             min_rank, " to ", max_rank, " are needed");
    }
    return value;
  }
  const PluginValue& weight(int slot, const char* role) const {
    const PluginValue& found = input(slot, role);
    if (found.storage != RC_STORAGE_WEIGHT) refuse(role, " must be a weight");
    return found;
  }
  const PluginValue& output(int slot) const {
    const PluginValue& found = value(op_.outputs[slot], "output");
    if (found.storage != RC_STORAGE_SCRATCH &&
        found.storage != RC_STORAGE_OUTPUT) {
      refuse("the output must be scratch or an output of the program");
    }
    return found;
  }
  const PluginValue& cache(int slot, const char* role,
                           int64_t head_size) const {
    const PluginValue& found = input(slot, role);
    const bool known = found.dtype == RC_DTYPE_F32 ||
                       found.dtype == RC_DTYPE_F16 ||
                       found.dtype == RC_DTYPE_Q8_0;
    if (found.storage != RC_STORAGE_CACHE || found.rank != 4 || !known ||
        found.shape[3] != head_size) {
      refuse(role, " is ", value_text(found),
             " where a cache [pages, kv_heads, page_size, ", head_size,
             "] of F32, F16 or Q8_0 is needed");
    }
    return found;
  }
  // positions, sequences and page_table in three slots from `slot` on.
  void places(int slot, int64_t rows) const {
    expect(input(slot, "positions"), "positions", RC_DTYPE_I32, {rows});
    expect(input(slot + 1, "sequences"), "sequences", RC_DTYPE_I32, {rows});
    const PluginValue& table = input(slot + 2, "page_table");
    if (table.dtype != RC_DTYPE_I32 || table.rank != 2 ||
        table.shape[0] != RC_DIM_SEQUENCES) {
      refuse("page_table is ", value_text(table),
             " where I32 [sequences, m] is needed");
    }
  }
  void get_rows() const;
  void rms_norm() const;
  void layer_norm() const;
  void linear() const;
  void rope() const;
  void cache_store() const;
  void attention() const;
  void glu() const;
  void unary() const;
  void add() const;
  void scale() const;
  void softcap() const;
  void route() const;
  void expert_linear() const;
  void expert_sum() const;
  // sequences and state_slots in two slots from `slot` on, then the cache.
  void states(int slot, std::initializer_list<int64_t> state) const;
  void short_conv() const;
  void selective_scan() const;
};

void OpCheck::get_rows() const {
  const PluginValue& table = input(0, "table");
  const PluginValue& ids = input(1, "ids");
  if (table.storage == RC_STORAGE_WEIGHT) {
    if (table.rank != 2) {
      refuse("table is ", value_text(table), " where rank 2 is needed");
    }
  } else {
    activation(table, "table", 2, 2);
  }
  if (!is_floating_row(ids.shape[0])) {
    refuse("ids are ", value_text(ids), " where one per row is needed");
  }
  expect(ids, "ids", RC_DTYPE_I32, {ids.shape[0]});
  expect(output(0), "output", RC_DTYPE_F32, {ids.shape[0], table.shape[1]});
}

void OpCheck::rms_norm() const {
  const PluginValue& x = activation(input(0, "x"), "x", 2, 3);
  expect(weight(1, "weight"), "weight", RC_DTYPE_F32, {x.shape[x.rank - 1]});
  expect_alike(output(0), "output", x);
  finite("epsilon", op_.params.norm.epsilon);
  if (op_.params.norm.epsilon < 0) {
    refuse("epsilon is ", op_.params.norm.epsilon);
  }
}

void OpCheck::layer_norm() const {
  const PluginValue& x = activation(input(0, "x"), "x", 2, 3);
  const int64_t d = x.shape[x.rank - 1];
  const char* const roles[] = {"weight", "bias"};
  for (int i = 0; i < 2; ++i) {
    if (optional_input(1 + i, roles[i]) == nullptr) continue;
    expect(weight(1 + i, roles[i]), roles[i], RC_DTYPE_F32, {d});
  }
  expect_alike(output(0), "output", x);
  layer_norm_params();
}

void OpCheck::linear() const {
  const PluginValue& x = activation(input(0, "x"), "x", 2, 2);
  const PluginValue& w = weight(1, "weight");
  if (w.rank != 2 || w.shape[1] != x.shape[1]) {
    refuse("x is ", value_text(x), ", weight is ", value_text(w),
           "; their last dimensions must be equal and the weight of rank 2");
  }
  const int64_t n = w.shape[0];
  if (const PluginValue* bias = optional_input(2, "bias")) {
    weight(2, "bias");
    expect(*bias, "bias", RC_DTYPE_F32, {n});
  }
  if (const PluginValue* residual = optional_input(3, "residual")) {
    activation(*residual, "residual", 2, 2);
    expect(*residual, "residual", RC_DTYPE_F32, {x.shape[0], n});
  }
  expect(output(0), "output", RC_DTYPE_F32, {x.shape[0], n});
}

void OpCheck::rope() const {
  const PluginValue& x = activation(input(0, "x"), "x", 3, 3);
  expect(input(1, "positions"), "positions", RC_DTYPE_I32, {x.shape[0]});
  const PluginValue& frequencies = weight(2, "frequencies");
  expect(frequencies, "frequencies", RC_DTYPE_F32, {frequencies.shape[0]});
  // Divided rather than doubled: the count may be anything.
  if (frequencies.shape[0] > x.shape[2] / 2) {
    refuse("frequencies are ", value_text(frequencies), ", but a head has ",
           x.shape[2], " elements; at most half as many can turn");
  }
  expect_alike(output(0), "output", x);
  const int32_t style = op_.params.rope.style;
  if (style != RC_ROPE_ADJACENT && style != RC_ROPE_HALVES) {
    refuse("style is ", style);
  }
  finite("scale", op_.params.rope.scale);
}

void OpCheck::cache_store() const {
  const PluginValue& x = activation(input(0, "x"), "x", 3, 3);
  places(1, x.shape[0]);
  const PluginValue& target = cache(4, "cache", x.shape[2]);
  if (target.shape[1] != x.shape[1]) {
    refuse("x is ", value_text(x), ", but the cache is ", value_text(target));
  }
}

void OpCheck::attention() const {
  const PluginValue& q = activation(input(0, "q"), "q", 3, 3);
  const PluginValue& keys = cache(1, "key cache", q.shape[2]);
  const PluginValue& values = cache(2, "value cache", q.shape[2]);
  for (int i = 0; i < 3; ++i) {
    if (keys.shape[i] != values.shape[i]) {
      refuse("key cache is ", value_text(keys), ", value cache is ",
             value_text(values), "; their shapes must be equal");
    }
  }
  if (q.shape[1] % keys.shape[1] != 0) {
    refuse(q.shape[1], " heads are no multiple of ", keys.shape[1],
           " key/value heads");
  }
  places(3, q.shape[0]);
  if (const PluginValue* sinks = optional_input(6, "sinks")) {
    weight(6, "sinks");
    expect(*sinks, "sinks", RC_DTYPE_F32, {q.shape[1]});
  }
  const int64_t window = op_.params.attention.window;
  if (const PluginValue* lengths = optional_input(7, "lengths")) {
    expect(*lengths, "lengths", RC_DTYPE_I32, {RC_DIM_SEQUENCES});
    if (lengths->storage != RC_STORAGE_INPUT) {
      refuse("lengths must be an input of the program");
    }
    if (window != 0) {
      refuse("window is ", window, ", but with lengths a row sees all");
    }
  }
  expect_alike(output(0), "output", q);
  finite("scale", op_.params.attention.scale);
  finite("softcap", op_.params.attention.softcap);
  if (window < 0) refuse("window is ", window);
}

void OpCheck::glu() const {
  const PluginValue& gate = activation(input(0, "gate"), "gate", 1, 4);
  expect_alike(activation(input(1, "up"), "up", 1, 4), "up", gate);
  expect_alike(output(0), "output", gate);
  const auto& params = op_.params.glu;
  function(params.function, RC_FUNCTION_RELU, RC_FUNCTION_GELU_QUICK);
  finite("limit", params.limit);
  finite("offset", params.offset);
  if (params.limit < 0) refuse("limit is ", params.limit);
}

void OpCheck::unary() const {
  expect_alike(output(0), "output", activation(input(0, "x"), "x", 1, 4));
  function(op_.params.unary.function, RC_FUNCTION_RELU, RC_FUNCTION_GELU_QUICK);
}

void OpCheck::add() const {
  const PluginValue& a = activation(input(0, "a"), "a", 1, 4);
  expect_alike(activation(input(1, "b"), "b", 1, 4), "b", a);
  expect_alike(output(0), "output", a);
}

void OpCheck::scale() const {
  expect_alike(output(0), "output", activation(input(0, "x"), "x", 1, 4));
  finite("factor", op_.params.scale.factor);
}

void OpCheck::softcap() const {
  expect_alike(output(0), "output", activation(input(0, "x"), "x", 1, 4));
  finite("cap", op_.params.softcap.cap);
  if (op_.params.softcap.cap <= 0) refuse("cap is ", op_.params.softcap.cap);
}

void OpCheck::route() const {
  const PluginValue& x = activation(input(0, "x"), "x", 2, 2);
  const PluginValue& ids = output(0);
  const int64_t k = ids.rank == 2 ? ids.shape[1] : 0;
  if (k < 1 || k > x.shape[1]) {
    refuse("ids are ", value_text(ids), ": cannot choose ", k, " of ",
           x.shape[1], " experts");
  }
  expect(ids, "ids", RC_DTYPE_I32, {x.shape[0], k});
  expect(output(1), "weights", RC_DTYPE_F32, {x.shape[0], k});
}

void OpCheck::expert_linear() const {
  const PluginValue& x = activation(input(0, "x"), "x", 2, 3);
  const PluginValue& w = weight(1, "weight");
  const PluginValue& ids = input(2, "ids");
  if (w.rank != 3 || w.shape[2] != x.shape[x.rank - 1]) {
    refuse("x is ", value_text(x), ", weight is ", value_text(w),
           "; their last dimensions must be equal and the weight of rank 3");
  }
  const int64_t k = ids.rank == 2 ? ids.shape[1] : 0;
  if (k < 1) {
    refuse("ids are ", value_text(ids), " where rank 2 is needed");
  }
  expect(ids, "ids", RC_DTYPE_I32, {x.shape[0], k});
  if (x.rank == 3) expect(x, "x", RC_DTYPE_F32, {x.shape[0], k, w.shape[2]});
  if (const PluginValue* bias = optional_input(3, "bias")) {
    weight(3, "bias");
    expect(*bias, "bias", RC_DTYPE_F32, {w.shape[0], w.shape[1]});
  }
  expect(output(0), "output", RC_DTYPE_F32, {x.shape[0], k, w.shape[1]});
}

void OpCheck::expert_sum() const {
  const PluginValue& x = activation(input(0, "x"), "x", 3, 3);
  expect(activation(input(1, "weights"), "weights", 2, 2), "weights",
         RC_DTYPE_F32, {x.shape[0], x.shape[1]});
  expect(output(0), "output", RC_DTYPE_F32, {x.shape[0], x.shape[2]});
}

void OpCheck::states(int slot, std::initializer_list<int64_t> state) const {
  expect(input(slot, "sequences"), "sequences", RC_DTYPE_I32, {RC_DIM_ROWS});
  expect(input(slot + 1, "state_slots"), "state_slots", RC_DTYPE_I32,
         {RC_DIM_SEQUENCES, 2});
  const PluginValue& cache = input(slot + 2, "cache");
  bool good = cache.storage == RC_STORAGE_CACHE &&
              cache.dtype == RC_DTYPE_F32 &&
              cache.rank == static_cast<int32_t>(state.size()) + 1;
  std::string wanted;
  int i = 1;
  for (const int64_t size : state) {
    good = good && cache.shape[i++] == size;
    wanted += cat(", ", size);
  }
  if (!good) {
    refuse("cache is ", value_text(cache), " where a cache F32 [slots", wanted,
           "] is needed");
  }
}

void OpCheck::short_conv() const {
  const PluginValue& x = activation(input(0, "x"), "x", 2, 2);
  const PluginValue& w = weight(1, "weight");
  if (x.shape[0] != RC_DIM_ROWS || w.dtype != RC_DTYPE_F32 || w.rank != 2 ||
      w.shape[0] != x.shape[1] || w.shape[1] < 2) {
    refuse("x is ", value_text(x), ", weight is ", value_text(w),
           "; F32 [rows, d] and F32 [d, 2 or more] are needed");
  }
  if (const PluginValue* bias = optional_input(2, "bias")) {
    weight(2, "bias");
    expect(*bias, "bias", RC_DTYPE_F32, {x.shape[1]});
  }
  states(3, {w.shape[1] - 1, x.shape[1]});
  expect_alike(output(0), "output", x);
  function(op_.params.short_conv.function, RC_FUNCTION_NONE,
           RC_FUNCTION_GELU_QUICK);
}

void OpCheck::selective_scan() const {
  const PluginValue& x = activation(input(0, "x"), "x", 3, 3);
  const int64_t heads = x.shape[1];
  expect(activation(input(1, "steps"), "steps", 2, 2), "steps", RC_DTYPE_F32,
         {RC_DIM_ROWS, heads});
  const PluginValue& b = activation(input(2, "b"), "b", 3, 3);
  expect_alike(activation(input(3, "c"), "c", 3, 3), "c", b);
  if (x.shape[0] != RC_DIM_ROWS || b.shape[0] != RC_DIM_ROWS ||
      heads % b.shape[1] != 0) {
    refuse("x is ", value_text(x), ", b is ", value_text(b),
           "; the groups of b must divide the heads of x");
  }
  int slot = 4;
  for (const char* role : {"step_bias", "decay", "skip"}) {
    expect(weight(slot++, role), role, RC_DTYPE_F32, {heads});
  }
  states(7, {heads, x.shape[2], b.shape[2]});
  expect_alike(output(0), "output", x);
}

void OpCheck::run() const {
  check_slots();
  switch (op_.code) {
    case RC_OP_GET_ROWS:
      return get_rows();
    case RC_OP_RMS_NORM:
      return rms_norm();
    case RC_OP_LAYER_NORM:
      return layer_norm();
    case RC_OP_LINEAR:
      return linear();
    case RC_OP_ROPE:
      return rope();
    case RC_OP_CACHE_STORE:
      return cache_store();
    case RC_OP_ATTENTION:
      return attention();
    case RC_OP_GLU:
      return glu();
    case RC_OP_UNARY:
      return unary();
    case RC_OP_ADD:
      return add();
    case RC_OP_SCALE:
      return scale();
    case RC_OP_SOFTCAP:
      return softcap();
    case RC_OP_ROUTE:
      return route();
    case RC_OP_EXPERT_LINEAR:
      return expert_linear();
    case RC_OP_EXPERT_SUM:
      return expert_sum();
    case RC_OP_SHORT_CONV:
      return short_conv();
    case RC_OP_SELECTIVE_SCAN:
      return selective_scan();
  }
  fail(RC_E_UNSUPPORTED, "op number ", op_.code, " is not known");
}

}  // namespace

void check_program_op(const Op& op, std::span<const rc_plugin_value> values) {
  OpCheck(op, values).run();
}

}  // namespace rc
