#include "runtime/explain.h"

#include <nlohmann/json.hpp>

namespace rc::runtime {
namespace {

using Json = nlohmann::ordered_json;

Json memory(uint64_t bytes) { return bytes == 0 ? Json() : Json(bytes); }

Json text_or_null(const char* text) {
  return *text == '\0' ? Json() : Json(text);
}

Json device_json(const Device& device) {
  const rc_plugin_device_info info = device.info();
  return {{"id", device.id()},
          {"name", info.name},
          {"kind", device_kind_name(info.kind)},
          {"total_memory", memory(info.total_memory)},
          {"free_memory", memory(info.free_memory)},
          {"unified_memory", info.unified_memory != 0},
          {"cores", info.cores},
          {"features", info.features},
          {"driver", info.driver},
          {"physical_id", text_or_null(info.physical_id)}};
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
  Json candidates = Json::array();
  for (const Candidate& candidate : selected.candidates) {
    candidates.push_back(
        {{"id", candidate.id},
         {"chosen", candidate.chosen},
         {"reason", candidate.chosen ? Json() : Json(candidate.reason)}});
  }
  const Json account = {{"spec", selected.spec},
                        {"device", device_json(*selected.device)},
                        {"candidates", std::move(candidates)}};
  // Names and reasons come from plugins and may be no UTF-8.
  return account.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace rc::runtime
