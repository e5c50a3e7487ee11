// When each op of a device's runs began and ended, for people who want to know
// where the time goes.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runcible/plugin.h"
#include "tensor/op.h"

namespace rc::runtime {

struct ProgramDescription;

// The properties of the ops of a program that are known before it runs.
class OpList {
 public:
  explicit OpList(const ProgramDescription& description);

  struct Entry {
    const char* name;    // "LINEAR"
    std::string detail;  // "Q4_K [2048, 5632]": the weight, or the output
    std::string part;    // "blk.3"; "" for an op of no model
    std::string weight;  // "blk.3.attn_q.weight"; "" for an op without
  };
  size_t size() const { return entries_.size(); }
  const Entry& entry(size_t op) const { return entries_[op]; }
  // The least bytes that an op of a run reads and writes, and its
  // multiplications and additions. Of attention the cache is left out, as its
  // lengths are data.
  uint64_t bytes(size_t op, const Rows& rows) const;
  uint64_t operations(size_t op, const Rows& rows) const;

 private:
  std::vector<rc_plugin_value> values_;
  std::vector<Op> ops_;
  std::vector<Entry> entries_;
};

struct OpRecord {
  std::shared_ptr<const OpList> ops;
  int32_t op = 0;
  Rows rows;
  int64_t begin_ns = 0;  // of std::chrono::steady_clock
  int64_t end_ns = 0;
};

class Profile {
 public:
  // Listed as long as it lives.
  static std::shared_ptr<Profile> create(std::string device);
  // Of the devices that are open with a profile, in the order of opening.
  static std::vector<std::shared_ptr<Profile>> all();

  const std::string& device() const { return device_; }
  // Adds a run that began at `start_ns`. The plugin's clock is its own; its
  // first op is taken to have begun then.
  void add(const std::shared_ptr<const OpList>& ops, const Rows& rows,
           int64_t start_ns, const std::vector<rc_plugin_op_time>& times);
  std::vector<OpRecord> records() const;

 private:
  explicit Profile(std::string device) : device_(std::move(device)) {}

  // Some hundred steps of a large model; older ones go.
  static constexpr size_t kMostRecords = size_t{1} << 17;
  const std::string device_;  // "vulkan:0"
  mutable std::mutex mutex_;
  std::deque<OpRecord> records_;
};

// The records in the trace event format of Chrome and Perfetto ("JSON Object
// Format"), one row per device: each op as a complete event with its part, its
// weight, its detail, rows, bytes and operations. Times in microseconds from
// the first one.
std::string trace_json(const std::vector<std::shared_ptr<Profile>>& profiles);

}  // namespace rc::runtime
