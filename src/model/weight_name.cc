#include "model/weight_name.h"

#include <charconv>
#include <optional>

#include "base/error.h"

namespace rc::model {
namespace {

struct Rows {
  size_t bracket;  // in the name
  int64_t first, end;
  int64_t step = 0;  // 0: these rows alone
};

std::optional<Rows> find_rows(const std::string& name) {
  const size_t bracket = name.rfind('[');
  if (bracket == std::string::npos) return std::nullopt;
  Rows rows = {bracket, 0, 0, 0};
  const char* const last = name.data() + name.size();
  const auto first =
      std::from_chars(name.data() + bracket + 1, last, rows.first);
  if (first.ec != std::errc() || first.ptr == last || *first.ptr != ':') {
    return std::nullopt;
  }
  const auto end = std::from_chars(first.ptr + 1, last, rows.end);
  if (end.ec != std::errc() || end.ptr == last) return std::nullopt;
  if (*end.ptr == ']') return rows;
  if (*end.ptr != '%') return std::nullopt;
  const auto step = std::from_chars(end.ptr + 1, last, rows.step);
  if (step.ec != std::errc() || step.ptr == last || *step.ptr != ']' ||
      rows.step < 1) {
    return std::nullopt;
  }
  return rows;
}

}  // namespace

std::string name_of_rows(const std::string& tensor, int64_t first,
                         int64_t count) {
  return cat(tensor, "[", first, ":", first + count, "]");
}

std::string name_of_pieces(const std::string& tensor, int64_t first,
                           int64_t count, int64_t step) {
  return cat(tensor, "[", first, ":", first + count, "%", step, "]");
}

const gguf::Tensor* tensor_of_weight(const gguf::File& file,
                                     const std::string& name) {
  const auto rows = find_rows(name);
  return file.find_tensor(rows ? name.substr(0, rows->bracket) : name);
}

gguf::Tensor rows_of_weight(const gguf::Tensor& tensor,
                            const std::string& name) {
  gguf::Tensor result = tensor;
  if (const auto rows = find_rows(name)) {
    const uint64_t row = tensor.bytes / static_cast<uint64_t>(tensor.shape[0]);
    result.shape[0] = rows->end - rows->first;
    result.offset += row * static_cast<uint64_t>(rows->first);
    result.bytes = row * static_cast<uint64_t>(result.shape[0]);
  }
  return result;
}

std::optional<WeightPieces> pieces_of_weight(const gguf::Tensor& tensor,
                                             const std::string& name) {
  const auto rows = find_rows(name);
  if (!rows || rows->step == 0) return std::nullopt;
  const uint64_t row = tensor.bytes / static_cast<uint64_t>(tensor.shape[0]);
  const auto bytes = [row](int64_t count) {
    return row * static_cast<uint64_t>(count);
  };
  return WeightPieces{bytes(rows->first), bytes(rows->end - rows->first),
                      bytes(rows->step)};
}

bool has_pieces(const std::string& name) {
  const auto rows = find_rows(name);
  return rows && rows->step > 0;
}

}  // namespace rc::model
