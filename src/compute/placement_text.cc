// Accounts of choices, as JSON.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/error.h"
#include "base/json_value.h"
#include "compute/placement.h"
#include "compute/tensor.h"
#include "runtime/explain.h"
#include "tensor/value.h"

namespace rc::compute {
namespace {

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string number_or_null(double value) {
  return value > 0 && std::isfinite(value) ? number_text(value) : "null";
}

std::string candidate_json(const OpChoice::Candidate& candidate) {
  const bool known = candidate.compute.has_value();
  return cat(
      "{\"device\":", json_text(candidate.device), ",\"seconds\":",
      known ? number_text(*candidate.compute + candidate.transfer) : "null",
      ",\"compute_seconds\":", known ? number_text(*candidate.compute) : "null",
      ",\"transfer_seconds\":",
      known ? number_text(candidate.transfer) : "null", ",\"reason\":",
      candidate.reason.empty() ? "null" : json_text(candidate.reason), "}");
}

}  // namespace

std::string values_text(const Op& op, std::span<const rc_plugin_value> values) {
  std::string text;
  for (const int32_t input : op.inputs) {
    if (input < 0) continue;
    text.append(text.empty() ? "" : ", ").append(value_text(values[input]));
  }
  return cat(text, " -> ", value_text(values[op.outputs[0]]));
}

std::string OpChoice::json() const {
  std::string list;
  for (const Candidate& candidate : candidates) {
    list.append(list.empty() ? "" : ",").append(candidate_json(candidate));
  }
  return cat("{\"op\":", json_text(op), ",\"values\":", json_text(values),
             ",\"device\":", json_text(candidates[chosen].device),
             ",\"candidates\":[", list, "]}");
}

OpChoice Placement::choice(const Op& op,
                           std::span<const rc_plugin_value> values,
                           const Ranking& ranking, int chosen) const {
  OpChoice choice;
  choice.op = op_name(op.code);
  choice.values = values_text(op, values);
  choice.chosen = static_cast<size_t>(chosen);
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = *slots_[i];
    OpChoice::Candidate& candidate = choice.candidates.emplace_back();
    candidate.device = slot.id;
    const auto* const end = ranking.order.begin() + ranking.count;
    const auto* const found =
        std::find_if(ranking.order.begin(), end, [&](const auto& estimate) {
          return estimate.device == static_cast<int>(i);
        });
    if (ranking.known && found != end) {
      candidate.compute = found->compute;
      candidate.transfer = found->transfer;
    } else if (slot.failed) {
      const std::lock_guard lock(opening_);
      candidate.reason = slot.failure;
    } else if (!usable(slot)) {
      candidate.reason = "the device was lost; open the backend again";
    } else if (slot.calibration == nullptr) {
      candidate.reason = kNotMeasured;
    } else {
      candidate.reason = ranking.known ? "it does not support the op"
                                       : "nothing to compare it with was "
                                         "measured yet";
    }
  }
  return choice;
}

std::string calibration_json(const runtime::Calibration* calibration) {
  const runtime::Calibration none;
  const runtime::Calibration& found =
      calibration == nullptr ? none : *calibration;
  std::string text = cat(
      "\"measured\":", calibration != nullptr ? "true" : "false",
      ",\"launch_seconds\":", number_or_null(found.launch),
      ",\"bytes_per_second\":", number_or_null(found.bandwidth),
      ",\"upload_bytes_per_second\":", number_or_null(found.upload.rate()),
      ",\"download_bytes_per_second\":", number_or_null(found.download.rate()));
  for (size_t i = 0; i < kNumberKinds; ++i) {
    text += cat(",\"multiplications_per_second_",
                number_kind_name(static_cast<NumberKind>(i)),
                "\":", number_or_null(found.multiplying[i]));
  }
  return text;
}

std::string Placement::explanation() {
  look_for_calibrations();
  std::string devices;
  for (const auto& slot : slots_) {
    std::string failure;
    if (slot->failed) {
      const std::lock_guard lock(opening_);
      failure = slot->failure;
    }
    devices +=
        cat(devices.empty() ? "" : ",", "{\"id\":", json_text(slot->id),
            ",\"open\":", slot->opened != nullptr ? "true" : "false",
            ",\"failure\":", failure.empty() ? "null" : json_text(failure), ",",
            calibration_json(slot->calibration), "}");
  }
  std::map<int32_t, Noted> noted;
  {
    const std::lock_guard lock(mutex_);
    noted = noted_;
  }
  std::string choices;
  for (const auto& [code, one] : noted) {
    choices.append(choices.empty() ? "" : ",")
        .append(choice(one.op, one.values, one.ranking, one.chosen).json());
  }
  return cat("{\"home\":", json_text(slots_[home_]->id), ",\"devices\":[",
             devices, "],\"choices\":[", choices, "]}");
}

}  // namespace rc::compute
