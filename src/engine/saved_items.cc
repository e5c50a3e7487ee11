#include "engine/saved_items.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"

namespace rc::engine {
namespace {

constexpr char kTokensKey[] = "runcible.session.tokens";
constexpr char kRowsName[] = "embedding_rows";

// The embedding rows of a file; nullptr: there are none.
std::shared_ptr<const EmbeddingRows> read_rows(const gguf::File& file,
                                               const model::ModelFile& model,
                                               int64_t count) {
  const gguf::Tensor* const tensor = file.find_tensor(kRowsName);
  if (tensor == nullptr && count == 0) return nullptr;
  const int64_t width = model.hyper_parameters().width;
  const std::vector<int64_t> shape = {count, width};
  if (tensor == nullptr || tensor->dtype != RC_DTYPE_F32 ||
      tensor->shape != shape) {
    fail(RC_E_FORMAT, file.name(), ": ", kTokensKey, " has ", count,
         " entries of -1, but the tensor ", kRowsName,
         tensor == nullptr ? " is missing"
                           : cat(" is not F32 [", count, ", ", width, "]"));
  }
  std::vector<float> values(static_cast<size_t>(count * width));
  file.read(*tensor, 0, std::as_writable_bytes(std::span(values)));
  for (const float value : values) {
    if (!std::isfinite(value)) {
      fail(RC_E_FORMAT, file.name(), ": tensor ", kRowsName, " holds ", value);
    }
  }
  return std::make_shared<const EmbeddingRows>(std::move(values), width);
}

}  // namespace

Items read_items(const gguf::File& file, const model::ModelFile& model,
                 int64_t context_length) {
  const auto values = file.find_ints(kTokensKey);
  if (!values) {
    fail(RC_E_FORMAT, file.name(), ": ", kTokensKey, " is missing");
  }
  if (static_cast<int64_t>(values->size()) > context_length) {
    fail(RC_E_CONTEXT_FULL, file.name(), ": the saved session has ",
         values->size(), " tokens, the context holds ", context_length,
         "; load the model with a larger context_length");
  }
  const int64_t vocabulary = model.hyper_parameters().vocabulary;
  std::vector<TokenId> tokens;
  tokens.reserve(values->size());
  for (int64_t value : *values) {
    if (value < kNoToken || value >= vocabulary) {
      fail(RC_E_FORMAT, file.name(), ": ", kTokensKey, "[", tokens.size(),
           "] is ", value, "; the vocabulary has ", vocabulary, " tokens");
    }
    tokens.push_back(static_cast<TokenId>(value));
  }
  const auto rows =
      read_rows(file, model, std::ranges::count(tokens, kNoToken));
  Items items;
  items.append(tokens);
  int64_t next = 0;  // number of the next row
  for (auto at = tokens.begin(); rows != nullptr;) {
    const auto begin = std::find(at, tokens.end(), kNoToken);
    if (begin == tokens.end()) break;
    at = std::find_if(begin, tokens.end(),
                      [](TokenId token) { return token != kNoToken; });
    items.put(begin - tokens.begin(), at - begin, rows, next);
    next += at - begin;
  }
  return items;
}

void add_items(const Items& items, gguf::Writer* writer) {
  writer->add_array(kTokensKey, items.tokens());
  if (items.runs().empty()) return;
  int64_t count = 0;
  for (const EmbeddingRun& run : items.runs()) count += run.count;
  const int64_t shape[] = {count, items.runs().front().rows->width()};
  writer->add_tensor(
      kRowsName, RC_DTYPE_F32, shape, [&items](const gguf::Writer::Put& put) {
        for (const EmbeddingRun& run : items.runs()) {
          for (int64_t i = run.first; i < run.first + run.count; ++i) {
            put(std::as_bytes(run.rows->row(i)));
          }
        }
      });
}

}  // namespace rc::engine
