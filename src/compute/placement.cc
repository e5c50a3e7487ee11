#include "compute/placement.h"

#include <algorithm>
#include <cstdio>
#include <system_error>
#include <thread>
#include <utility>

#include "base/compute_thread.h"
#include "base/error.h"
#include "base/log.h"
#include "base/quote.h"
#include "compute/measure.h"
#include "compute/tensor.h"
#include "runtime/registry.h"
#include "tensor/value.h"

namespace rc::compute {

std::shared_ptr<Placement> Placement::create(
    std::vector<runtime::ReportedDevice> devices,
    const runtime::DeviceChain& chain, std::shared_ptr<BufferPool> pool,
    int64_t timeout_ms, bool measures) {
  return std::shared_ptr<Placement>(new Placement(
      std::move(devices), chain, std::move(pool), timeout_ms, measures));
}

Placement::Placement(std::vector<runtime::ReportedDevice> devices,
                     const runtime::DeviceChain& chain,
                     std::shared_ptr<BufferPool> pool, int64_t timeout_ms,
                     bool measures)
    : chain_(chain),
      pool_(std::move(pool)),
      timeout_ms_(timeout_ms),
      measures_(measures),
      measuring_(std::make_shared<Measuring>()) {
  const runtime::Device& first = *chain.first();
  for (runtime::ReportedDevice& device : devices) {
    if (slots_.size() == kMostDevices) break;
    auto slot = std::make_unique<Slot>();
    slot->id = device.id();
    if (slot->id == first.id()) {
      slot->device = chain.first();
      slot->opened = &first;
    }
    slot->reported = std::move(device);
    slots_.push_back(std::move(slot));
  }
  const auto cpu =
      std::find_if(slots_.begin(), slots_.end(), [](const auto& slot) {
        return slot->reported.info.kind == RC_DEVICE_CPU;
      });
  if (cpu != slots_.end()) home_ = static_cast<int>(cpu - slots_.begin());
}

Placement::~Placement() { measuring_->unwanted = true; }

int Placement::number_of(const runtime::Device& device) const {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i]->opened == &device) return static_cast<int>(i);
  }
  return runtime::kElsewhere;
}

bool Placement::opened(int number) const {
  return slots_[static_cast<size_t>(number)]->opened != nullptr;
}

std::shared_ptr<Context> Placement::home() { return context(home_); }

std::shared_ptr<Context> Placement::context(int number) {
  Slot& slot = *slots_[static_cast<size_t>(number)];
  const std::lock_guard lock(opening_);
  if (auto context = slot.context.lock()) return context;
  if (slot.failed) fail(RC_E_BACKEND_UNAVAILABLE, slot.failure);
  if (slot.device == nullptr) {
    try {
      slot.device =
          runtime::select({slot.id, 0, chain_.first()->options()}).device;
    } catch (const Error& error) {
      // The host's memory may come back.
      if (error.status() != RC_E_OUT_OF_MEMORY) {
        slot.failure = error.message();
        slot.failed = true;
      }
      throw;
    }
    slot.opened = slot.device.get();
  }
  auto context = std::make_shared<Context>(
      runtime::DeviceChain(slot.device, {}, chain_.strict()), pool_,
      timeout_ms_, shared_from_this(), number);
  slot.context = context;
  return context;
}

std::shared_ptr<Context> Placement::context(std::string_view id) {
  std::string known;
  for (size_t i = 0; i < slots_.size(); ++i) {
    const std::string_view name = slots_[i]->id;
    if (name == id || name.substr(0, name.rfind(':')) == id) {
      return context(static_cast<int>(i));
    }
    known.append(known.empty() ? "" : ", ").append(name);
  }
  fail(RC_E_INVALID_ARGUMENT, "device_id: ", quote(id),
       ", but the backend handle chooses among ", known);
}

bool Placement::usable(const Slot& slot) const {
  if (slot.failed) return false;
  const runtime::Device* device = slot.opened;
  return device == nullptr || !device->lost();
}

