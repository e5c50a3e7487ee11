// Products of matrices: MATMUL, and LINEAR with its weights.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/error.h"
#include "blas/ops.h"
#include "blas/tiling.h"
#include "tensor/dtype.h"

namespace rc::blas {
namespace {

// c = function(a b + bias + residual), of `batches` products.
template <class T>
struct Matrices {
  int64_t batches, m, n, k;
  const T* a;
  const std::byte* b;
  DType b_type;
  bool converts;  // b, which is transposed then
  bool one_b;     // for all products
  bool transposed;
  const T* bias;      // may be NULL; so too the residual
  const T* residual;  // may be c
  int32_t function;
  T* c;
};

bool is_half(DType type) {
  return type == RC_DTYPE_F16 || type == RC_DTYPE_BF16;
}

// Rows of b, from `first` on, and of these the numbers from `begin` on.
void convert_panel(const Matrices<float>& p, int64_t first, int64_t columns,
                   int64_t begin, int64_t depth, float* panel) {
  const DTypeInfo& type = *dtype_info(p.b_type);
  for (int64_t j = 0; j < columns; ++j) {
    const int64_t element = (first + j) * p.k + begin;
    find_decoder(p.b_type)(p.b + element * type.block_bytes, panel + j * depth,
                           depth);
  }
}

template <class T>
class Tiles {
 public:
  Tiles(Call& call, const Matrices<T>& p)
      : call_(call),
        p_(p),
        tiling_(tiling_of(p.batches, p.m, p.n, p.k,
                          p.converts ? panel_columns(p.n, p.k) : 0)),
        count_(p.batches * tiling_.tiles_down * tiling_.tiles_across) {}

  void run() const {
    run_tasks(call_.machine.team, tiling_.tasks, [&](int thread, int64_t task) {
      const int64_t first = task * tiling_.batch;
      const int64_t last = std::min(count_, first + tiling_.batch);
      for (int64_t tile = first; tile < last; ++tile) {
        if (call_.stops()) return;
        one(thread, tile);
      }
    });
  }

 private:
  void one(int thread, int64_t tile) const {
    // Tiles with the same columns of b follow each other.
    const int64_t down = tile % tiling_.tiles_down;
    const int64_t across = tile / tiling_.tiles_down % tiling_.tiles_across;
    const int64_t batch = tile / tiling_.tiles_down / tiling_.tiles_across;
    const int64_t row = down * tiling_.rows;
    const int64_t column = across * tiling_.columns;
    const int64_t rows = std::min(tiling_.rows, p_.m - row);
    const int64_t columns = std::min(tiling_.columns, p_.n - column);
    const int64_t at = (batch * p_.m + row) * p_.n + column;
    T* const c = p_.c + at;
    const bool adds = p_.residual != nullptr;
    if (adds && p_.residual != p_.c) copy_residual(at, rows, columns);
    for (int64_t begin = 0; begin < p_.k; begin += tiling_.depth) {
      if (begin > 0 && call_.stops()) return;
      const int64_t depth = std::min(tiling_.depth, p_.k - begin);
      Product<T> product = {};
      product.m = rows;
      product.n = columns;
      product.k = depth;
      product.a = p_.a + (batch * p_.m + row) * p_.k + begin;
      product.a_stride = p_.k;
      product.c = c;
      product.c_stride = p_.n;
      product.adds = adds || begin > 0;
      place_b(thread, batch, column, columns, begin, depth, &product);
      call_.machine.library.multiply(product);
    }
    if (p_.bias == nullptr && p_.function == RC_FUNCTION_NONE) return;
    for (int64_t i = 0; i < rows; ++i) {
      finish(c + i * p_.n, p_.bias == nullptr ? nullptr : p_.bias + column,
             p_.function, columns);
    }
  }

  void copy_residual(int64_t at, int64_t rows, int64_t columns) const {
    for (int64_t i = 0; i < rows; ++i) {
      std::memcpy(p_.c + at + i * p_.n, p_.residual + at + i * p_.n,
                  static_cast<size_t>(columns) * sizeof(T));
    }
  }

  void place_b(int thread, int64_t batch, int64_t column, int64_t columns,
               int64_t begin, int64_t depth, Product<T>* product) const {
    const int64_t from = p_.one_b ? 0 : batch;
    product->transposed = p_.transposed;
    if constexpr (std::is_same_v<T, float>) {
      if (p_.converts) {
        float* const panel = call_.scratch_of<float>(thread);
        convert_panel(p_, from * p_.n + column, columns, begin, depth, panel);
        product->b = panel;
        product->b_stride = depth;
        return;
      }
    }
    const T* const b = reinterpret_cast<const T*>(p_.b) + from * p_.k * p_.n;
    product->b =
        p_.transposed ? b + column * p_.k + begin : b + begin * p_.n + column;
    product->b_stride = p_.transposed ? p_.k : p_.n;
  }

