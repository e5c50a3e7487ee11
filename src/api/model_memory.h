// Model files in a caller's memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "api/guard.h"
#include "files/gguf/file.h"
#include "runcible/model.h"

namespace rc::api {

// A caller's memory from the moment that it is given: whatever happens, it is
// released once, when the last user lets go of it.
class ModelMemory {
 public:
  // Throws RC_E_INVALID_ARGUMENT; then it is released.
  explicit ModelMemory(const rc_model_memory* memory);

  // For the time of a call: nothing is copied.
  std::shared_ptr<const gguf::File> look() const;
  // For longer: a copy, unless the memory is lent.
  std::shared_ptr<const gguf::File> keep() const { return kept().look(); }
  // The same before the file is read.
  ModelMemory kept() const;

 private:
  std::shared_ptr<const gguf::File> open(
      std::shared_ptr<const void> owner,
      std::span<const std::byte> bytes) const;
  std::shared_ptr<const void> lent_;  // nullptr: to be copied
  std::span<const std::byte> bytes_;
  std::string name_;
};

// As guard_handle, for a function that is given memory: the memory is taken
// before anything else can fail.
template <class T, class Body>
rc_status guard_memory(const rc_model_memory* memory, T** out, const char* name,
                       Body&& body) {
  return guard([&] {
    if (out != nullptr) *out = nullptr;
    const ModelMemory given(memory);
    need_pointer(out, name);
    *out = std::forward<Body>(body)(given);
  });
}

// Metadata and the list of tensors of such a file, without their data: it
// outlives the memory. Reading a tensor throws RC_E_IO.
std::shared_ptr<const gguf::File> without_data(const gguf::File& file);

}  // namespace rc::api
