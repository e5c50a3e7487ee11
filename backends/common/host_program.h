// Values of a program in the host's memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/given_program.h"
#include "common/host_memory.h"
#include "runcible/plugin.h"
#include "tensor/op.h"

namespace rc::plugin {

// A value with the dimensions of a run.
struct HostValue {
  DType dtype = RC_DTYPE_F32;
  int rank = 0;
  std::array<int64_t, RC_PLUGIN_MAX_RANK> shape = {1, 1, 1, 1};
  std::byte* data = nullptr;  // nullptr: absent

  explicit operator bool() const { return data != nullptr; }
};

class HostProgram {
 public:
  // Throws RC_E_INVALID_ARGUMENT for a program that breaks a rule of plugin.h.
  explicit HostProgram(const GivenProgram& program);

  std::span<HostBuffer* const> caches() const { return caches_; }

  // Throws RC_E_INVALID_ARGUMENT for a run of more than the program was
  // compiled for.
  void check_size(const rc_plugin_run& run) const;
  // Throws it unless these caches can take the place of the program's.
  void check_caches(std::span<HostBuffer* const> caches) const;
  // Returns value `number`; negative: an absent one. Throws
  // RC_E_INVALID_ARGUMENT if it has rows, but the run gives no memory for it.
  HostValue value(int32_t number, const rc_plugin_run& run,
                  std::span<HostBuffer* const> caches) const;

 private:
  const Rows limits_;
  const std::vector<rc_plugin_value> values_;
  std::vector<HostWeight*> weights_;
  std::vector<HostBuffer*> caches_;
  AlignedMemory scratch_;
};

}  // namespace rc::plugin
