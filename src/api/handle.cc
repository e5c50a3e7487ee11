#include "api/handle.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <new>

namespace rc::api::handles {
namespace {

struct Entry {
  Kind kind;
  size_t references;
};

// Several tables, so that threads with different handles seldom meet.
struct Shard {
  std::mutex mutex;
  std::map<const void*, Entry> entries;
};

using Shards = std::array<Shard, 16>;

Shard& shard_of(const void* handle) noexcept {
  // Never destroyed: handles are used and released while the process ends.
  alignas(Shards) static std::byte storage[sizeof(Shards)];
  static Shards* const shards = new (storage) Shards;
  // Objects are 16 bytes apart or more.
  const auto address = reinterpret_cast<uintptr_t>(handle);
  return (*shards)[(address >> 4 ^ address >> 10) % shards->size()];
}

const char* kind_name(Kind kind) noexcept {
  switch (kind) {
    case Kind::kDeviceList:
      return "rc_device_list";
    case Kind::kBackend:
      return "rc_backend";
    case Kind::kPlan:
      return "rc_plan";
    case Kind::kModelInfo:
      return "rc_model_info";
    case Kind::kTokenizer:
      return "rc_tokenizer";
    case Kind::kChat:
      return "rc_chat";
    case Kind::kChatPrompt:
      return "rc_chat_prompt";
    case Kind::kModel:
      return "rc_model";
    case Kind::kSession:
      return "rc_session";
    case Kind::kLoop:
      return "rc_loop";
    case Kind::kRequest:
      return "rc_request";
    case Kind::kTensor:
      return "rc_tensor";
    case Kind::kPinned:
      return "pinned memory";
    case Kind::kGraph:
      return "rc_graph";
    case Kind::kCustomOp:
      return "rc_custom_op";
    case Kind::kGrammar:
      return "rc_grammar";
    case Kind::kEmbedding:
      return "rc_embedding";
    case Kind::kTenant:
      return "rc_tenant";
    case Kind::kGrammarMatcher:
      return "rc_grammar_matcher";
  }
  return "handle";
}

}  // namespace

void add(const void* handle, Kind kind) {
  Shard& shard = shard_of(handle);
  std::lock_guard lock(shard.mutex);
  shard.entries.insert_or_assign(handle, Entry{kind, 1});
}

bool contains(const void* handle, Kind kind) noexcept {
  Shard& shard = shard_of(handle);
  std::lock_guard lock(shard.mutex);
  const auto found = shard.entries.find(handle);
  return found != shard.entries.end() && found->second.kind == kind;
}

bool retain(const void* handle, Kind kind) noexcept {
  Shard& shard = shard_of(handle);
  std::lock_guard lock(shard.mutex);
  const auto found = shard.entries.find(handle);
  if (found == shard.entries.end() || found->second.kind != kind) return false;
  ++found->second.references;
  return true;
}

std::optional<size_t> release(const void* handle, Kind kind) noexcept {
  Shard& shard = shard_of(handle);
  std::lock_guard lock(shard.mutex);
  const auto found = shard.entries.find(handle);
  if (found == shard.entries.end() || found->second.kind != kind) {
    return std::nullopt;
  }
  const size_t left = --found->second.references;
  if (left == 0) shard.entries.erase(found);
  return left;
}

void refuse(const void* handle, Kind kind, const char* name) {
  if (handle == nullptr) fail(RC_E_INVALID_ARGUMENT, name, ": NULL");
  char address[2 * sizeof handle + 1] = "";
  std::to_chars(address, std::end(address) - 1,
                reinterpret_cast<uintptr_t>(handle), 16);
  fail(RC_E_INVALID_ARGUMENT, name, ": 0x", address, " is no ", kind_name(kind),
       ", or it was released");
}

void report_refused(const void* handle, Kind kind, const char* name) noexcept {
  try {
    refuse(handle, kind, name);
  } catch (...) {
    static_cast<void>(status_of_current_exception());
  }
}

}  // namespace rc::api::handles
