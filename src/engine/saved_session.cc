#include "engine/saved_session.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "base/error.h"
#include "engine/saved_items.h"
#include "engine/session_state.h"
#include "engine/session_tokens.h"
#include "engine/window_keeper.h"
#include "model/layer_state.h"
#include "tensor/dtype.h"

namespace rc::engine {
namespace {

using model::LayerState;

constexpr int64_t kVersion = 2;
constexpr char kArchitecture[] = "runcible.session";
constexpr char kVersionKey[] = "runcible.session.version";
constexpr char kModelKey[] = "runcible.session.model";
constexpr char kCacheTypeKey[] = "runcible.session.cache_type";
constexpr char kEvaluatedKey[] = "runcible.session.evaluated";
constexpr char kWindowKey[] = "runcible.session.window_begin";
constexpr char kSourceKey[] = "runcible.session.source";

std::string shape_text(std::span<const int64_t> shape) {
  std::string text;
  for (const int64_t size : shape) text += cat(text.empty() ? "[" : ", ", size);
  return text + "]";
}

// One of the caches of a model: the keys or the values of a layer.
struct Part {
  std::string name;
  LayerState::Kind kind;
  bool windowed;  // its first rows may be absent from a file
  int64_t heads;
  int64_t head_size;
  size_t row_bytes;    // of one head at one position
  size_t page_offset;  // within the bytes of a page of all caches of its kind

  size_t bytes(int64_t positions) const {
    return row_bytes * static_cast<size_t>(heads * positions);
  }
};

// In the order of CacheGroup::download.
std::vector<Part> parts_of(const model::ModelFile& model,
                           const model::CacheLayout& layout) {
  // The layout in which windows have separate pages.
  model::CacheLayout apart = layout;
  apart.window_pages = 1;
  const auto windows = model::layer_states(model.hyper_parameters(), apart);
  const auto states = model::layer_states(model.hyper_parameters(), layout);
  std::vector<Part> parts;
  size_t offset = 0;
  size_t window_offset = 0;
  for (size_t i = 0; i < states.size(); ++i) {
    const LayerState& state = states[i];
    if (state.kind == LayerState::Kind::kSlot) continue;
    Part part;
    part.name = state.name;
    part.kind = state.kind;
    part.windowed = windows[i].kind == LayerState::Kind::kWindow;
    part.heads = state.shape[0];
    part.head_size = state.shape[1];
    part.row_bytes =
        static_cast<size_t>(row_bytes(layout.dtype, part.head_size).value());
    size_t& end =
        part.kind == LayerState::Kind::kWindow ? window_offset : offset;
    part.page_offset = end;
    end += part.bytes(layout.page_size);
    parts.push_back(std::move(part));
  }
  return parts;
}

// The bytes of all pages of one kind, the first of which is that of position
// `begin`.
template <class Bytes>
struct PagesOf {
  Bytes& bytes;
  size_t page_bytes;
  int64_t begin;

