#include "tensor/op_rules.h"

#include <optional>

#include "base/checked.h"
#include "tensor/dtype.h"
#include "tensor/op_match.h"
#include "tensor/value.h"

namespace rc {
namespace {

// The size of the output in one of the two directions.
int64_t convolved(const OpMatch& op, int direction) {
  const auto& params = op.params().conv2d;
  const int32_t stride = params.stride[direction];
  const int32_t dilation = params.dilation[direction];
  const int32_t padding = params.padding[direction];
  if (stride < 1 || dilation < 1 || padding < 0) {
    op.refuse("stride ", stride, ", dilation ", dilation, ", padding ", padding,
              ": strides and dilations are at least 1, paddings at least 0");
  }
  const rc_plugin_value& x = op.input(0);
  const rc_plugin_value& weight = op.input(1);
  const auto padded = checked_add(x.shape[2 + direction], 2 * int64_t{padding});
  const auto window =
      checked_mul(weight.shape[2 + direction] - 1, int64_t{dilation});
  if (!padded || !window || *padded <= *window) {
    op.refuse("x is ", value_text(x), ", weight is ", value_text(weight),
              "; with padding ", padding, " and dilation ", dilation,
              " the window is larger than x");
  }
  return (*padded - *window - 1) / stride + 1;
}

}  // namespace

void check_pairs(const OpMatch& op) {
  // Divided rather than doubled: the count may be anything.
  if (op["pairs"] > op["d"] / 2) {
    op.refuse("frequencies are ", value_text(op.input(2)), ", but a head has ",
              op["d"], " elements; at most half as many can turn");
  }
}

void check_attention(const OpMatch& op) {
  if (op["heads"] % op["kv_heads"] != 0) {
    op.refuse(op["heads"], " heads are no multiple of ", op["kv_heads"],
              " key/value heads");
  }
  const int64_t window = op.params().attention.window;
  if (op.has_input(6) && op.has_input(7) && window != 0) {
    op.refuse("window is ", window,
              ", but there are no sinks where there are lengths and a window");
  }
}

void check_general_attention(const OpMatch& op) {
  const auto& params = op.params().general_attention;
  if (op["heads"] % op["kv_heads"] != 0) {
    op.refuse(op["heads"], " heads are no multiple of ", op["kv_heads"],
              " key/value heads");
  }
  if ((op.has_input(7) ? 1 : 0) + (params.window != 0 ? 1 : 0) +
          (params.chunk != 0 ? 1 : 0) >
      1) {
    op.refuse("window is ", params.window, ", chunk is ", params.chunk,
              op.has_input(7) ? ", and there are lengths" : "",
              "; only one of the three can say what a row sees");
  }
  if (params.temperature > 0 && params.temperature_length < 1) {
    op.refuse("temperature_length is ", params.temperature_length,
              ", but must be at least 1");
  }
  if (!op.has_input(2)) {
    if (op["v"] > op["d"]) {
      op.refuse("values of ", op["v"], " elements cannot be a part of keys of ",
                op["d"]);
    }
    if (op.input(1).dtype == RC_DTYPE_Q8_0 && op["v"] % 32 != 0) {
      op.refuse("values of ", op["v"],
                " elements of Q8_0 are no whole blocks of 32");
    }
  }
  if (op.has_input(9) && op["span"] % 2 != 1) {
    op.refuse("distances are ", value_text(op.input(9)),
              "; their number must be odd");
  }
}

void check_choices(const OpMatch& op) {
  if (op["k"] > op["experts"]) {
    op.refuse("cannot choose ", op["k"], " of ", op["experts"], " experts");
  }
}

void check_grouped_choices(const OpMatch& op) {
  const auto& params = op.params().choose_in_groups;
  const int64_t experts = op["experts"];
  if (params.groups < 1 || experts % params.groups != 0 ||
      params.groups_used < 1 || params.groups_used > params.groups) {
    op.refuse(params.groups_used, " of ", params.groups, " groups of ", experts,
              " experts cannot be used");
  }
  const int64_t each = experts / params.groups;
  if (params.best > each) {
    op.refuse("groups of ", each, " experts have no ", params.best,
              " best ones");
  }
  if (op["k"] > params.groups_used * each) {
    op.refuse("cannot choose ", op["k"], " of ", params.groups_used * each,
              " experts");
  }
}

void check_joined(const OpMatch& op) {
  if (op["s"] != op["m"] + op["n"]) {
    op.refuse("heads of ", op["m"], " and ", op["n"],
              " elements cannot be joined to ", op["s"]);
  }
}

void check_groups(const OpMatch& op) {
  if (op["heads"] % op["groups"] != 0) {
    op.refuse("x is ", value_text(op.input(0)), ", b is ",
              value_text(op.input(2)),
              "; the groups of b must divide the heads of x");
  }
}

void check_key_groups(const OpMatch& op) {
  if (op["heads"] % op["groups"] != 0) {
    op.refuse("v is ", value_text(op.input(0)), ", q is ",
              value_text(op.input(1)),
              "; the groups of q must divide the heads of v");
  }
}

void check_fading(const OpMatch& op) {
  if (op.has_input(4) != op.has_input(5)) {
    op.refuse("it has ", op.has_input(4) ? "a" : "b", " alone of a and b");
  }
}

void check_view(const OpMatch& op) {
  const rc_plugin_value& x = op.input(0);
  const rc_plugin_value& y = op.output();
  if (y.dtype != x.dtype) {
    op.refuse("x is ", value_text(x), ", the output is ", value_text(y),
              "; their types must be equal");
  }
  const int64_t block = dtype_info(x.dtype)->block_size;
  const int last = y.rank - 1;
  // The elements that the view reaches over.
  std::optional<int64_t> reach = block;
  for (int i = 0; i < y.rank && reach; ++i) {
    const int64_t stride = op.params().copy.strides[i];
    const bool whole =
        block == 1 || (i == last ? stride == 1 : stride % block == 0);
    if (stride < 0 || !whole) {
      op.refuse("the stride of dimension ", i, " of ", value_text(y), " is ",
                stride);
    }
    const int64_t steps = i == last ? y.shape[i] - block : y.shape[i] - 1;
    const auto distance = checked_mul(steps, stride);
    reach = distance ? checked_add(*reach, *distance) : std::nullopt;
  }
  if (!reach || *reach > x.shape[0]) {
    op.refuse("a view as ", value_text(y), " reaches beyond ", value_text(x));
  }
}

void check_conversion(const OpMatch& op) {
  const rc_plugin_value& x = op.input(0);
  const rc_plugin_value& y = op.output();
  const auto plain = [](DType dtype) {
    return dtype_info(dtype)->block_size == 1;
  };
  const bool of_f64 = x.dtype == RC_DTYPE_F64 || y.dtype == RC_DTYPE_F64;
  if (x.dtype != RC_DTYPE_F32 && y.dtype != RC_DTYPE_F32 &&
      !(of_f64 && plain(x.dtype) && plain(y.dtype))) {
    op.refuse("x is ", value_text(x), ", the output is ", value_text(y),
              "; one of them must be F32, or F64 and the other without blocks");
  }
  if (y.dtype == RC_DTYPE_F32 && find_decoder(x.dtype) == nullptr) {
    fail(RC_E_UNSUPPORTED, "CONVERT: x is ", value_text(x),
         ", a type that cannot be decoded");
  }
  if (y.dtype != RC_DTYPE_F32 && !encodable(y.dtype)) {
    fail(RC_E_UNSUPPORTED, "CONVERT: the output is ", value_text(y),
         ", a type that cannot be encoded");
  }
}

void check_gathering(const OpMatch& op) {
  const bool wide = op.input(0).dtype == RC_DTYPE_F64;
  if (op.output().dtype != (wide ? RC_DTYPE_F64 : RC_DTYPE_F32)) {
    op.refuse("table is ", value_text(op.input(0)), ", the output is ",
              value_text(op.output()), " where ", wide ? "F64" : "F32",
              " is needed");
  }
}

void check_row_function(const OpMatch& op) {
  if (op.params().unary.function > RC_FUNCTION_GELU_QUICK) {
    op.refuse("function is number ", op.params().unary.function,
              ", which only tensors take");
  }
}

void check_function(const OpMatch& op) {
  const int32_t function = op.params().unary.function;
  if (function > RC_FUNCTION_GELU_QUICK && function < RC_UNARY_EXP) {
    op.refuse("function is number ", function, ", which is none");
  }
}

void check_repeats(const OpMatch& op) {
  rc_plugin_value wanted = op.input(0);
  for (int k = 1; k < kMaxInputs && op.has_input(k); ++k) {
    const rc_plugin_value before = wanted;
    const rc_plugin_value& next = op.input(k);
    if (next.rank > wanted.rank) wanted = next;
    for (int i = 1; i <= wanted.rank; ++i) {
      const int64_t da = i <= before.rank ? before.shape[before.rank - i] : 1;
      const int64_t db = i <= next.rank ? next.shape[next.rank - i] : 1;
      if (da != db && da != 1 && db != 1) {
        op.refuse("the inputs are ", value_text(before), " and ",
                  value_text(next), "; dimensions ", da, " and ", db,
                  " are neither equal nor 1");
      }
      wanted.shape[wanted.rank - i] = da == 1 ? db : da;
    }
  }
  if (!same_shape(op.output(), wanted)) {
    op.refuse("the output is ", value_text(op.output()), " where ",
              value_text(wanted), " is needed");
  }
}

void check_places(const OpMatch& op) {
  if (op["n"] > INT32_MAX) {
    op.refuse("x is ", value_text(op.input(0)), ": I32 cannot hold the places");
  }
}

void check_product(const OpMatch& op) {
  const bool transposed = op.params().matmul.transposed != 0;
  const rc_plugin_value& b = op.input(1);
  const DType number = op.input(0).dtype;
  if (b.dtype != number && (!transposed || number != RC_DTYPE_F32)) {
    op.refuse("b is ", value_text(b), " where ", dtype_name(number),
              " is needed");
  }
  if (op[transposed ? "q" : "p"] != op["k"] ||
      op[transposed ? "p" : "q"] != op["n"]) {
    op.refuse("a is ", value_text(op.input(0)), ", b is ", value_text(b),
              transposed ? ", transposed" : "", ", the output is ",
              value_text(op.output()), "; they do not fit");
  }
}

void check_convolution(const OpMatch& op) {
  const rc_plugin_value& x = op.input(0);
  const rc_plugin_value& weight = op.input(1);
  const int32_t groups = op.params().conv2d.groups;
  if (groups < 1 || op["channels"] % groups != 0 ||
      op["outputs"] % groups != 0 || op["channels"] / groups != op["C"]) {
    op.refuse("x is ", value_text(x), ", weight is ", value_text(weight),
              "; with ", groups,
              " groups the second dimension of the weight times the groups "
              "must be the channels, and its first a multiple of the groups");
  }
  const int64_t height = convolved(op, 0);
  const int64_t width = convolved(op, 1);
  if (op["oh"] != height || op["ow"] != width) {
    op.refuse("the output is ", value_text(op.output()), " where ", height,
              " by ", width, " is needed");
  }
}

void check_attend(const OpMatch& op) {
  const rc_plugin_value& q = op.input(0);
  const rc_plugin_value& k = op.input(1);
  if (op["heads"] % op["kv_heads"] != 0) {
    op.refuse("q is ", value_text(q), ", k is ", value_text(k),
              "; the heads of q must be a multiple of those of k");
  }
  if (op.params().attend.causal != 0 && op["r"] > op["p"]) {
    op.refuse("q is ", value_text(q), ", k is ", value_text(k),
              "; causal rows cannot be more than the positions");
  }
  if (op["p"] > INT32_MAX) op.refuse("k is ", value_text(k), ": too long");
}

void check_concat(const OpMatch& op) {
  const rc_plugin_value& first = op.input(0);
  std::optional<int64_t> sum = 0;
  for (int i = 0; i < kMaxInputs; ++i) {
    if (!op.has_input(i)) continue;
    const rc_plugin_value& next = op.input(i);
    if (next.dtype != first.dtype) {
      op.refuse("a is ", value_text(first), ", another is ", value_text(next),
                "; their types must be equal");
    }
    sum = checked_add(*sum, next.shape[1]);
    if (!sum) {
      op.refuse("a is ", value_text(first), ", another is ", value_text(next),
                "; the rows are longer together than can be counted");
    }
  }
  if (op.output().dtype != first.dtype || op["s"] != *sum) {
    op.refuse("a is ", value_text(first), ", the output is ",
              value_text(op.output()), " where rows of ", *sum,
              " of that type are needed");
  }
}

void check_padding(const OpMatch& op) {
  const int64_t before = op.params().pad.before;
  if (op["m"] < op["n"] || before > op["m"] - op["n"]) {
    op.refuse("x is ", value_text(op.input(0)), ", the output is ",
              value_text(op.output()), "; it has no room for x with ", before,
              " before it");
  }
}

void check_order(const OpMatch& op) {
  if (op["k"] > op["n"]) {
    op.refuse("x is ", value_text(op.input(0)), ", which has no first ",
              op["k"]);
  }
  check_places(op);
}

}  // namespace rc
