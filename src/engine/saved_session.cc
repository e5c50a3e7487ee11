#include "engine/saved_session.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "base/error.h"
#include "engine/session_state.h"
#include "engine/session_tokens.h"
#include "model/layer_state.h"
#include "tensor/dtype.h"

namespace rc::engine {
namespace {

using model::LayerState;

constexpr int64_t kVersion = 1;
constexpr char kArchitecture[] = "runcible.session";
constexpr char kVersionKey[] = "runcible.session.version";
constexpr char kModelKey[] = "runcible.session.model";
constexpr char kCacheTypeKey[] = "runcible.session.cache_type";
constexpr char kTokensKey[] = "runcible.session.tokens";
constexpr char kEvaluatedKey[] = "runcible.session.evaluated";

// One of the caches of a model: the keys or the values of a layer.
struct Part {
  std::string name;
  int64_t heads;
  int64_t head_size;
  size_t row_bytes;    // of one head at one position
  size_t page_offset;  // within the bytes of a page of all caches

  size_t bytes(int64_t positions) const {
    return row_bytes * static_cast<size_t>(heads * positions);
  }
};

// In the order of ResidentModel::download_page.
std::vector<Part> parts_of(const model::ModelFile& model,
                           const model::CacheLayout& layout) {
  std::vector<Part> parts;
  size_t offset = 0;
  for (const LayerState& state :
       model::layer_states(model.hyper_parameters())) {
    if (state.kind != LayerState::Kind::kPages) continue;
    Part part;
    part.name = state.name;
    part.heads = state.shape[0];
    part.head_size = state.shape[1];
    part.row_bytes =
        static_cast<size_t>(row_bytes(layout.dtype, part.head_size).value());
    part.page_offset = offset;
    offset += part.bytes(layout.page_size);
    parts.push_back(std::move(part));
  }
  return parts;
}

// Calls function(state, offset, bytes) for each state of a slot.
template <class Function>
void each_state(const model::ModelFile& model, const Function& function) {
  size_t offset = 0;
  for (const LayerState& state :
       model::layer_states(model.hyper_parameters())) {
    if (state.kind != LayerState::Kind::kSlot) continue;
    const auto bytes =
        static_cast<size_t>(model::slot_elements(state)) * sizeof(float);
    function(state, offset, bytes);
    offset += bytes;
  }
}

void read_states(const gguf::File& file, const model::ModelFile& model,
                 std::vector<std::byte>& target) {
  target.resize(model.slot_bytes());
  each_state(model, [&](const LayerState& state, size_t offset, size_t bytes) {
    const gguf::Tensor* tensor = file.find_tensor(state.name);
    if (tensor == nullptr || tensor->dtype != RC_DTYPE_F32 ||
        tensor->shape != state.shape) {
      fail(RC_E_FORMAT, file.name(), ": tensor ", state.name,
           " is missing or not F32 of the model's shape");
    }
    file.read(*tensor, 0, std::span(target).subspan(offset, bytes));
    std::vector<float> values(bytes / sizeof(float));
    std::memcpy(values.data(), target.data() + offset, bytes);
    for (const float value : values) {
      if (!std::isfinite(value)) {
        fail(RC_E_FORMAT, file.name(), ": tensor ", state.name, " holds ",
             value, ", which no model computes");
      }
    }
  });
}

// Where head `head` at `position` has its bytes in the pages.
size_t place(const Part& part, const model::CacheLayout& layout,
             size_t page_bytes, int64_t position, int64_t head) {
  const auto page = static_cast<size_t>(position / layout.page_size);
  const auto row = static_cast<size_t>(head * layout.page_size +
                                       position % layout.page_size);
  return page * page_bytes + part.page_offset + row * part.row_bytes;
}

std::vector<TokenId> read_tokens(const gguf::File& file,
                                 const model::ModelFile& model,
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
    if (value < 0 || value >= vocabulary) {
      fail(RC_E_FORMAT, file.name(), ": ", kTokensKey, "[", tokens.size(),
           "] is ", value, "; the vocabulary has ", vocabulary, " tokens");
    }
    tokens.push_back(static_cast<TokenId>(value));
  }
  return tokens;
}

const gguf::Tensor& find_part(const gguf::File& file, const Part& part,
                              DType dtype, int64_t positions) {
  const gguf::Tensor* tensor = file.find_tensor(part.name);
  if (tensor == nullptr) {
    fail(RC_E_FORMAT, file.name(), ": tensor ", part.name, " is missing");
  }
  const std::vector<int64_t> shape = {positions, part.heads, part.head_size};
  if (tensor->dtype != dtype || tensor->shape != shape) {
    fail(RC_E_FORMAT, file.name(), ": tensor ", part.name, " is not ",
         dtype_name(dtype), " [", positions, ", ", part.heads, ", ",
         part.head_size, "]");
  }
  return *tensor;
}

void check_finite(const gguf::File& file, const Part& part, DType dtype,
                  std::span<const std::byte> data) {
  std::vector<float> values(static_cast<size_t>(part.head_size));
  for (size_t at = 0; at < data.size(); at += part.row_bytes) {
    decode_row(dtype, data.data() + at, values.data(), part.head_size);
    for (float value : values) {
      if (!std::isfinite(value)) {
        fail(RC_E_FORMAT, file.name(), ": tensor ", part.name, " holds ", value,
             ", which no model computes");
      }
    }
  }
}

}  // namespace

