// Embedding rows of sessions.
#include <cmath>
#include <vector>

#include "api/guard.h"
#include "api/session.h"
#include "api/tensor.h"
#include "model/embedding_rows.h"
#include "tensor/dtype.h"

namespace rc::api {
namespace {

bool has_rows_type(DType type) {
  return type == RC_DTYPE_F32 || type == RC_DTYPE_F16 || type == RC_DTYPE_BF16;
}

// Throws RC_E_CONTEXT_FULL before memory is taken for more rows than a session
// can have.
void check_rows(const compute::Tensor& tensor, const rc_session& handle) {
  const int64_t width = handle.file->hyper_parameters().width;
  if (!has_rows_type(tensor.dtype) || tensor.shape.size() != 2 ||
      tensor.shape[1] != width) {
    fail(RC_E_INVALID_ARGUMENT, "rows: ", tensor.text(),
         ", but embedding rows of ", handle.file->file().name(),
         " are F32, F16 or BF16 [count, ", width, "]");
  }
  const int64_t most = handle.session->options().context_length;
  if (tensor.shape[0] > most) {
    fail(RC_E_CONTEXT_FULL, "rows: ", tensor.shape[0],
         " embedding rows, but the session's context holds ", most,
         "; load the model with a larger context_length");
  }
}

std::shared_ptr<const model::EmbeddingRows> read_rows(
    const compute::Tensor& tensor) {
  const int64_t count = tensor.shape[0];
  const int64_t width = tensor.shape[1];
  std::vector<std::byte> bytes(tensor.bytes());
  compute::read(tensor, bytes);
  std::vector<float> values(static_cast<size_t>(count * width));
  decode_row(tensor.dtype, bytes.data(), values.data(), count * width);
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    const auto row = static_cast<int64_t>(i) / width;
    fail(RC_E_INVALID_ARGUMENT, "rows: number ",
         static_cast<int64_t>(i) - row * width, " of row ", row, " is ",
         values[i], ", but only finite ones are evaluated");
  }
  return std::make_shared<const model::EmbeddingRows>(std::move(values), width);
}

}  // namespace
}  // namespace rc::api

rc_status rc_session_append_embeddings(rc_session* session, rc_tensor* rows) {
  return rc::api::guard([&] {
    const rc_session& handle = rc::api::need(session, "session");
    const rc::compute::Tensor& tensor = rc::api::need_tensor(rows, "rows");
    rc::api::check_rows(tensor, handle);
    handle.session->append_embeddings(rc::api::read_rows(tensor));
  });
}
