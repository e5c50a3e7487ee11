// Experts as one tensor whose matrices multiply from the other side.
#include "files/folder/rules.h"

namespace rc::folder {
namespace {

// The columns of one of so many parts of experts [experts, in, out], as rows.
TensorView turned_columns(const safetensors::Place& source, int64_t part,
                          int64_t parts) {
  TensorView view = whole(source);
  const std::vector<int64_t> shape = view.shape;
  if (shape.size() != 3 || shape[2] % parts != 0 ||
      shape[0] > static_cast<int64_t>(kMaxExperts)) {
    refuse_shape(source,
                 cat("of at most ", kMaxExperts, " experts with a multiple of ",
                     parts, " columns"));
  }
  const auto in = static_cast<uint64_t>(shape[1]);
  const auto out = static_cast<uint64_t>(shape[2]);
  view.shape = {shape[0], shape[2] / parts, shape[1]};
  view.rows = static_cast<uint64_t>(view.shape[1]);
  view.columns = in;
  view.slabs.clear();
  for (uint64_t e = 0; e < static_cast<uint64_t>(shape[0]); ++e) {
    view.slabs.push_back(
        {source, e * in * out + static_cast<uint64_t>(part) * view.rows, 1,
         out});
  }
  return view;
}

}  // namespace

TensorView first_columns(const Config&, const safetensors::Place& source) {
  return turned_columns(source, 0, 2);
}
TensorView second_columns(const Config&, const safetensors::Place& source) {
  return turned_columns(source, 1, 2);
}
TensorView all_columns(const Config&, const safetensors::Place& source) {
  return turned_columns(source, 0, 1);
}

}  // namespace rc::folder
