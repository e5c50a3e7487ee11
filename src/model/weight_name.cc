#include "model/weight_name.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace rc::model {
namespace {

constexpr std::string_view kTurned = ", turned]";

struct Rows {
  size_t bracket;  // in the name
  int64_t first, end;
  int64_t period = 0;  // 0: they are all there are
  bool turned = false;
};

// Takes a number, and the text that must follow it, off the text.
bool take(std::string_view& text, int64_t& number, std::string_view then) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (!text.starts_with(then)) return false;
  text.remove_prefix(then.size());
  return true;
}

std::optional<Rows> find_rows(const std::string& name) {
  const size_t bracket = name.rfind('[');
  if (bracket == std::string::npos) return std::nullopt;
  Rows rows = {bracket, 0, 0};
  std::string_view text = std::string_view(name).substr(bracket + 1);
  if (!take(text, rows.first, ":")) return std::nullopt;
  std::string_view rest = text;
  if (take(rest, rows.end, "]") && rest.empty()) return rows;
  if (!take(text, rows.end, " of ")) return std::nullopt;
  if (!take(text, rows.period, "") || rows.period < 1) return std::nullopt;
  if (text == "]") return rows;
  rows.turned = true;
  return text == kTurned ? std::optional(rows) : std::nullopt;
}

}  // namespace

std::string name_of_rows(const std::string& tensor, int64_t first,
                         int64_t count) {
  return cat(tensor, "[", first, ":", first + count, "]");
}

std::string name_of_rows(const std::string& tensor, const RowsOfHeads& rows) {
  return cat(tensor, "[", rows.first, ":", rows.first + rows.count, " of ",
             rows.period, rows.turned ? kTurned : "]");
}

std::optional<RowsOfHeads> rows_of_heads(const std::string& weight) {
  const auto rows = find_rows(weight);
  if (!rows || rows->period == 0) return std::nullopt;
  return RowsOfHeads{rows->first, rows->end - rows->first, rows->period,
                     rows->turned};
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
    if (rows->period > 0 && result.shape.size() == 3) {  // a matrix for each
      result.shape = {result.shape[0] * result.shape[1], result.shape[2]};
    }
    const uint64_t row = tensor.bytes / static_cast<uint64_t>(result.shape[0]);
    if (rows->period > 0) {
      result.shape[0] =
          result.shape[0] / rows->period * (rows->end - rows->first);
      result.bytes = row * static_cast<uint64_t>(result.shape[0]);
      if (!rows->turned) return result;
      result.dtype = RC_DTYPE_F32;
      result.bytes = sizeof(float) * static_cast<uint64_t>(result.shape[0]) *
                     static_cast<uint64_t>(result.shape[1]);
      return result;
    }
    result.shape[0] = rows->end - rows->first;
    result.offset += row * static_cast<uint64_t>(rows->first);
    result.bytes = row * static_cast<uint64_t>(result.shape[0]);
  }
  return result;
}

}  // namespace rc::model
