#include "runtime/explain.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"

namespace rc::runtime {
namespace {

// JSON values are written as text right away. The values of nlohmann's own
// type need memory even to be destroyed, which must not end the process when
// there is none.

// A string; U+FFFD for what is not UTF-8 (names and reasons come from plugins).
std::string text(std::string_view bytes) {
  using Json = nlohmann::json;
  return Json(bytes).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string text_or_null(std::string_view bytes) {
  return bytes.empty() ? "null" : text(bytes);
}

std::string memory(uint64_t bytes) {
  return bytes == 0 ? "null" : std::to_string(bytes);
}

std::string device_json(const Device& device) {
  const rc_plugin_device_info info = device.info();
  return cat(
      "{\"id\":", text(device.id()), ",\"name\":", text(info.name),
      ",\"kind\":", text(device_kind_name(info.kind)),
      ",\"total_memory\":", memory(info.total_memory),
      ",\"free_memory\":", memory(info.free_memory),
      ",\"unified_memory\":", info.unified_memory != 0 ? "true" : "false",
      ",\"cores\":", info.cores, ",\"features\":", text(info.features),
      ",\"driver\":", text(info.driver),
      ",\"physical_id\":", text_or_null(info.physical_id), "}");
}

std::string candidate_json(const Candidate& candidate) {
  return cat("{\"id\":", text(candidate.id),
             ",\"chosen\":", candidate.chosen ? "true" : "false",
             ",\"reason\":", candidate.chosen ? "null" : text(candidate.reason),
             "}");
}

}  // namespace

const char* device_kind_name(rc_device_kind kind) {
  switch (kind) {
    case RC_DEVICE_CPU:
      return "cpu";
    case RC_DEVICE_GPU_DISCRETE:
      return "gpu";
    case RC_DEVICE_GPU_INTEGRATED:
      return "integrated gpu";
    case RC_DEVICE_ACCELERATOR:
      return "accelerator";
    case RC_DEVICE_SOFTWARE:
      return "software";
  }
  return "other";
}

std::string explain(const Selected& selected) {
  std::string candidates;
  for (const Candidate& candidate : selected.candidates) {
    if (!candidates.empty()) candidates += ',';
    candidates += candidate_json(candidate);
  }
  return cat("{\"spec\":", text(selected.spec),
             ",\"device\":", device_json(*selected.device), ",\"candidates\":[",
             candidates, "]}");
}

}  // namespace rc::runtime
