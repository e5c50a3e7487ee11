// A run of ops compiled for one device: a program, or a part of one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/program.h"

namespace rc::runtime {

// The longest time that the segments of one run may take together. Waiting for
// a device's turn does not count.
struct TimeLimit {
  int64_t whole_ms = 0;
  int64_t left_ms = 0;
};

class OpList;

class Segment {
 public:
  // Requires: the scratch of the description has been planned. Throws
  // RC_E_UNSUPPORTED, naming the device and every unsupported op.
  static std::unique_ptr<Segment> compile(
      std::shared_ptr<Device> device, ProgramDescription description,
      uint64_t scratch_bytes, const ProgramLimits& limits,
      std::vector<std::shared_ptr<Weight>> weights,
      std::vector<std::shared_ptr<Buffer>> caches);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  // As Program::run; the arguments have been checked. `limit` may be nullptr:
  // none.
  void run(const RunArguments& arguments, TimeLimit* limit);

  // See Program.
  void give_up_caches() { caches_.clear(); }

  const Device& device() const { return *device_; }
  uint64_t scratch_bytes() const { return scratch_bytes_; }

 private:
  Segment() = default;
  void record(const RunArguments& arguments, int64_t start_ns) const;
  rc_status begin(const rc_plugin_run& run,
                  const std::vector<rc_plugin_buffer*>& caches,
                  Message& message) const;
  void run_with_limit(const RunArguments& arguments, TimeLimit& limit);
  uint64_t input_bytes(size_t index, const Rows& rows) const;
  uint64_t output_bytes(size_t index, const Rows& rows) const;

  std::shared_ptr<Device> device_;
  std::vector<rc_plugin_value> inputs_;   // by index
  std::vector<rc_plugin_value> outputs_;  // by index
  std::vector<std::shared_ptr<Weight>> weights_;
  std::vector<std::shared_ptr<Buffer>> caches_;
  rc_plugin_compiled* compiled_ = nullptr;
  uint64_t scratch_bytes_ = 0;
  bool of_tensors_ = false;            // all ops are
  std::shared_ptr<const OpList> ops_;  // if the device is profiled
};

}  // namespace rc::runtime
