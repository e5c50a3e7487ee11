// The rules of the tensor ops of plugin.h.
#include "base/checked.h"
#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/op_rules.h"

namespace rc {
namespace {

class TensorOpCheck : OpRules {
 public:
  using OpRules::OpRules;
  void run() const;

 private:
  // Of fixed shape, from the host or another op.
  const PluginValue& value(int32_t number, const char* role) const {
    const PluginValue& found = OpRules::value(number, role);
    if (found.storage == RC_STORAGE_WEIGHT || found.shape[0] < 1) {
      refuse(role, " is ", value_text(found), " where ",
             found.storage == RC_STORAGE_WEIGHT ? "no weight" : "a fixed shape",
             " is needed");
    }
    return found;
  }
  const PluginValue& any_input(int slot, const char* role) const {
    return value(op_.inputs[slot], role);
  }
  const PluginValue& input(int slot, const char* role) const {
    const PluginValue& found = any_input(slot, role);
    if (found.dtype != RC_DTYPE_F32) {
      refuse(role, " is ", value_text(found), " where F32 is needed");
    }
    return found;
  }
  const PluginValue& input(int slot, const char* role, int rank) const {
    const PluginValue& found = input(slot, role);
    need_rank(found, role, rank);
    return found;
  }
  bool has(int slot) const { return op_.inputs[slot] != -1; }
  void optional_vector(int slot, const char* role, int64_t size) const {
    if (has(slot)) expect(input(slot, role), role, RC_DTYPE_F32, {size});
  }
  const PluginValue& output() const {
    const PluginValue& found = value(op_.outputs[0], "output");
    if (found.storage == RC_STORAGE_INPUT) {
      refuse("the output is an input of the program");
    }
    return found;
  }
  void need_rank(const PluginValue& value, const char* role, int rank) const {
    if (value.rank != rank) {
      refuse(role, " is ", value_text(value), " where rank ", rank,
             " is needed");
    }
  }
  // Decodable, but nothing else.
  void numbers(const PluginValue& value, const char* role) const {
    if (find_decoder(value.dtype) == nullptr) {
      fail(RC_E_UNSUPPORTED, op_name(op_.code), ": ", role, " is ",
           value_text(value), ", a type that cannot be decoded");
    }
  }
  void copy() const;
  void convert() const;
  void unary() const;
  void binary() const;
  void layer_norm() const;
  void softmax() const;
  void reduce() const;
  void argmax() const;
  void matmul() const;
  void conv2d() const;
  void attend() const;
  void get_rows() const;
  void rope() const;
};

void TensorOpCheck::copy() const {
  const PluginValue& x = any_input(0, "x");
  need_rank(x, "x", 1);
  const PluginValue& y = output();
  if (y.dtype != x.dtype) {
    refuse("x is ", value_text(x), ", the output is ", value_text(y),
           "; their types must be equal");
  }
  const int64_t block = dtype_info(x.dtype)->block_size;
  const int last = y.rank - 1;
  // The elements that the view reaches over.
  std::optional<int64_t> reach = block;
  for (int i = 0; i < y.rank && reach; ++i) {
    const int64_t stride = op_.params.copy.strides[i];
    const bool whole =
        block == 1 || (i == last ? stride == 1 : stride % block == 0);
    if (stride < 0 || !whole) {
      refuse("the stride of dimension ", i, " of ", value_text(y), " is ",
             stride);
    }
    const int64_t steps = i == last ? y.shape[i] - block : y.shape[i] - 1;
    const auto distance = checked_mul(steps, stride);
    reach = distance ? checked_add(*reach, *distance) : std::nullopt;
  }
  if (!reach || *reach > x.shape[0]) {
    refuse("a view as ", value_text(y), " reaches beyond ", value_text(x));
  }
}

void TensorOpCheck::convert() const {
  const PluginValue& x = any_input(0, "x");
  const PluginValue& y = output();
  PluginValue wanted = x;
  wanted.dtype = y.dtype;
  expect_alike(y, "output", wanted);
  if (y.dtype == RC_DTYPE_F32) return numbers(x, "x");
  if (x.dtype != RC_DTYPE_F32) {
    refuse("x is ", value_text(x), ", the output is ", value_text(y),
           "; one of them must be F32");
  }
  if (!encodable(y.dtype)) {
    fail(RC_E_UNSUPPORTED, "CONVERT: the output is ", value_text(y),
         ", a type that cannot be encoded");
  }
}

void TensorOpCheck::unary() const {
  expect_alike(output(), "output", input(0, "x"));
  function(op_.params.unary.function, RC_FUNCTION_RELU, RC_FUNCTION_GELU_QUICK);
}

void TensorOpCheck::binary() const {
  const PluginValue& a = input(0, "a");
  const PluginValue& b = input(1, "b");
  PluginValue wanted = a.rank >= b.rank ? a : b;
  for (int i = 1; i <= wanted.rank; ++i) {
    const int64_t da = i <= a.rank ? a.shape[a.rank - i] : 1;
    const int64_t db = i <= b.rank ? b.shape[b.rank - i] : 1;
    if (da != db && da != 1 && db != 1) {
      refuse("a is ", value_text(a), ", b is ", value_text(b), "; dimensions ",
             da, " and ", db, " are neither equal nor 1");
    }
    wanted.shape[wanted.rank - i] = da == 1 ? db : da;
  }
  expect_alike(output(), "output", wanted);
  function(op_.params.binary.function, RC_BINARY_ADD, RC_BINARY_MUL);
}

void TensorOpCheck::layer_norm() const {
  const PluginValue& x = input(0, "x");
  const int64_t d = x.shape[x.rank - 1];
  optional_vector(1, "weight", d);
  optional_vector(2, "bias", d);
  expect_alike(output(), "output", x);
  layer_norm_params();
}

void TensorOpCheck::softmax() const {
  expect_alike(output(), "output", input(0, "x", 3));
}

void TensorOpCheck::reduce() const {
  const PluginValue& x = input(0, "x", 3);
  expect(output(), "output", RC_DTYPE_F32, {x.shape[0], x.shape[2]});
  function(op_.params.reduce.function, RC_REDUCE_SUM, RC_REDUCE_MAX);
}

void TensorOpCheck::argmax() const {
  const PluginValue& x = input(0, "x", 3);
  if (x.shape[1] > INT32_MAX) {
    refuse("x is ", value_text(x), ": I32 cannot hold the places");
  }
  expect(output(), "output", RC_DTYPE_I32, {x.shape[0], x.shape[2]});
}

void TensorOpCheck::matmul() const {
  const PluginValue& a = input(0, "a", 3);
  const bool transposed = op_.params.matmul.transposed != 0;
  flag("transposed", op_.params.matmul.transposed);
  const PluginValue& b = transposed ? any_input(1, "b") : input(1, "b");
  need_rank(b, "b", 3);
  numbers(b, "b");
  if (b.shape[transposed ? 2 : 1] != a.shape[2] ||
      (b.shape[0] != a.shape[0] && b.shape[0] != 1)) {
    refuse("a is ", value_text(a), ", b is ", value_text(b),
           transposed ? ", transposed" : "", "; they do not fit");
  }
  const int64_t n = b.shape[transposed ? 1 : 2];
  optional_vector(2, "bias", n);
  expect(output(), "output", RC_DTYPE_F32, {a.shape[0], a.shape[1], n});
  function(op_.params.matmul.function, RC_FUNCTION_NONE,
           RC_FUNCTION_GELU_QUICK);
}

void TensorOpCheck::conv2d() const {
  const PluginValue& x = input(0, "x", 4);
  const PluginValue& weight = input(1, "weight", 4);
  const auto& params = op_.params.conv2d;
  const int64_t outputs = weight.shape[0];
  if (params.groups < 1 || x.shape[1] % params.groups != 0 ||
      outputs % params.groups != 0 ||
      x.shape[1] / params.groups != weight.shape[1]) {
    refuse("x is ", value_text(x), ", weight is ", value_text(weight),
           "; with ", params.groups,
           " groups the second dimension of the weight times the groups must "
           "be the channels, and its first a multiple of the groups");
  }
  int64_t size[2];
  for (int i = 0; i < 2; ++i) {
    if (params.stride[i] < 1 || params.dilation[i] < 1 ||
        params.padding[i] < 0) {
      refuse("stride ", params.stride[i], ", dilation ", params.dilation[i],
             ", padding ", params.padding[i],
             ": strides and dilations are at least 1, paddings at least 0");
    }
    const auto padded =
        checked_add(x.shape[2 + i], 2 * int64_t{params.padding[i]});
    const auto window =
        checked_mul(weight.shape[2 + i] - 1, int64_t{params.dilation[i]});
    if (!padded || !window || *padded <= *window) {
      refuse("x is ", value_text(x), ", weight is ", value_text(weight),
             "; with padding ", params.padding[i], " and dilation ",
             params.dilation[i], " the window is larger than x");
    }
    size[i] = (*padded - *window - 1) / params.stride[i] + 1;
  }
  optional_vector(2, "bias", outputs);
  expect(output(), "output", RC_DTYPE_F32,
         {x.shape[0], outputs, size[0], size[1]});
}

void TensorOpCheck::attend() const {
  const PluginValue& q = input(0, "q", 4);
  const PluginValue& k = input(1, "k", 4);
  expect_alike(input(2, "v", 4), "v", k);
  if (k.shape[0] != q.shape[0] || k.shape[3] != q.shape[3] ||
      q.shape[2] % k.shape[2] != 0) {
    refuse("q is ", value_text(q), ", k is ", value_text(k),
           "; they must agree in the first and last dimensions, and the heads "
           "of q be a multiple of those of k");
  }
  const auto& params = op_.params.attend;
  flag("causal", params.causal);
  if (params.causal != 0 && q.shape[1] > k.shape[1]) {
    refuse("q is ", value_text(q), ", k is ", value_text(k),
           "; causal rows cannot be more than the positions");
  }
  if (k.shape[1] > INT32_MAX) refuse("k is ", value_text(k), ": too long");
  finite("scale", params.scale);
  finite("softcap", params.softcap);
  expect_alike(output(), "output", q);
}

void TensorOpCheck::get_rows() const {
  const PluginValue& table = any_input(0, "table");
  need_rank(table, "table", 2);
  numbers(table, "table");
  const PluginValue& ids = any_input(1, "ids");
  expect(ids, "ids", RC_DTYPE_I32, {ids.shape[0]});
  expect(output(), "output", RC_DTYPE_F32, {ids.shape[0], table.shape[1]});
}

void TensorOpCheck::rope() const {
  const PluginValue& x = input(0, "x", 3);
  expect(any_input(1, "positions"), "positions", RC_DTYPE_I32, {x.shape[0]});
  const PluginValue& frequencies = input(2, "frequencies", 1);
  if (frequencies.shape[0] > x.shape[2] / 2) {
    refuse("frequencies are ", value_text(frequencies), ", but x is ",
           value_text(x), "; at most half as many pairs can turn");
  }
  expect_alike(output(), "output", x);
  const int32_t style = op_.params.rope.style;
  if (style != RC_ROPE_ADJACENT && style != RC_ROPE_HALVES) {
    refuse("style is ", style);
  }
  finite("scale", op_.params.rope.scale);
}

void TensorOpCheck::run() const {
  check_slots();
  switch (op_.code) {
    case RC_OP_COPY:
      return copy();
    case RC_OP_CONVERT:
      return convert();
    case RC_OP_UNARY:
      return unary();
    case RC_OP_BINARY:
      return binary();
    case RC_OP_LAYER_NORM:
      return layer_norm();
    case RC_OP_SOFTMAX:
      return softmax();
    case RC_OP_REDUCE:
      return reduce();
    case RC_OP_ARGMAX:
      return argmax();
    case RC_OP_MATMUL:
      return matmul();
    case RC_OP_CONV2D:
      return conv2d();
    case RC_OP_ATTEND:
      return attend();
    case RC_OP_GET_ROWS:
      return get_rows();
    case RC_OP_ROPE:
      return rope();
  }
  fail(RC_E_UNSUPPORTED, "op number ", op_.code, " is not known");
}

}  // namespace

void check_tensor_op(const Op& op, std::span<const rc_plugin_value> values) {
  TensorOpCheck(op, values).run();
}

}  // namespace rc
