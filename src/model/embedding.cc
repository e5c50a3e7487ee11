#include "model/embedding.h"

#include <algorithm>
#include <cmath>

#include "model/norm.h"
#include "tensor/dtype.h"

namespace rc::model {
namespace {

// The first `rows` rows of a matrix. check_matrix has seen it.
std::vector<float> first_rows(const gguf::File& file,
                              const gguf::Tensor& tensor, int64_t rows) {
  const int64_t columns = tensor.shape[1];
  const auto bytes = file.read(tensor);
  const uint64_t row = *row_bytes(tensor.dtype, columns);
  std::vector<float> values(static_cast<size_t>(rows * columns));
  for (int64_t r = 0; r < rows; ++r) {
    decode_row(tensor.dtype, bytes.data() + static_cast<uint64_t>(r) * row,
               values.data() + r * columns, columns);
  }
  return values;
}

}  // namespace

int64_t type_count(const gguf::File& file, const Architecture& architecture) {
  if (architecture.embedding.token_types == Presence::kNever) return 0;
  const gguf::Tensor* types = file.find_tensor(architecture.names.token_types);
  if (types == nullptr || types->shape.empty()) return 0;
  return std::min<int64_t>(types->shape[0], 2);
}

std::optional<std::vector<float>> learned_positions(
    const gguf::File& file, const Architecture& architecture,
    const HyperParameters& hyper) {
  const TensorNames& names = architecture.names;
  const gguf::Tensor* types = file.find_tensor(names.token_types);
  if (architecture.embedding.token_types == Presence::kNever ||
      types == nullptr || !architecture.embedding.learned_positions) {
    return std::nullopt;
  }
  check_matrix(file, names.token_types, {types->shape[0], hyper.width});
  const gguf::Tensor& positions = check_matrix(
      file, names.position_embedding, {hyper.context_length, hyper.width});
  const int64_t count = type_count(file, architecture);
  const std::vector<float> type = first_rows(file, *types, count);
  const std::vector<float> one =
      first_rows(file, positions, hyper.context_length);
  const auto width = static_cast<size_t>(hyper.width);
  std::vector<float> table;
  table.reserve(one.size() * static_cast<size_t>(count));
  for (size_t t = 0; t < static_cast<size_t>(count); ++t) {
    for (size_t i = 0; i < one.size(); ++i) {
      table.push_back(one[i] + type[t * width + i % width]);
    }
  }
  return table;
}

runtime::Value add_embedding(runtime::ProgramBuilder& builder, Weights& weights,
                             const Architecture& architecture,
                             const HyperParameters& hyper,
                             runtime::Value tokens, runtime::Value positions,
                             const GivenRows& given) {
  const TensorNames& names = architecture.names;
  const runtime::Value table = weights.matrix(
      names.token_embedding, {hyper.vocabulary, hyper.width}, RC_USE_ROWS);
  runtime::Value x = builder.get_rows(table, tokens);
  if (architecture.embedding.scaled) {
    x = builder.scale(x, std::sqrt(static_cast<float>(hyper.width)));
  }
  if (hyper.embedding_scale != 1.0f) {
    x = builder.scale(x, hyper.embedding_scale);
  }
  if (given.rows != runtime::kAbsent) {
    // A sum over both, of which one counts as 1 and the other as 0.
    const runtime::Value both = builder.reshape(
        builder.join(builder.reshape(x, {RC_DIM_ROWS, 1, hyper.width}),
                     given.rows),
        {RC_DIM_ROWS, 2, hyper.width});
    x = builder.expert_sum(both, given.choice);
  }
  if (architecture.embedding.learned_positions) {
    const int64_t types = type_count(weights.file(), architecture);
    const int64_t rows = std::max<int64_t>(types, 1) * hyper.context_length;
    const Weights::Shape shape = {rows, hyper.width};
    const runtime::Value learned =
        types > 0
            ? builder.weight(kPositionWeight, RC_DTYPE_F32, shape, RC_USE_ROWS)
            : weights.matrix(names.position_embedding, shape, RC_USE_ROWS);
    x = builder.add(x, builder.get_rows(learned, positions));
  } else if (architecture.embedding.token_types != Presence::kNever &&
             weights.has(names.token_types)) {
    // All tokens of a text on its own are of type 0.
    x = builder.affine(x, runtime::kAbsent,
                       weights.first_row(names.token_types, hyper.width));
  }
  if (architecture.embedding.norm) {
    x = add_norm(builder, weights, architecture, hyper.norm_epsilon, x,
                 names.embedding_norm);
  }
  return x;
}

}  // namespace rc::model
