#include <algorithm>
#include <numeric>
#include <utility>

#include "files/folder/rules.h"

namespace rc::folder {
namespace {

constexpr int64_t kMaxHeads = 4096;
// Rows of one of the parts of a group, and slabs of a view.
constexpr int64_t kMaxPart = int64_t{1} << 24;
constexpr int64_t kMaxSlabs = 65536;

std::string shape_text(const safetensors::Tensor& tensor) {
  std::string text = "[";
  for (const int64_t size : tensor.shape) {
    text += cat(text.size() > 1 ? ", " : "", size);
  }
  return text + "]";
}

TensorView paired_rows(const Config& config, const safetensors::Place& source,
                       std::string_view heads_key) {
  TensorView view = as_it_is(config, source);
  const int64_t heads = config.find_int(heads_key).value_or(
      config.get_int("num_attention_heads"));
  const auto rows = static_cast<uint64_t>(view.shape[0]);
  if (view.shape.size() > 2) refuse_shape(source, "a matrix");
  if (heads < 1 || rows % (2 * static_cast<uint64_t>(heads)) != 0) {
    refuse_shape(source, cat("pairs of rows for each of ", heads, " heads"));
  }
  // A bias has one column.
  view.rows = rows;
  view.columns = view.shape.size() == 1 ? 1 : view.columns;
  view.slabs[0].row_stride = view.columns;
  view.heads = static_cast<uint64_t>(heads);
  return view;
}

TensorView half(const Config& config, const safetensors::Place& source,
                bool second) {
  TensorView view = as_it_is(config, source);
  const size_t rank = view.shape.size();
  const int64_t experts = rank == 3 ? view.shape[0] : 1;
  if (rank < 2 || rank > 3 || view.shape[rank - 2] % 2 != 0 ||
      experts > static_cast<int64_t>(kMaxExperts)) {
    refuse_shape(source, cat("two halves of rows, of at most ", kMaxExperts,
                             " experts"));
  }
  view.shape[rank - 2] /= 2;
  view.rows = static_cast<uint64_t>(view.shape[rank - 2]);
  const uint64_t part = view.rows * view.columns;
  Slab slab = view.slabs[0];
  slab.first = second ? part : 0;
  view.slabs.clear();
  for (int64_t i = 0; i < experts; ++i) {
    view.slabs.push_back(slab);
    slab.first += 2 * part;
  }
  return view;
}

// A number for each head.
TensorView head_column(const safetensors::Place& source, Change change) {
  TensorView view = whole(source);
  if (view.shape.size() != 1) refuse_shape(source, "a number for each head");
  view.shape.push_back(1);
  view.dtype = RC_DTYPE_F32;
  view.change = change;
  return view;
}

}  // namespace

void refuse_shape(const safetensors::Place& source, const std::string& wanted) {
  fail(RC_E_FORMAT, source.file->name(), ": tensor ",
       quote(source.tensor->name), " has shape ", shape_text(*source.tensor),
       ", which is not ", wanted);
}

TensorView whole(const safetensors::Place& source) {
  const std::vector<int64_t>& shape = source.tensor->shape;
  if (shape.empty() || shape.size() > 4 ||
      std::ranges::find(shape, 0) != shape.end()) {
    refuse_shape(source, "one of 1 to 4 dimensions without a 0");
  }
  TensorView view;
  view.dtype = view.folder_dtype = float_type(source);
  view.shape = shape;
  view.columns = static_cast<uint64_t>(shape.back());
  view.rows = 1;
  for (size_t i = 0; i + 1 < shape.size(); ++i) {
    view.rows *= static_cast<uint64_t>(shape[i]);
  }
  view.slabs = {{source, 0, view.columns, 1}};
  return view;
}

TensorView as_it_is(const Config&, const safetensors::Place& source) {
  TensorView view = whole(source);
  if (view.shape.size() == 1) view.dtype = RC_DTYPE_F32;
  return view;
}

TensorView query_rows(const Config& config, const safetensors::Place& source) {
  return paired_rows(config, source, "num_attention_heads");
}

TensorView key_rows(const Config& config, const safetensors::Place& source) {
  return paired_rows(config, source, "num_key_value_heads");
}

TensorView plus_one(const Config& config, const safetensors::Place& source) {
  TensorView view = as_it_is(config, source);
  view.dtype = RC_DTYPE_F32;
  view.change = Change::kPlusOne;
  return view;
}

TensorView first_half(const Config& config, const safetensors::Place& source) {
  return half(config, source, false);
}

TensorView second_half(const Config& config, const safetensors::Place& source) {
  return half(config, source, true);
}

TensorView transposed(const Config&, const safetensors::Place& source) {
  TensorView view = whole(source);
  if (view.shape.size() != 2) refuse_shape(source, "a matrix");
  std::swap(view.shape[0], view.shape[1]);
  std::swap(view.rows, view.columns);
  view.slabs[0] = {source, 0, 1, view.rows};
  return view;
}

TensorView only_row(const Config&, const safetensors::Place& source) {
  TensorView view = whole(source);
  if (view.shape.size() != 2 || view.shape[0] != 1) {
    refuse_shape(source, "a matrix of one row");
  }
  view.shape.erase(view.shape.begin());
  view.dtype = RC_DTYPE_F32;
  return view;
}

TensorView rows_from(const safetensors::Place& source, int64_t first) {
  TensorView view = whole(source);
  if (view.shape.size() != 2 || first < 0 || view.shape[0] <= first) {
    refuse_shape(source, cat("a matrix of more than ", first, " rows"));
  }
  view.shape[0] -= first;
  view.rows -= static_cast<uint64_t>(first);
  view.slabs[0].first = static_cast<uint64_t>(first) * view.columns;
  return view;
}

TensorView decay_column(const Config&, const safetensors::Place& source) {
  return head_column(source, Change::kMinusExp);
}

TensorView decays(const Config&, const safetensors::Place& source) {
  TensorView view = whole(source);
  view.dtype = RC_DTYPE_F32;
  view.change = Change::kMinusExp;
  return view;
}

TensorView skip_column(const Config&, const safetensors::Place& source) {
  return head_column(source, Change::kNone);
}

TensorView convolution(const Config&, const safetensors::Place& source) {
  TensorView view = whole(source);
  if (view.shape.size() != 3 || view.shape[1] != 1) {
    refuse_shape(source, "a convolution of each channel by itself");
  }
  view.shape.erase(view.shape.begin() + 1);
  view.dtype = RC_DTYPE_F32;
  return view;
}

TensorView group_norm(const Config& config, const safetensors::Place& source) {
  TensorView view = as_it_is(config, source);
  const int64_t groups = config.get_int(
      config.has("mamba_n_groups") ? "mamba_n_groups" : "n_groups");
  if (view.shape.size() != 1 || groups < 1 || view.shape[0] % groups != 0) {
    refuse_shape(source, cat("rows of ", groups, " groups"));
  }
  view.shape = {groups, view.shape[0] / groups};
  return view;
}

TensorView apart(const safetensors::Place& source, int64_t heads,
                 int64_t groups) {
  TensorView view = whole(source);
  if (view.shape.size() > 2 || heads < 1 || heads > kMaxHeads || groups < 1 ||
      heads % groups != 0 || view.shape[0] % (heads + 2 * groups) != 0) {
    refuse_shape(
        source,
        cat("that of ", heads, " heads (at most ", kMaxHeads, ") in ", groups,
            " groups, each with a head of keys and one of values"));
  }
  if (view.shape.size() == 1) {
    view.dtype = RC_DTYPE_F32;
    view.columns = 1;
  }
  view.rows = static_cast<uint64_t>(view.shape[0] / (heads + 2 * groups));
  view.slabs.clear();
  const int64_t queries = heads / groups;  // of each group
  const auto add = [&](int64_t group, int64_t head) {
    const auto place = static_cast<uint64_t>(group * (queries + 2) + head);
    view.slabs.push_back(
        {source, place * view.rows * view.columns, view.columns, 1});
  };
  for (int64_t i = 0; i < heads; ++i) add(i / queries, i % queries);
  for (int64_t i = 0; i < groups; ++i) add(i, queries);
  for (int64_t i = 0; i < groups; ++i) add(i, queries + 1);
  return view;
}

TensorView parts_of_groups(const safetensors::Place& source, int64_t groups,
                           std::span<const int64_t> parts, size_t first,
                           size_t count) {
  TensorView view = whole(source);
  int64_t rows = 0;  // of a group
  int64_t step = 0;  // divides all parts
  for (const int64_t part : parts) {
    if (part < 1 || part > kMaxPart) {
      refuse_shape(source, cat("parts of 1 to ", kMaxPart, " rows"));
    }
    rows += part;
    step = std::gcd(step, part);
  }
  if (groups < 1 || groups > kMaxHeads || view.shape.size() > 2 ||
      view.shape[0] % groups != 0 || view.shape[0] / groups != rows ||
      rows / step > kMaxSlabs / groups) {
    refuse_shape(source, cat(groups, " groups of ", rows, " rows"));
  }
  if (view.shape.size() == 1) {
    view.dtype = RC_DTYPE_F32;
    view.columns = 1;
  }
  view.rows = static_cast<uint64_t>(step);
  view.slabs.clear();
  view.shape[0] = 0;
  int64_t before = 0;  // rows of a group
  for (size_t i = 0; i < parts.size(); before += parts[i++]) {
    if (i < first || i >= first + count) continue;
    view.shape[0] += groups * parts[i];
    for (int64_t group = 0; group < groups; ++group) {
      for (int64_t row = 0; row < parts[i]; row += step) {
        const auto place = static_cast<uint64_t>(group * rows + before + row);
        view.slabs.push_back({source, place * view.columns, view.columns, 1});
      }
    }
  }
  return view;
}

TensorView times(const safetensors::Place& source,
                 std::span<const Factor> factors) {
  TensorView view = whole(source);
  int64_t rows = 0;
  int64_t step = 0;
  for (const Factor& part : factors) {
    if (part.rows < 1 || part.rows > view.shape[0] - rows) {
      refuse_shape(source, "that of rows with separate factors");
    }
    rows += part.rows;
    step = std::gcd(step, part.rows);
  }
  if (view.shape.size() != 2 || rows != view.shape[0] ||
      rows / step > kMaxSlabs) {
    refuse_shape(source, cat("a matrix of ", rows, " rows"));
  }
  view.change = Change::kTimes;
  view.rows = static_cast<uint64_t>(step);
  view.slabs.clear();
  uint64_t first = 0;
  for (const Factor& part : factors) {
    for (int64_t row = 0; row < part.rows; row += step) {
      view.slabs.push_back(
          {source, first, view.columns, 1, static_cast<float>(part.factor)});
      first += view.rows * view.columns;
    }
  }
  return view;
}

}  // namespace rc::folder
