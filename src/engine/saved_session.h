// Saved sessions: a GGUF file with the items and what was evaluated of them.
//
// The file ends with a checksum of all of it (gguf::Writer::end_with_checksum):
// nothing else shows that a number of a cache has changed. Version 1 had none
// and is not read any more.
//
// Metadata: general.architecture "runcible.session" and, under
// "runcible.session.", version (u32, 2), model (u64, the model's fingerprint),
// cache_type (string, "F16"), evaluated (u64); the items as saved_items.h says.
// For each layer N the tensors blk.N.key and blk.N.value [evaluated, kv_heads,
// head_size] of the cache's type, unless nothing was evaluated. They do not
// depend on the page size or the device. Layers with a window may have no rows
// for the positions below window_begin (u64; 0 if missing). If the model reads
// a source, the first source (u64) tokens are that source, and their rows are
// its keys and values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/items.h"
#include "engine/variant.h"
#include "files/gguf/file.h"
#include "files/gguf/writer.h"
#include "model/resident_model.h"

namespace rc::engine {

struct SessionState;

struct SavedSession {
  Items items;
  int64_t source = 0;  // see SessionState
  int64_t evaluated = 0;
  Variant variant;  // not of one that was read from a file
  model::CacheLayout layout;
  // The pages of these positions, one after the other, as
  // CacheGroup::download gives them.
  std::vector<std::byte> pages;
  // The pages of layers with a window, from the page of position window_begin
  // on; empty if these layers have no separate pages.
  std::vector<std::byte> window_pages;
  int64_t window_begin = 0;
  // The slot; empty for models without states.
  std::vector<std::byte> state;

  // Return the place of a position in the pages, and the number of pages.
  int64_t place(int64_t position) const;
  int64_t page_count() const;
};

// Whether pages, windows and slots of both have the same bytes.
bool same_bytes(const model::CacheLayout& a, const model::CacheLayout& b);

// On the engine thread. Throws what the device throws.
SavedSession take_snapshot(const model::ResidentModel& model,
                           const SessionState& session);

// The file to write; `saved` must outlive the writer. Any thread.
gguf::Writer session_writer(const model::ModelFile& model,
                            const SavedSession& saved);

// Reads and checks a file from a stranger: everything in it fits the model, the
// layout and `context_length`, no number of the cache or of an embedding row is
// infinite or not a number, and the checksum is right. Throws RC_E_FORMAT,
// RC_E_UNSUPPORTED (of another model or cache type), RC_E_CONTEXT_FULL. Any
// thread.
SavedSession read_session(const gguf::File& file, const model::ModelFile& model,
                          const model::CacheLayout& layout,
                          int64_t context_length);

}  // namespace rc::engine
