#include "compute/op_programs.h"

#include <iterator>
#include <utility>

namespace rc::compute {
namespace {

constexpr size_t kMostPrograms = 64;
constexpr uint64_t kMostBytes = uint64_t{64} << 20;
// Compiling is a small part of what a larger op takes.
constexpr uint64_t kLargest = kMostBytes / 4;

template <class T>
void append_bytes(std::string* text, const T& object) {
  text->append(reinterpret_cast<const char*>(&object), sizeof object);
}

std::string key_of(const Op& op, std::span<const rc_plugin_value> values) {
  std::string key;
  key.reserve(sizeof op + values.size() * sizeof values[0]);
  append_bytes(&key, op.code);
  append_bytes(&key, op.inputs);
  append_bytes(&key, op.outputs);
  append_bytes(&key, op.params);
  for (const rc_plugin_value& value : values) {
    append_bytes(&key, value.dtype);
    append_bytes(&key, value.rank);
    append_bytes(&key, value.shape);
    append_bytes(&key, value.offset);
  }
  return key;
}

}  // namespace

std::unique_ptr<runtime::Program> compile_op(
    const std::shared_ptr<runtime::Device>& device, const Op& op,
    std::vector<rc_plugin_value> values,
    const std::vector<std::shared_ptr<runtime::Buffer>>& buffers) {
  runtime::ProgramDescription description;
  description.caches = values;
  description.values = std::move(values);
  description.ops = {op};
  return runtime::Program::compile(device, std::move(description), {1, 0, 0},
                                   {}, buffers);
}

bool OpPrograms::serve(const runtime::Device& device) {
  const rc_plugin& plugin = device.plugin();
  return plugin.run_with != nullptr && plugin.run_op == nullptr;
}

std::shared_ptr<runtime::Program> OpPrograms::program(
    const std::shared_ptr<runtime::Device>& device, const Op& op,
    std::span<const rc_plugin_value> values,
    const std::vector<std::shared_ptr<runtime::Buffer>>& buffers) {
  std::string key = key_of(op, values);
  if (auto found = find(key)) return found;
  const std::shared_ptr<runtime::Program> made =
      compile_op(device, op, {values.begin(), values.end()}, buffers);
  made->give_up_caches();
  uint64_t bytes = 0;
  for (const rc_plugin_value& value : values) {
    bytes += value_bytes(value, {}).value_or(kMostBytes);
  }
  if (bytes <= kLargest) keep({std::move(key), made, bytes});
  return made;
}

std::shared_ptr<runtime::Program> OpPrograms::find(std::string_view key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  list_.splice(list_.begin(), list_, found->second);
  return found->second->program;
}

void OpPrograms::keep(Kept kept) {
  // Destroyed after the lock is released: programs wait for their device.
  List dropped;
  const std::lock_guard lock(mutex_);
  // Another thread may have been faster.
  if (by_key_.contains(kept.key)) return;
  List added;
  added.push_front(std::move(kept));
  by_key_.emplace(added.front().key, added.begin());
  bytes_ += added.front().bytes;
  list_.splice(list_.begin(), added);
  while (list_.size() > kMostPrograms || bytes_ > kMostBytes) {
    bytes_ -= list_.back().bytes;
    by_key_.erase(list_.back().key);
    dropped.splice(dropped.begin(), list_, std::prev(list_.end()));
  }
}

}  // namespace rc::compute