  // Where head `head` at `position` has its bytes.
  auto* at(const Part& part, int64_t page_size, int64_t position,
           int64_t head) const {
    const int64_t row = position - begin;
    return bytes.data() + static_cast<size_t>(row / page_size) * page_bytes +
           part.page_offset +
           static_cast<size_t>(head * page_size + row % page_size) *
               part.row_bytes;
  }
};

template <class Saved>
auto pages_of(Saved& saved, const model::ModelFile& model, const Part& part) {
  const bool window = part.kind == LayerState::Kind::kWindow;
  auto& bytes = window ? saved.window_pages : saved.pages;
  return PagesOf<std::remove_reference_t<decltype(bytes)>>{
      bytes, static_cast<size_t>(model.page_bytes(saved.layout, part.kind)),
      window ? saved.window_begin : 0};
}

// Calls function(state, offset, bytes) for each state of a slot.
template <class Function>
void each_state(const model::ModelFile& model, const Function& function) {
  size_t offset = 0;
  for (const LayerState& state :
       model::layer_states(model.hyper_parameters(), {})) {
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
    if (tensor == nullptr) {
      fail(RC_E_FORMAT, file.name(), ": tensor ", state.name, " is missing");
    }
    if (tensor->dtype != RC_DTYPE_F32 || tensor->shape != state.shape) {
      fail(RC_E_FORMAT, file.name(), ": tensor ", state.name, " is not F32 ",
           shape_text(state.shape));
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

const gguf::Tensor& find_part(const gguf::File& file, const Part& part,
                              DType dtype, int64_t positions) {
  const gguf::Tensor* tensor = file.find_tensor(part.name);
  if (tensor == nullptr) {
    fail(RC_E_FORMAT, file.name(), ": tensor ", part.name, " is missing");
  }
  const std::vector<int64_t> shape = {positions, part.heads, part.head_size};
  if (tensor->dtype != dtype || tensor->shape != shape) {
    fail(RC_E_FORMAT, file.name(), ": tensor ", part.name, " is not ",
         dtype_name(dtype), " ", shape_text(shape));
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

// The first position of which layers with a window have rows.
int64_t read_window_begin(const gguf::File& file, int64_t evaluated) {
  if (file.find(kWindowKey) == nullptr) return 0;
  const int64_t begin = file.get_int(kWindowKey);
  if (begin < 0 || begin > evaluated) {
    fail(RC_E_FORMAT, file.name(), ": ", kWindowKey, " is ", begin, " of ",
         evaluated, " evaluated tokens");
  }
  return begin;
}

// Reads the number of tokens that are a source. It is 0 if the model reads no
// source or there are no tokens; otherwise it is positive and excludes the last
// token.
int64_t read_source(const gguf::File& file, const model::ModelFile& model,
                    const SavedSession& saved) {
  const bool wanted = model.source() != nullptr && !saved.items.empty();
  const int64_t source =
      file.find(kSourceKey) == nullptr ? 0 : file.get_int(kSourceKey);
  const auto tokens = saved.items.size();
  if (source < (wanted ? 1 : 0) || source > (wanted ? tokens - 1 : 0)) {
    fail(RC_E_FORMAT, file.name(), ": ", kSourceKey, " is ", source, " of ",
         tokens, " tokens, of a model that reads ",
         model.source() == nullptr ? "no source"
                                   : "a source and then generates");
  }
  if (saved.evaluated != 0 && saved.evaluated < source) {
    fail(RC_E_FORMAT, file.name(), ": ", kEvaluatedKey, " is ", saved.evaluated,
         ", but a source of ", source, " tokens is read whole");
  }
  return source;
}

// Sets where the windows of a file begin that has no rows for positions below
// `lacking`. Returns false if the whole pages that are left do not contain
// every position that the model needs to continue.
bool begin_windows(const model::ModelFile& model, int64_t lacking,
                   SavedSession* saved) {
  const model::CacheLayout& layout = saved->layout;
  const WindowSize size{model::widest_window(model.hyper_parameters()),
                        layout.page_size};
  if (layout.window_pages == 0 || size.window == 0) return lacking == 0;
  const auto first = static_cast<int64_t>(size.first_seen(saved->evaluated));
  saved->window_begin = size.pages_for(lacking) * layout.page_size;
  if (saved->window_begin > first * layout.page_size) return false;
  // One page more, as the engine keeps.
  saved->window_begin = std::max(
      saved->window_begin, std::max<int64_t>(first - 1, 0) * layout.page_size);
  return true;
}

}  // namespace

int64_t SavedSession::place(int64_t position) const {
  if (position < source) return position;
  const int64_t page = layout.page_size;
  return (source + page - 1) / page * page + position - source;
}

int64_t SavedSession::page_count() const {
  return evaluated == 0 ? 0 : place(evaluated - 1) / layout.page_size + 1;
}

bool same_bytes(const model::CacheLayout& a, const model::CacheLayout& b) {
  return a.dtype == b.dtype && a.page_size == b.page_size &&
         (a.window_pages > 0) == (b.window_pages > 0);
}

SavedSession take_snapshot(const model::ResidentModel& model,
                           const SessionState& session) {
  const Residence& here = session.residence;
  SavedSession saved;
  saved.items = session.items;
  saved.source = session.source;
  saved.evaluated = here.evaluated;
  saved.variant = here.variant;
  saved.layout = model.options().cache;
  const auto download = [&](LayerState::Kind kind,
                            std::span<const PageId> numbers,
                            std::vector<std::byte>& target) {
    const model::CacheGroup& caches = model.caches(kind);
    const auto bytes = static_cast<size_t>(caches.bytes());
    target.resize(bytes * numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i) {
      caches.download(numbers[i], std::span(target).subspan(i * bytes, bytes));
    }
  };
  download(LayerState::Kind::kPages, here.pages, saved.pages);
  if (model.has_windows()) {
    saved.window_begin =
        static_cast<int64_t>(here.window_begin) * saved.layout.page_size;
    download(LayerState::Kind::kWindow,
             std::span(here.window_pages).subspan(here.window_begin),
             saved.window_pages);
  }
  if (!here.checkpoints.empty()) {
    download(LayerState::Kind::kSlot,
             std::span(&here.checkpoints.back().slot, 1), saved.state);
  }
  return saved;
}

gguf::Writer session_writer(const model::ModelFile& model,
                            const SavedSession& saved) {
  const model::CacheLayout& layout = saved.layout;
  gguf::Writer writer;
  writer.end_with_checksum();
  writer.add("general.architecture", std::string_view(kArchitecture));
  writer.add(kVersionKey, uint32_t{kVersion});
  writer.add(kModelKey, uint64_t{model.fingerprint()});
  writer.add(kCacheTypeKey, std::string_view(dtype_name(layout.dtype)));
  add_items(saved.items, &writer);
  writer.add(kEvaluatedKey, static_cast<uint64_t>(saved.evaluated));
  if (saved.source > 0) {
    writer.add(kSourceKey, static_cast<uint64_t>(saved.source));
  }
  if (saved.evaluated == 0) return writer;

  if (saved.window_begin > 0) {
    writer.add(kWindowKey, static_cast<uint64_t>(saved.window_begin));
  }
  for (const Part& part : parts_of(model, layout)) {
    const auto pages = pages_of(saved, model, part);
    const int64_t shape[] = {saved.evaluated - pages.begin, part.heads,
                             part.head_size};
    writer.add_tensor(
        part.name, layout.dtype, shape,
        [part, pages, &saved](const gguf::Writer::Put& put) {
          std::vector<std::byte> rows;
          for (int64_t at = pages.begin; at < saved.evaluated; ++at) {
            rows.clear();
            for (int64_t head = 0; head < part.heads; ++head) {
              const auto* from =
                  pages.at(part, saved.layout.page_size, saved.place(at), head);
              rows.insert(rows.end(), from, from + part.row_bytes);
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
         version, "; this build reads version ", kVersion,
         version < kVersion ? ", which has a checksum; save the session again, "
                              "from its tokens"
                            : "");
  }
  if (!file.ends_with_checksum()) {
    fail(RC_E_FORMAT, file.name(),
         " is damaged: its checksum is not that of its ", file.size(),
         " bytes; take a copy of the saved session, or make it again from its "
         "tokens");
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
  saved.items = read_items(file, model, context_length);
  saved.evaluated = file.get_int(kEvaluatedKey);
  if (saved.evaluated < 0 || saved.evaluated > saved.items.size()) {
    fail(RC_E_FORMAT, file.name(), ": ", kEvaluatedKey, " is ", saved.evaluated,
         " of ", saved.items.size(), " tokens");
  }
  saved.source = read_source(file, model, saved);
  if (saved.evaluated == 0) return saved;

  const int64_t lacking = read_window_begin(file, saved.evaluated);
  // Look at everything before memory is taken for it.
  const std::vector<Part> parts = parts_of(model, layout);
  for (const Part& part : parts) {
    find_part(file, part, layout.dtype,
              saved.evaluated - (part.windowed ? lacking : 0));
  }
  if (!begin_windows(model, lacking, &saved)) {
    saved.evaluated = 0;
    return saved;
  }
  const auto make = [&](LayerState::Kind kind, int64_t begin) {
    const int64_t pages = saved.page_count() - begin / layout.page_size;
    return std::vector<std::byte>(
        static_cast<size_t>(model.page_bytes(layout, kind)) *
        static_cast<size_t>(pages));
  };
  saved.pages = make(LayerState::Kind::kPages, 0);
  saved.window_pages = make(LayerState::Kind::kWindow, saved.window_begin);
  for (const Part& part : parts) {
    const int64_t first = part.windowed ? lacking : 0;
    const std::vector<std::byte> bytes =
        file.read(find_part(file, part, layout.dtype, saved.evaluated - first));
    check_finite(file, part, layout.dtype, bytes);
    const auto pages = pages_of(saved, model, part);
    const std::byte* from = bytes.data() + part.bytes(pages.begin - first);
    for (int64_t at = pages.begin; at < saved.evaluated; ++at) {
      for (int64_t head = 0; head < part.heads; ++head) {
        std::memcpy(pages.at(part, layout.page_size, saved.place(at), head),
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