SavedSession take_snapshot(const model::ResidentModel& model,
                           const SessionState& session) {
  SavedSession saved;
  saved.tokens = session.tokens;
  saved.evaluated = session.evaluated;
  saved.layout = model.options().cache;
  const auto page_bytes = static_cast<size_t>(model.page_bytes());
  saved.pages.resize(page_bytes * session.pages.size());
  const std::span all(saved.pages);
  for (size_t i = 0; i < session.pages.size(); ++i) {
    model.download_page(session.pages[i],
                        all.subspan(i * page_bytes, page_bytes));
  }
  if (!session.checkpoints.empty()) {
    saved.state.resize(model.slot_bytes());
    model.download_slot(session.checkpoints.back().slot, saved.state);
  }
  return saved;
}

gguf::Writer session_writer(const model::ModelFile& model,
                            const SavedSession& saved) {
  const model::CacheLayout& layout = saved.layout;
  gguf::Writer writer;
  writer.add("general.architecture", std::string_view(kArchitecture));
  writer.add(kVersionKey, uint32_t{kVersion});
  writer.add(kModelKey, uint64_t{model.fingerprint()});
  writer.add(kCacheTypeKey, std::string_view(dtype_name(layout.dtype)));
  writer.add_array(kTokensKey, saved.tokens);
  writer.add(kEvaluatedKey, static_cast<uint64_t>(saved.evaluated));
  if (saved.evaluated == 0) return writer;

  const auto page_bytes =
      static_cast<size_t>(model.page_bytes(layout.dtype, layout.page_size));
  for (const Part& part : parts_of(model, layout)) {
    const int64_t shape[] = {saved.evaluated, part.heads, part.head_size};
    writer.add_tensor(
        part.name, layout.dtype, shape,
        [part, page_bytes, &saved](const gguf::Writer::Put& put) {
          std::vector<std::byte> rows;
          for (int64_t at = 0; at < saved.evaluated; ++at) {
            rows.clear();
            for (int64_t head = 0; head < part.heads; ++head) {
              const auto from = saved.pages.begin() +
                                static_cast<ptrdiff_t>(place(
                                    part, saved.layout, page_bytes, at, head));
              rows.insert(rows.end(), from,
                          from + static_cast<ptrdiff_t>(part.row_bytes));
            }
            put(rows);
          }
        });
  }
  each_state(model, [&](const LayerState& state, size_t offset, size_t bytes) {
    writer.add_tensor(state.name, RC_DTYPE_F32, state.shape,
                      [offset, bytes, &saved](const gguf::Writer::Put& put) {
                        put(std::span(saved.state).subspan(offset, bytes));
                      });
  });
  return writer;
}

SavedSession read_session(const gguf::File& file, const model::ModelFile& model,
                          const model::CacheLayout& layout,
                          int64_t context_length) {
  if (file.get_string("general.architecture") != kArchitecture) {
    fail(RC_E_FORMAT, file.name(), " is not a saved session");
  }
  const int64_t version = file.get_int(kVersionKey);
  if (version != kVersion) {
    fail(RC_E_UNSUPPORTED, file.name(), ": a saved session of version ",
         version, "; this build reads version ", kVersion);
  }
  // Any 64 bits, so it need not fit a signed integer.
  const gguf::Entry* entry = file.find(kModelKey);
  if (entry == nullptr || entry->type != gguf::ValueType::kU64) {
    fail(RC_E_FORMAT, file.name(), ": ", kModelKey, " is missing or no u64");
  }
  uint64_t fingerprint = 0;
  std::memcpy(&fingerprint, entry->bytes.data(), sizeof fingerprint);
  if (fingerprint != model.fingerprint()) {
    fail(RC_E_UNSUPPORTED, file.name(),
         ": the session was saved with another model than ",
         model.file().name());
  }
  const std::string_view type = file.get_string(kCacheTypeKey);
  if (type != dtype_name(layout.dtype)) {
    fail(RC_E_UNSUPPORTED, file.name(), ": the session has a cache of type ",
         type, ", the model one of type ", dtype_name(layout.dtype),
         "; load the model with the same cache_dtype");
  }

  SavedSession saved;
  saved.layout = layout;
  saved.tokens = read_tokens(file, model, context_length);
  saved.evaluated = file.get_int(kEvaluatedKey);
  if (saved.evaluated < 0 ||
      saved.evaluated > static_cast<int64_t>(saved.tokens.size())) {
    fail(RC_E_FORMAT, file.name(), ": ", kEvaluatedKey, " is ", saved.evaluated,
         " of ", saved.tokens.size(), " tokens");
  }
  if (saved.evaluated == 0) return saved;

  // Look at everything before memory is taken for it.
  const std::vector<Part> parts = parts_of(model, layout);
  for (const Part& part : parts) {
    find_part(file, part, layout.dtype, saved.evaluated);
  }
  const auto page_bytes =
      static_cast<size_t>(model.page_bytes(layout.dtype, layout.page_size));
  const int64_t pages =
      (saved.evaluated + layout.page_size - 1) / layout.page_size;
  saved.pages.resize(page_bytes * static_cast<size_t>(pages));
  for (const Part& part : parts) {
    const std::vector<std::byte> bytes =
        file.read(find_part(file, part, layout.dtype, saved.evaluated));
    check_finite(file, part, layout.dtype, bytes);
    const std::byte* from = bytes.data();
    for (int64_t at = 0; at < saved.evaluated; ++at) {
      for (int64_t head = 0; head < part.heads; ++head) {
        std::memcpy(
            saved.pages.data() + place(part, layout, page_bytes, at, head),
            from, part.row_bytes);
        from += part.row_bytes;
      }
    }
  }
  read_states(file, model, saved.state);
  file.check_unchanged();
  return saved;
}

}  // namespace rc::engine