void Placement::look_for_calibrations() {
  const uint64_t version = runtime::calibrations_version();
  if (version_.exchange(version) == version) return;
  bool missing = false;
  for (const auto& slot : slots_) {
    slot->calibration = runtime::find_calibration(
        slot->reported, chain_.first()->options().threads);
    missing = missing || slot->calibration == nullptr;
  }
  missing_ = missing;
}

void Placement::measure_missing() {
  std::vector<runtime::ReportedDevice> devices;
  for (const auto& slot : slots_) {
    if (slot->calibration == nullptr) devices.push_back(slot->reported);
  }
  const auto measure = [devices, shared = measuring_,
                        options = chain_.first()->options()] {
    become_compute_thread();
    for (const runtime::ReportedDevice& device : devices) {
      try {
        calibrate(device, options, false,
                  [&](double) { return !shared->unwanted; });
      } catch (const Error& error) {
        if (error.status() == RC_E_CANCELLED) return;
        log(RC_LOG_WARNING, device.id(), " cannot be measured, and ops are ",
            "not given to it: ", error.message());
      } catch (const std::exception& error) {
        log(RC_LOG_WARNING, device.id(), " cannot be measured: ", error.what());
      }
    }
  };
  try {
    std::thread(measure).detach();
  } catch (const std::system_error& error) {
    log(RC_LOG_WARNING,
        "devices are not measured, for no thread starts: ", error.what());
  }
}

Placement::Ranking Placement::rank(
    const OpWork& work, std::span<const runtime::OperandPlace> operands) {
  look_for_calibrations();
  if (missing_ && measures_ && !measuring_->begun.exchange(true)) {
    measure_missing();
  }
  Ranking ranking;
  std::array<const runtime::Calibration*, kMostDevices> known = {};
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (usable(*slots_[i])) known[i] = slots_[i]->calibration;
  }
  const auto home = static_cast<size_t>(home_);
  const int place = runtime::device_of_most(operands, home_);
  const auto most = static_cast<size_t>(place);
  const auto estimates = runtime::estimate(
      work, operands, std::span(known).first(slots_.size()), ranking.order);
  ranking.count = estimates.size();
  ranking.known = known[most] != nullptr && known[home] != nullptr;
  if (ranking.known && ranking.count > 0) return ranking;
  // Nothing to compare: where the operands lie, at home, elsewhere.
  ranking.known = false;
  ranking.count = 0;
  const auto add = [&](size_t i) {
    const auto end = ranking.order.begin() + ranking.count;
    const bool there =
        std::any_of(ranking.order.begin(), end, [&](const auto& estimate) {
          return estimate.device == static_cast<int>(i);
        });
    if (there || !usable(*slots_[i])) return;
    ranking.order[ranking.count++] = {static_cast<int>(i), 0, 0};
  };
  add(most);
  add(home);
  for (size_t i = 0; i < slots_.size(); ++i) add(i);
  return ranking;
}

void Placement::note(const Op& op, std::span<const rc_plugin_value> values,
                     const Ranking& ranking, int chosen) {
  const std::lock_guard lock(mutex_);
  Noted& noted = noted_[op.code];
  noted.op = op;
  noted.values.assign(values.begin(), values.end());
  noted.ranking = ranking;
  noted.chosen = chosen;
}

void Placement::note(const runtime::Fallback& fallback) {
  const std::lock_guard lock(mutex_);
  const bool known =
      std::any_of(fallbacks_.begin(), fallbacks_.end(), [&](const auto& one) {
        return one.op == fallback.op && one.lacking == fallback.lacking;
      });
  if (!known) fallbacks_.push_back(fallback);
}

std::vector<runtime::Fallback> Placement::fallbacks() const {
  const std::lock_guard lock(mutex_);
  return fallbacks_;
}

}  // namespace rc::compute
