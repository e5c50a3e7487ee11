// Compiled programs of one op each, for ops that come again: a device compiles
// an op of some types, shapes and parameters once, and runs it with other
// buffers from then on.
//
// Kept are those that were used last, for devices that have run_with and do
// not do ops at once (run_op).
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/program.h"
#include "tensor/op.h"

namespace rc::compute {

// Compiles an op whose values lie in the buffers of their numbers, which are
// the caches of the program.
std::unique_ptr<runtime::Program> compile_op(
    const std::shared_ptr<runtime::Device>& device, const Op& op,
    std::vector<rc_plugin_value> values,
    const std::vector<std::shared_ptr<runtime::Buffer>>& buffers);

class OpPrograms {
 public:
  // A program for the op, to be run with the buffers as its caches. Throws what
  // compile_op throws.
  std::shared_ptr<runtime::Program> program(
      const std::shared_ptr<runtime::Device>& device, const Op& op,
      std::span<const rc_plugin_value> values,
      const std::vector<std::shared_ptr<runtime::Buffer>>& buffers);

  // Whether programs of the device can be kept, and are worth it.
  static bool serve(const runtime::Device& device);

 private:
  struct Kept {
    std::string key;
    std::shared_ptr<runtime::Program> program;
    uint64_t bytes;  // of the op's values: a device may hold a share of them
  };
  using List = std::list<Kept>;

  std::shared_ptr<runtime::Program> find(std::string_view key);
  void keep(Kept kept);

  std::mutex mutex_;
  List list_;  // the last used first
  std::unordered_map<std::string_view, List::iterator> by_key_;
  uint64_t bytes_ = 0;
};

}  // namespace rc::compute
