// The choice of a device for each op, among the devices of a handle: the one
// that will finish first, estimated from its measurements and from the places
// of the operands.
//
// A device is opened when a tensor or an op is to be placed on it. Until the
// devices to compare have been measured, an op runs where most bytes of its
// operands are; a background thread then opens and measures the devices.
// Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/buffer_pool.h"
#include "runtime/assignment.h"
#include "runtime/calibrations.h"
#include "runtime/device_chain.h"

namespace rc::compute {

class Context;

// The choice of a device for an op, made or possible.
struct OpChoice {
  struct Candidate {
    std::string device;             // "vulkan:0"
    std::optional<double> compute;  // seconds; nullopt: not known
    double transfer = 0;
    std::string reason;  // why it is not known, or was passed over; else ""
  };
  std::string op;      // "MATMUL"
  std::string values;  // "F32 [1, 8, 4], F32 [1, 4, 8] -> F32 [1, 8, 8]"
  OpWork work;
  size_t chosen = 0;  // of the candidates
  std::vector<Candidate> candidates;

  // A JSON object; see rc_op_choose.
  std::string json() const;
};

// Returns the members of a JSON object for what is known of a device; nullptr:
// nothing.
std::string calibration_json(const runtime::Calibration* calibration);

// "F32 [1, 8, 4], F32 [1, 4, 8] -> F32 [1, 8, 8]".
std::string values_text(const Op& op, std::span<const rc_plugin_value> values);

inline constexpr const char* kNotMeasured =
    "it was not measured yet; see rc_calibrate";

class Placement : public std::enable_shared_from_this<Placement> {
 public:
  // Any further devices are left out.
  static constexpr size_t kMostDevices = 16;

  // `devices` are the candidates, among them the device of the chain, which is
  // already open. The others are opened with its options and are as strict.
  // Without `measures` no device is measured, and unmeasured devices stay so.
  static std::shared_ptr<Placement> create(
      std::vector<runtime::ReportedDevice> devices,
      const runtime::DeviceChain& chain, std::shared_ptr<BufferPool> pool,
      int64_t timeout_ms, bool measures = true);
  ~Placement();
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  size_t size() const { return slots_.size(); }
  // The number of a device; runtime::kElsewhere if it is none of these, or not
  // open.
  int number_of(const runtime::Device& device) const;
  bool opened(int number) const;

  // Where tensors come to lie that the host gives: a CPU if there is one among
  // the devices, else the first.
  std::shared_ptr<Context> home();
  // Of a device by its number. Throws why it cannot be opened.
  std::shared_ptr<Context> context(int number);
  // The same by its name, "cpu:0", and of a name without a number the first of
  // the backend. Throws RC_E_INVALID_ARGUMENT naming the devices.
  std::shared_ptr<Context> context(std::string_view id);

  // The devices for an op, best first, with estimates if there are.
  struct Ranking {
    std::array<runtime::Estimate, kMostDevices> order;
    size_t count = 0;
    bool known = false;  // the estimates mean something
  };
  Ranking rank(const OpWork& work,
               std::span<const runtime::OperandPlace> operands);

  // The account of a choice of the device `chosen`.
  OpChoice choice(const Op& op, std::span<const rc_plugin_value> values,
                  const Ranking& ranking, int chosen) const;
  // Keeps the last choice of each kind of op for explanation().
  void note(const Op& op, std::span<const rc_plugin_value> values,
            const Ranking& ranking, int chosen);
  // A JSON object; see rc_backend_explain.
  std::string explanation();

  // Of a context: an op that falls back.
  void note(const runtime::Fallback& fallback);
  std::vector<runtime::Fallback> fallbacks() const;

 private:
  struct Slot {
    runtime::ReportedDevice reported;
    std::string id;
    std::shared_ptr<runtime::Device> device;  // under opening_
    std::weak_ptr<Context> context;           // under opening_; it keeps this
    std::string failure;                      // under opening_
    std::atomic<const runtime::Device*> opened{};  // `device`, for a look
    std::atomic<bool> failed{};
    std::atomic<const runtime::Calibration*> calibration{};
  };
  struct Noted {
    Op op;
    std::vector<rc_plugin_value> values;
    Ranking ranking;
    int chosen = 0;
  };
  // State that a thread that measures shares with the callers that may stop it.
  struct Measuring {
    std::atomic<bool> begun{false};
    std::atomic<bool> unwanted{false};
  };

  Placement(std::vector<runtime::ReportedDevice> devices,
            const runtime::DeviceChain& chain, std::shared_ptr<BufferPool> pool,
            int64_t timeout_ms, bool measures);
  bool usable(const Slot& slot) const;
  void look_for_calibrations();
  // Begins to measure.
  void measure_missing();

  const runtime::DeviceChain chain_;
  const std::shared_ptr<BufferPool> pool_;
  const int64_t timeout_ms_;
  const bool measures_;
  std::vector<std::unique_ptr<Slot>> slots_;
  int home_ = 0;
  // Of the calibrations that were looked at; 0: none.
  std::atomic<uint64_t> version_{0};
  std::atomic<bool> missing_{false};
  const std::shared_ptr<Measuring> measuring_;
  mutable std::mutex opening_;
  mutable std::mutex mutex_;
  std::map<int32_t, Noted> noted_;  // by op
  std::vector<runtime::Fallback> fallbacks_;
};

}  // namespace rc::compute
