// The objects on a device of the reference backend, and how a program runs.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "common/given_program.h"
#include "reference/ops.h"
#include "runcible/plugin.h"
#include "tensor/op.h"

namespace rc::reference {

// A weight, as given.
struct Weight {
  std::string name;
  DType dtype = RC_DTYPE_F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> copy;  // empty if the caller keeps the bytes
  const std::byte* bytes = nullptr;
};

struct Buffer {
  std::vector<std::byte> own;  // empty if the host keeps the bytes
  std::span<std::byte> bytes;
};

class Program {
 public:
  // Checks everything; throws RC_E_INVALID_ARGUMENT for a program that breaks a
  // rule of plugin.h.
  explicit Program(plugin::GivenProgram program);

  // Runs to the end. Throws RC_E_CANCELLED if the caller wants it to stop.
  void run(const rc_plugin_run& run);

 private:
  Tensor tensor(int32_t number, const rc_plugin_run& run, const Rows& rows);

  std::vector<rc_plugin_value> values_;
  std::vector<Op> ops_;
  std::vector<Weight*> weights_;
  std::vector<Buffer*> caches_;
  Rows limits_;
  std::vector<std::byte> scratch_;
};

}  // namespace rc::reference
