#include "runtime/explain.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/json_value.h"
#include "tensor/dtype.h"

namespace rc::runtime {
namespace {

std::string text_or_null(std::string_view bytes) {
  return bytes.empty() ? "null" : json_text(bytes);
}

std::string memory(uint64_t bytes) {
  return bytes == 0 ? "null" : std::to_string(bytes);
}

template <class T>
std::string json_list(const std::vector<T>& list,
                      std::string (*json)(const T& element)) {
  std::string text;
  for (const T& element : list) {
    text.append(text.empty() ? "" : ",").append(json(element));
  }
  return "[" + text + "]";
}

const char* huge_pages_json(rc_huge_pages mode) {
  switch (mode) {
    case RC_HUGE_PAGES_NEVER:
      return "\"never\"";
    case RC_HUGE_PAGES_MADVISE:
      return "\"madvise\"";
    case RC_HUGE_PAGES_ALWAYS:
      return "\"always\"";
  }
  return "null";
}

const char* flag(int32_t value) { return value != 0 ? "true" : "false"; }

std::string device_json(const Device& device) {
  const rc_plugin_device_info info = device.info();
  return cat("{\"id\":", json_text(device.id()),
             ",\"name\":", json_text(info.name),
             ",\"kind\":", json_text(device_kind_name(info.kind)),
             ",\"total_memory\":", memory(info.total_memory),
             ",\"free_memory\":", memory(info.free_memory),
             ",\"unified_memory\":", flag(info.unified_memory),
             ",\"cores\":", info.cores, ",\"fp16\":", flag(info.fp16),
             ",\"bf16\":", flag(info.bf16), ",\"fp64\":", flag(info.fp64),
             ",\"int8_dot\":", flag(info.int8_dot), ",\"numa_nodes\":",
             info.numa_nodes == 0 ? "null" : std::to_string(info.numa_nodes),
             ",\"huge_pages\":", huge_pages_json(info.huge_pages),
             ",\"features\":", json_text(info.features),
             ",\"driver\":", json_text(info.driver),
             ",\"physical_id\":", text_or_null(info.physical_id), "}");
}

std::string candidate_json(const Candidate& candidate) {
  return cat("{\"id\":", json_text(candidate.id),
             ",\"chosen\":", candidate.chosen ? "true" : "false",
             ",\"reason\":",
             candidate.chosen ? "null" : json_text(candidate.reason), "}");
}

std::string warning_json(const std::string& warning) {
  return json_text(warning);
}

std::string fallback_json(const Fallback& fallback) {
  return cat("{\"op\":", json_text(fallback.op),
             ",\"lacking\":", json_text(fallback.lacking),
             ",\"device\":", json_text(fallback.device),
             ",\"reason\":", json_text(fallback.reason), "}");
}

std::string part_json(const Explanation::Part& part) {
  return cat("{\"id\":", json_text(part.device), ",\"layers\":",
             part.layers == 0 ? std::string("null")
                              : cat("[", part.first_layer, ",",
                                    part.first_layer + part.layers - 1, "]"),
             ",\"embedding\":", part.embedding ? "true" : "false",
             ",\"output\":", part.output ? "true" : "false",
             ",\"experts\":", part.expert_layers > 0 ? "true" : "false",
             ",\"expert_layers\":", part.expert_layers,
             ",\"weights\":", part.weights, ",\"cache\":", part.cache,
             ",\"scratch\":", part.scratch, "}");
}

std::string model_json(const Explanation::Model& model) {
  return cat("{\"file\":", json_text(model.file),
             ",\"context_length\":", model.context_length,
             ",\"cache_tokens\":", model.cache_tokens,
             ",\"cache_dtype\":", json_text(dtype_name(model.cache_dtype)),
             ",\"devices\":", json_list(model.parts, part_json), "}");
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

Explanation::Explanation(const Selected& selected) {
  choice_ = cat(
      "{\"spec\":", json_text(selected.spec),
      ",\"device\":", device_json(*selected.device), ",\"numa\":\"",
      numa_name(numa_on(selected.device->options().numa,
                        selected.device->info().numa_nodes)),
      "\"", ",\"candidates\":", json_list(selected.candidates, candidate_json),
      ",\"warnings\":", json_list(selected.warnings, warning_json));
}

std::string Explanation::text(const std::vector<Model>& models,
                              std::vector<Fallback> fallbacks,
                              const std::string& tensors) const {
  for (const Model& model : models) {
    for (const Fallback& fallback : model.fallbacks) {
      if (std::find(fallbacks.begin(), fallbacks.end(), fallback) ==
          fallbacks.end()) {
        fallbacks.push_back(fallback);
      }
    }
  }
  return cat(choice_, ",\"fallbacks\":", json_list(fallbacks, fallback_json),
             ",\"models\":", json_list(models, model_json),
             ",\"tensors\":", tensors, "}");
}

}  // namespace rc::runtime
