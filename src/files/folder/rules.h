// Rules that make the tensors of the engine from those of a folder: one for
// each kind, by name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/folder/config.h"
#include "files/folder/tensor_view.h"

namespace rc::folder {

// Most experts in one tensor of a folder.
inline constexpr uint64_t kMaxExperts = 4096;

// Makes the view of one tensor; the name is set by who calls it. Throws
// RC_E_FORMAT naming file and tensor if its shape is not what the
// configuration says.
using Form = TensorView (*)(const Config& config,
                            const safetensors::Place& source);

// As it is; of one dimension as F32.
TensorView as_it_is(const Config& config, const safetensors::Place& source);
// Rows of queries or keys that are rotated in halves become such that are
// rotated in adjacent pairs.
TensorView query_rows(const Config& config, const safetensors::Place& source);
TensorView key_rows(const Config& config, const safetensors::Place& source);
// One is added to each number.
TensorView plus_one(const Config& config, const safetensors::Place& source);
// The first and the second half of the rows, of each expert if there are such.
TensorView first_half(const Config& config, const safetensors::Place& source);
TensorView second_half(const Config& config, const safetensors::Place& source);
// Experts [experts, in, out] become [experts, out, in]: the first or the second
// half of `out`, or all of it.
TensorView first_columns(const Config& config,
                         const safetensors::Place& source);
TensorView second_columns(const Config& config,
                          const safetensors::Place& source);
TensorView all_columns(const Config& config, const safetensors::Place& source);
// [columns, rows] becomes [rows, columns].
TensorView transposed(const Config& config, const safetensors::Place& source);
// A matrix of one row becomes that row, as F32.
TensorView only_row(const Config& config, const safetensors::Place& source);
// Rows from `first` on, of a table.
TensorView rows_from(const safetensors::Place& source, int64_t first);
// Of a state space: [heads] becomes [heads, 1], of decays held as logarithms
// or as it is; [channels, 1, taps] becomes [channels, taps]; a norm gets a row
// for each group. All as F32.
TensorView decay_column(const Config& config, const safetensors::Place& source);
// Decays held as logarithms, of the shape that they have.
TensorView decays(const Config& config, const safetensors::Place& source);
TensorView skip_column(const Config& config, const safetensors::Place& source);
TensorView convolution(const Config& config, const safetensors::Place& source);
TensorView group_norm(const Config& config, const safetensors::Place& source);

// The source of all forms: a view of a whole tensor, of any type and shape.
// Throws RC_E_FORMAT for no or more than four dimensions, or one that is 0.
TensorView whole(const safetensors::Place& source);
// Rows of queries, keys and values in turn for each group of key/value heads
// become those of all queries, then of all keys, then of all values.
TensorView apart(const safetensors::Place& source, int64_t heads,
                 int64_t groups);
// The rows `parts` of each group, one after the other in the folder, become
// those of all first parts together, then of all second parts, and so on. Of
// `parts` those from `first` on, `count` of them.
TensorView parts_of_groups(const safetensors::Place& source, int64_t groups,
                           std::span<const int64_t> parts, size_t first,
                           size_t count);
// Runs of rows, each times its factor, rounded to the type of the tensor.
struct Factor {
  int64_t rows;
  double factor;
};
TensorView times(const safetensors::Place& source,
                 std::span<const Factor> factors);
[[noreturn]] void refuse_shape(const safetensors::Place& source,
                               const std::string& wanted);

struct Rule {
  // In the folder: '*' is a number, the first one of the layer, the second one
  // of an expert; '@' at the end is "weight" or "bias"; '%' at the end is
  // anything.
  std::string_view from;
  // As the engine knows it, with the layer's number for '*'. Tensors that have
  // one number more, such as an expert's, become one. Empty: the model does
  // without.
  std::string_view to;
  Form form = as_it_is;
  // Whether it is one for the model.
  bool (*applies)(const Config& config) = nullptr;
  // Left out where another tensor becomes the same.
  bool spare = false;
};

using Rules = std::span<const Rule>;

// The views of all tensors, in an order by layer. `renames` are beginnings of
// names in the folder and what stands for them. Layers behind the last one are
// passed over if the configuration says that they guess further tokens. Throws
// RC_E_UNSUPPORTED naming a tensor that no rule is for.
struct Rename {
  std::string_view from;
  std::string_view to;
};
std::vector<TensorView> apply_rules(const Config& config,
                                    const safetensors::Shards& shards,
                                    std::span<const Rename> renames,
                                    std::span<const Rules> rules);

}  // namespace rc::folder
