// The interface of a driver for the host of GPUs: memory, the limits of a
// device, and recordings of programs.
//
// Threads: buffers may be made, filled and destroyed on any thread at any time;
// the rest is for one thread at a time (see plugin.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gpu/buffer.h"
#include "gpu/custom_kernel.h"
#include "gpu/packing.h"
#include "gpu/tuning.h"
#include "runcible/plugin.h"
#include "tensor/op.h"

namespace rc::gpu {

struct Weight;

// A value of a program and where it lies.
struct Placed {
  rc_plugin_value value;
  Region region;  // of all rows that a run may have; not of weights
  const Weight* weight = nullptr;
};

struct Dispatch;

// The parts of a program; all of it is valid and lives longer than recordings
// of it.
struct PlacedProgram {
  size_t op_count;
  std::span<const Placed> values;
  std::span<const Dispatch> dispatches;
};

// The size of a run.
struct RunSize {
  Rows rows;
  // The most positions that a row attends to.
  int64_t positions = 1;
};

// Bytes that a run moves between the host and the device.
struct Transfer {
  Region region;
  void* host;
};

// A number that a kernel refused: the op's place in the program, which of the
// numbers of a table, and the number.
struct Fault {
  uint32_t op_after = 0;  // the place plus 1; 0: nothing was refused
  uint32_t row = 0;
  uint32_t number = 0;
};

// A program that a driver prepares once, to be run any number of times. A run
// begins, is submitted in portions of which two may be under way, each with a
// number, and is finished.
class Recording {
 public:
  virtual ~Recording() = default;

  // Some regions of the dispatches lie in other buffers than before. Nothing of
  // it is under way.
  virtual void rebind() = 0;
  // Moves the inputs to the device before anything of the run. The host's
  // memory and `outputs` stay as they are until all that was submitted is over.
  virtual void begin(const RunSize& size, std::span<const Transfer> inputs,
                     std::span<const Transfer> outputs) = 0;
  // Submits what comes next and takes about so much work as portion 0 or 1,
  // which is not under way. Returns the work of what was submitted.
  virtual double submit(int portion, double work) = 0;
  // Whether there is nothing left to submit.
  virtual bool submitted() const = 0;
  // Waits until the portion is over, for at most so long if that is not
  // negative. False: it is not over; also now and then before, so that the
  // caller can ask whether to stop.
  virtual bool wait(int portion, int64_t timeout_ms) = 0;
  // Dispatches that begin from now on need do nothing.
  virtual void stop() = 0;
  // After the last portion: the outputs are in place when it returns.
  virtual void finish() = 0;
  virtual Fault fault() const = 0;
  // Until nothing is under way. The caller is not interested in errors.
  virtual void wait_idle() noexcept = 0;
  // Of a finished run. Empty unless the device was opened with profile.
  virtual std::vector<rc_plugin_op_time> op_times() const = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const Tuning& tuning() const = 0;
  virtual const Packing& packing() const = 0;
  // The factor of offsets of buffers that can be bound; a power of two.
  virtual uint64_t alignment() const = 0;
  // Bytes that a buffer may have. Of them `tuning().range` can be bound at
  // once.
  virtual uint64_t largest_buffer() const = 0;
  // Work-groups that a dispatch may have along dimension 0, 1 or 2.
  virtual uint32_t most_groups(int dimension) const = 0;

  // Not zeroed. Throws RC_E_DEVICE_MEMORY if there is no room, and
  // RC_E_UNSUPPORTED if it has none of MemoryUse::kPinned.
  virtual std::unique_ptr<Buffer> allocate(uint64_t bytes, MemoryUse use) = 0;
  // Within a buffer or between two; the ranges do not overlap.
  virtual void copy(Buffer& target, uint64_t target_offset, Buffer& source,
                    uint64_t source_offset, uint64_t bytes) = 0;
  // Whether memory of MemoryUse::kPinned is moved by copy(), as a buffer; else
  // by Buffer::write and read, which need only its address.
  virtual bool copies_pinned() const { return false; }
  // Throws RC_E_UNSUPPORTED if the op, which obeys check_op, cannot be done.
  virtual void check_supported(
      const Op& op, std::span<const rc_plugin_value> values) const = 0;
  virtual std::unique_ptr<Recording> record(const PlacedProgram& program) = 0;

  // Kernels that the caller wrote: RC_KERNEL_*, and one in that language.
  // Throws RC_E_FORMAT if it does not compile.
  virtual int32_t kernel_language() const { return RC_KERNEL_NONE; }
  virtual std::unique_ptr<CustomKernel> create_kernel(
      const rc_plugin_kernel_info& info);

  // Multiply-adds per second, as the last runs had them; at first a guess.
  double speed = 0;
};

}  // namespace rc::gpu
