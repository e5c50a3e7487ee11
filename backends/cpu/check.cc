#include "cpu/check.h"

#include <cmath>
#include <cstdio>
#include <initializer_list>

#include "base/error.h"
#include "cpu/failure.h"
#include "cpu/tiles.h"
#include "tensor/dtype.h"
#include "tensor/op.h"

namespace rc::cpu {
namespace {

// One op under inspection.
class OpCheck {
 public:
  OpCheck(const rc_plugin_op& op, const rc_plugin_value* values, size_t count)
      : op_(op), values_(values), count_(count), name_(op_name(op.code)) {}

  [[noreturn]] void invalid(const char* what) const {
    fail(RC_E_INVALID_ARGUMENT, "%s: %s", name_, what);
  }
  void require(bool condition, const char* what) const {
    if (!condition) invalid(what);
  }

  bool has(int i) const { return op_.inputs[i] >= 0; }
  const rc_plugin_value& input(int i) const { return at(op_.inputs[i]); }
  const rc_plugin_value& output(int i = 0) const { return at(op_.outputs[i]); }

  void type(const rc_plugin_value& value, rc_dtype dtype,
            const char* what) const {
    if (value.dtype != dtype) {
      fail(RC_E_INVALID_ARGUMENT, "%s: %s has type %s instead of %s", name_,
           what, dtype_name(value.dtype), dtype_name(dtype));
    }
  }
  void rank(const rc_plugin_value& value, int rank, const char* what) const {
    if (value.rank != rank) {
      fail(RC_E_INVALID_ARGUMENT, "%s: %s has rank %d instead of %d", name_,
           what, value.rank, rank);
    }
  }
  void floats(const rc_plugin_value& value, int r, const char* what) const {
    type(value, RC_DTYPE_F32, what);
    rank(value, r, what);
  }
  // Weights may have any decodable type.
  void weight(const rc_plugin_value& value, int r, const char* what) const {
    rank(value, r, what);
    if (tile_dtype(value.dtype) < 0) {
      fail(RC_E_UNSUPPORTED, "%s: %s has type %s, which cannot be decoded",
           name_, what, dtype_name(value.dtype));
    }
    for (int i = 0; i < r; ++i) require(value.shape[i] > 0, what);
  }
  void rows(const rc_plugin_value& value, const char* what) const {
    if (value.shape[0] != RC_DIM_ROWS && value.shape[0] != RC_DIM_OUTPUTS) {
      fail(RC_E_INVALID_ARGUMENT,
           "%s: the first dimension of %s is no number of rows", name_, what);
    }
  }
  void same_shape(const rc_plugin_value& a, const rc_plugin_value& b) const {
    require(a.rank == b.rank, "shapes differ");
    for (int i = 0; i < a.rank; ++i) {
      require(a.shape[i] == b.shape[i], "shapes differ");
    }
  }

 private:
  const rc_plugin_value& at(int32_t index) const {
    if (index < 0) invalid("an input or output is missing");
    if (static_cast<size_t>(index) >= count_) {
      fail(RC_E_INVALID_ARGUMENT, "%s: value %d of %zu", name_, index, count_);
    }
    const rc_plugin_value& value = values_[index];
    require(value.rank >= 1 && value.rank <= RC_PLUGIN_MAX_RANK,
            "a value's rank is not 1 to 4");
    require(value.shape[0] != 0 && value.shape[0] >= RC_DIM_SEQUENCES,
            "a value's first dimension is no number");
    for (int i = 1; i < value.rank; ++i) {
      require(value.shape[i] > 0, "a value's dimension is not positive");
    }
    return value;
  }

