// The account of a choice of device and of what runs on it, for
// rc_backend_explain.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/assignment.h"
#include "runtime/registry.h"

namespace rc::runtime {

// A JSON object:
//   "spec": what was asked for,
//   "device": {"id", "name", "kind", "total_memory", "free_memory" (bytes, null
//             if unknown), "unified_memory", "cores", "fp16", "bf16", "fp64",
//             "int8_dot", "numa_nodes", "huge_pages" ("never", "madvise" or
//             "always"), "features", "driver", "physical_id" (null if
//             unknown)},
//   "numa": "off", "interleave" or "local",
//   "candidates": [{"id", "chosen", "reason" (null for the chosen)}, ...] in
//             the order in which they were looked at,
//   "warnings": [text, ...], what makes the device slower than what was asked
//             for,
//   "fallbacks": [{"op", "lacking" (the device), "device" (where it runs),
//             "reason"}, ...], of all tensor ops and models, each once,
//   "models": [{"file", "context_length", "cache_tokens", "cache_dtype",
//             "devices": [{"id", "layers" ([first, last], null if none),
//             "embedding", "output", "experts", "expert_layers", "weights",
//             "cache", "scratch"}, ...]}, ...],
//   "tensors": how ops of tensors choose their devices; made by who chooses.
class Explanation {
 public:
  explicit Explanation(const Selected& selected);

  // The memory of a loaded model on one device.
  struct Part {
    std::string device;
    int64_t first_layer;
    int64_t layers;
    bool embedding;
    bool output;
    int64_t expert_layers;  // whose experts experts_on puts there
    uint64_t weights;       // bytes
    uint64_t cache;
    uint64_t scratch;
  };
  struct Model {
    std::string file;
    int64_t context_length;  // tokens
    int64_t cache_tokens;
    rc_dtype cache_dtype;
    std::vector<Part> parts;
    std::vector<Fallback> fallbacks;
  };
  // `fallbacks` are those of tensor ops, `tensors` is a JSON value.
  std::string text(const std::vector<Model>& models,
                   std::vector<Fallback> fallbacks,
                   const std::string& tensors) const;

 private:
  std::string choice_;
};

// "cpu", "gpu", "integrated gpu", "accelerator", "software", "other".
const char* device_kind_name(rc_device_kind kind);

}  // namespace rc::runtime
