#include <algorithm>

#include "files/folder/rules.h"

namespace rc::folder {
namespace {

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
  if (view.shape.size() != 2 || view.shape[0] % 2 != 0) {
    refuse_shape(source, "two halves of rows");
  }
  view.shape[0] /= 2;
  view.rows /= 2;
  if (second) view.slabs[0].first = view.rows * view.columns;
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

}  // namespace rc::folder