  const rc_plugin_op& op_;
  const rc_plugin_value* values_;
  size_t count_;
  const char* name_;
};

void check_elementwise(const OpCheck& c, int inputs) {
  const rc_plugin_value& y = c.output();
  c.floats(y, y.rank, "the output");
  c.rows(y, "the output");
  for (int i = 0; i < inputs; ++i) {
    const rc_plugin_value& x = c.input(i);
    c.floats(x, x.rank, "an input");
    c.same_shape(x, y);
  }
}

void check_get_rows(const OpCheck& c) {
  const rc_plugin_value& table = c.input(0);
  if (table.shape[0] > 0) {
    c.weight(table, 2, "the table");
  } else {
    c.floats(table, 2, "the table");
    c.rows(table, "the table");
  }
  const rc_plugin_value& ids = c.input(1);
  c.type(ids, RC_DTYPE_I32, "ids");
  c.rank(ids, 1, "ids");
  c.rows(ids, "ids");
  const rc_plugin_value& y = c.output();
  c.floats(y, 2, "the output");
  c.require(y.shape[0] == ids.shape[0] && y.shape[1] == table.shape[1],
            "the output's shape is not [ids, columns of the table]");
}

void check_rms_norm(const OpCheck& c, float epsilon) {
  check_elementwise(c, 1);
  const rc_plugin_value& x = c.input(0);
  c.require(x.rank == 2 || x.rank == 3, "x has not rank 2 or 3");
  const rc_plugin_value& weight = c.input(1);
  c.weight(weight, 1, "the weight");
  c.require(weight.shape[0] == x.shape[x.rank - 1],
            "the weight is not as long as a row");
  c.require(std::isfinite(epsilon) && epsilon >= 0,
            "epsilon is not a number of at least 0");
}

void check_linear(const OpCheck& c) {
  const rc_plugin_value& x = c.input(0);
  const rc_plugin_value& weight = c.input(1);
  const rc_plugin_value& y = c.output();
  c.floats(x, 2, "x");
  c.rows(x, "x");
  c.floats(y, 2, "the output");
  c.weight(weight, 2, "the weight");
  c.require(x.shape[0] == y.shape[0], "x and the output differ in rows");
  c.require(x.shape[1] == weight.shape[1],
            "rows of x and of the weight differ in length");
  c.require(y.shape[1] == weight.shape[0],
            "the output's columns are not the weight's rows");
  if (c.has(2)) {
    c.weight(c.input(2), 1, "the bias");
    c.require(c.input(2).shape[0] == weight.shape[0],
              "the bias is not as long as the weight has rows");
  }
  if (c.has(3)) {
    c.floats(c.input(3), 2, "the residual");
    c.same_shape(c.input(3), y);
  }
}

void check_positions(const OpCheck& c, int i, const char* what,
                     const rc_plugin_value& x) {
  const rc_plugin_value& value = c.input(i);
  c.type(value, RC_DTYPE_I32, what);
  c.rank(value, 1, what);
  c.require(value.shape[0] == x.shape[0],
            "x and its positions or sequences differ in rows");
}

void check_rope(const OpCheck& c, int32_t style, float scale) {
  check_elementwise(c, 1);
  const rc_plugin_value& x = c.input(0);
  c.rank(x, 3, "x");
  check_positions(c, 1, "positions", x);
  c.weight(c.input(2), 1, "frequencies");
  c.require(c.input(2).shape[0] <= x.shape[2] / 2,
            "there are more frequencies than pairs in a head");
  c.require(style == RC_ROPE_ADJACENT || style == RC_ROPE_HALVES,
            "the style is none");
  c.require(std::isfinite(scale), "the scale is not finite");
}

void check_pages(const OpCheck& c, int i) {
  const rc_plugin_value& pages = c.input(i);
  c.type(pages, RC_DTYPE_I32, "the page table");
  c.rank(pages, 2, "the page table");
  c.require(pages.shape[0] == RC_DIM_SEQUENCES,
            "the page table has not a row per sequence");
}

void check_cache(const OpCheck& c, int i, int64_t kv_heads, int64_t d) {
  const rc_plugin_value& cache = c.input(i);
  c.rank(cache, 4, "a cache");
  c.require(cache.shape[0] > 0, "a cache has no pages");
  c.require(kv_heads <= 0 || cache.shape[1] == kv_heads,
            "a cache has another number of heads");
  c.require(cache.shape[3] == d, "a cache has heads of another length");
  cache_row_bytes(cache.dtype, d);
}

void check_cache_store(const OpCheck& c) {
  const rc_plugin_value& x = c.input(0);
  c.floats(x, 3, "x");
  c.rows(x, "x");
  check_positions(c, 1, "positions", x);
  check_positions(c, 2, "sequences", x);
  check_pages(c, 3);
  check_cache(c, 4, x.shape[1], x.shape[2]);
}

void check_attention(const OpCheck& c, float scale, float softcap,
                     int64_t window) {
  check_elementwise(c, 1);
  const rc_plugin_value& q = c.input(0);
  c.rank(q, 3, "q");
  check_cache(c, 1, 0, q.shape[2]);
  check_cache(c, 2, c.input(1).shape[1], q.shape[2]);
  c.require(c.input(1).shape[0] == c.input(2).shape[0] &&
                c.input(1).shape[2] == c.input(2).shape[2],
            "the caches of keys and values have other pages");
  c.require(q.shape[1] % c.input(1).shape[1] == 0,
            "the heads are no multiple of those of the cache");
  check_positions(c, 3, "positions", q);
  check_positions(c, 4, "sequences", q);
  check_pages(c, 5);
  c.require(std::isfinite(scale) && std::isfinite(softcap) && window >= 0,
            "a parameter is no finite number or negative");
}

void check_route(const OpCheck& c) {
  const rc_plugin_value& x = c.input(0);
  c.floats(x, 2, "x");
  c.rows(x, "x");
  const rc_plugin_value& ids = c.output(0);
  const rc_plugin_value& weights = c.output(1);
  c.type(ids, RC_DTYPE_I32, "ids");
  c.rank(ids, 2, "ids");
  c.floats(weights, 2, "weights");
  c.same_shape(ids, weights);
  c.require(ids.shape[0] == x.shape[0], "x and ids differ in rows");
  c.require(ids.shape[1] <= x.shape[1], "more experts chosen than there are");
}

void check_expert_linear(const OpCheck& c) {
  const rc_plugin_value& x = c.input(0);
  const rc_plugin_value& weight = c.input(1);
  const rc_plugin_value& ids = c.input(2);
  const rc_plugin_value& y = c.output();
  c.type(x, RC_DTYPE_F32, "x");
  c.require(x.rank == 2 || x.rank == 3, "x has not rank 2 or 3");
  c.rows(x, "x");
  c.weight(weight, 3, "the weight");
  c.type(ids, RC_DTYPE_I32, "ids");
  c.rank(ids, 2, "ids");
  c.floats(y, 3, "the output");
  c.require(ids.shape[0] == x.shape[0] && y.shape[0] == x.shape[0],
            "x, ids and the output differ in rows");
  c.require(x.shape[x.rank - 1] == weight.shape[2],
            "rows of x and of the weight differ in length");
  c.require(x.rank == 2 || x.shape[1] == ids.shape[1],
            "x and ids differ in chosen experts");
  c.require(y.shape[1] == ids.shape[1] && y.shape[2] == weight.shape[1],
            "the output's shape is not [rows, chosen, rows of an expert]");
}

void check_expert_sum(const OpCheck& c) {
  const rc_plugin_value& x = c.input(0);
  const rc_plugin_value& weights = c.input(1);
  const rc_plugin_value& y = c.output();
  c.floats(x, 3, "x");
  c.rows(x, "x");
  c.floats(weights, 2, "weights");
  c.floats(y, 2, "the output");
  c.require(weights.shape[0] == x.shape[0] && y.shape[0] == x.shape[0],
            "x, weights and the output differ in rows");
  c.require(weights.shape[1] == x.shape[1], "x and weights differ in experts");
  c.require(y.shape[1] == x.shape[2], "x and the output differ in columns");
}

// Their rules are written once, for all backends.
void check_tensor(const rc_plugin_op& op, const rc_plugin_value* values,
                  size_t count) {
  try {
    rc::check_tensor_op(op, {values, count});
  } catch (const rc::Error& error) {
    fail(error.status(), "%s", error.what());
  }
}

}  // namespace

const char* op_name(int32_t code) {
  constexpr const char* kNames[] = {
      "GET_ROWS",  "RMS_NORM",      "LINEAR",    "ROPE",  "CACHE_STORE",
      "ATTENTION", "GLU",           "ADD",       "SCALE", "SOFTCAP",
      "ROUTE",     "EXPERT_LINEAR", "EXPERT_SUM"};
  if (is_tensor_op(code)) return tensor_op_name(code);
  if (code >= RC_OP_GET_ROWS && code <= RC_OP_EXPERT_SUM) {
    return kNames[code - RC_OP_GET_ROWS];
  }
  thread_local char text[24];
  std::snprintf(text, sizeof(text), "op %d", code);
  return text;
}

uint64_t cache_row_bytes(rc_dtype dtype, int64_t d) {
  if (dtype != RC_DTYPE_F32 && dtype != RC_DTYPE_F16 &&
      dtype != RC_DTYPE_Q8_0) {
    fail(RC_E_UNSUPPORTED,
         "a cache has type %s; F32, F16 and Q8_0 are possible",
         dtype_name(dtype));
  }
  const auto bytes = row_bytes(dtype, d);
  if (!bytes) {
    fail(RC_E_UNSUPPORTED,
         "a cache of type %s has heads of %lld elements, no whole blocks",
         dtype_name(dtype), static_cast<long long>(d));
  }
  return *bytes;
}

void check_op(const rc_plugin_op& op, const rc_plugin_value* values,
              size_t count) {
  if (is_tensor_op(op.code)) return check_tensor(op, values, count);
  const OpCheck c(op, values, count);
  switch (op.code) {
    case RC_OP_GET_ROWS:
      return check_get_rows(c);
    case RC_OP_RMS_NORM:
      return check_rms_norm(c, op.params.norm.epsilon);
    case RC_OP_LINEAR:
      return check_linear(c);
    case RC_OP_ROPE:
      return check_rope(c, op.params.rope.style, op.params.rope.scale);
    case RC_OP_CACHE_STORE:
      return check_cache_store(c);
    case RC_OP_ATTENTION:
      return check_attention(c, op.params.attention.scale,
                             op.params.attention.softcap,
                             op.params.attention.window);
    case RC_OP_GLU:
      c.require(op.params.glu.activation >= RC_ACTIVATION_SILU &&
                    op.params.glu.activation <= RC_ACTIVATION_RELU,
                "the activation is none");
      return check_elementwise(c, 2);
    case RC_OP_ADD:
      return check_elementwise(c, 2);
    case RC_OP_SCALE:
      return check_elementwise(c, 1);
    case RC_OP_SOFTCAP:
      c.require(
          op.params.softcap.cap > 0 && std::isfinite(op.params.softcap.cap),
          "the cap is not a positive number");
      return check_elementwise(c, 1);
    case RC_OP_ROUTE:
      return check_route(c);
    case RC_OP_EXPERT_LINEAR:
      return check_expert_linear(c);
    case RC_OP_EXPERT_SUM:
      return check_expert_sum(c);
    default:
      fail(RC_E_UNSUPPORTED, "%s is not known to the cpu backend",
           op_name(op.code));
  }
}

}  // namespace rc::cpu