  Call& call_;
  const Matrices<T>& p_;
  const Tiling tiling_;
  const int64_t count_;
};

// Throws unless sizes and strides can be given to the library.
void check_sizes(const Op& op, int64_t n, int64_t k) {
  const int64_t most = cblas().largest();
  if (n > most || k > most) {
    fail(RC_E_UNSUPPORTED, op_name(op.code), ": rows of ", std::max(n, k),
         " elements; the BLAS library has integers of 32 bits");
  }
}

template <class T>
Matrices<T> matmul_of(const Call& call) {
  const Operand& a = call.inputs[0];
  const Operand& b = call.inputs[1];
  const auto& params = call.op.params.matmul;
  Matrices<T> p = {};
  p.batches = a.shape[0];
  p.m = a.shape[1];
  p.k = a.shape[2];
  p.n = call.output.shape[2];
  p.a = a.as<T>();
  p.b = b.data;
  p.b_type = b.dtype;
  p.converts = b.dtype != a.dtype;
  p.one_b = b.shape[0] == 1;
  p.transposed = params.transposed != 0;
  p.bias = call.inputs[2].as<T>();
  p.function = params.function;
  p.c = call.output.as<T>();
  return p;
}

void check_matmul(const Op& op, std::span<const rc_plugin_value> values) {
  const rc_plugin_value& a = values[static_cast<size_t>(op.inputs[0])];
  const rc_plugin_value& b = values[static_cast<size_t>(op.inputs[1])];
  const rc_plugin_value& c = values[static_cast<size_t>(op.outputs[0])];
  const bool plain = a.dtype == RC_DTYPE_F32 || a.dtype == RC_DTYPE_F64;
  if (!plain || (a.dtype != b.dtype && !is_half(b.dtype))) {
    fail(RC_E_UNSUPPORTED, "MATMUL of ", dtype_name(a.dtype), " and ",
         dtype_name(b.dtype),
         ": BLAS has products of F32, of F64, and of F32 with F16 or BF16");
  }
  check_sizes(op, c.shape[2], a.shape[2]);
}

uint64_t scratch_for(int64_t n, int64_t k) {
  return static_cast<uint64_t>(panel_elements(n, k)) * sizeof(float);
}

uint64_t matmul_scratch(const Op& op, std::span<const rc_plugin_value> values) {
  const rc_plugin_value& a = values[static_cast<size_t>(op.inputs[0])];
  const rc_plugin_value& b = values[static_cast<size_t>(op.inputs[1])];
  const rc_plugin_value& c = values[static_cast<size_t>(op.outputs[0])];
  return a.dtype == b.dtype ? 0 : scratch_for(c.shape[2], a.shape[2]);
}

void run_matmul(Call& call) {
  if (call.inputs[0].dtype == RC_DTYPE_F64) {
    Tiles<double>(call, matmul_of<double>(call)).run();
  } else {
    Tiles<float>(call, matmul_of<float>(call)).run();
  }
}

void check_linear(const Op& op, std::span<const rc_plugin_value> values) {
  const rc_plugin_value& w = values[static_cast<size_t>(op.inputs[1])];
  if (w.dtype != RC_DTYPE_F32 && !is_half(w.dtype)) {
    fail(RC_E_UNSUPPORTED, "LINEAR with a weight of type ", dtype_name(w.dtype),
         ": BLAS multiplies by F32, F16 and BF16");
  }
  check_sizes(op, w.shape[0], w.shape[1]);
}

// Weights may lie at any address, and are converted where they cannot be read
// in place.
uint64_t linear_scratch(const Op& op, std::span<const rc_plugin_value> values) {
  const rc_plugin_value& w = values[static_cast<size_t>(op.inputs[1])];
  return scratch_for(w.shape[0], w.shape[1]);
}

void run_linear(Call& call) {
  const Operand& x = call.inputs[0];
  const Operand& w = call.inputs[1];
  Matrices<float> p = {};
  p.batches = 1;
  p.m = x.shape[0];
  p.n = w.shape[0];
  p.k = w.shape[1];
  p.a = x.as<float>();
  p.b = w.data;
  p.b_type = w.dtype;
  p.converts = w.dtype != RC_DTYPE_F32 ||
               reinterpret_cast<uintptr_t>(w.data) % alignof(float) != 0;
  p.one_b = true;
  p.transposed = true;
  p.bias = call.inputs[2].as<float>();
  p.residual = call.inputs[3].as<float>();
  p.c = call.output.as<float>();
  Tiles<float>(call, p).run();
}

}  // namespace

std::span<const OpRow> matrix_ops() {
  static constexpr OpRow kOps[] = {
      {RC_OP_LINEAR, check_linear, linear_scratch, run_linear},
      {RC_OP_MATMUL, check_matmul, matmul_scratch, run_matmul}};
  return kOps;
}

}  // namespace rc::blas
