// The shaders of the module and the pipelines made of them, each at its first
// use. What the driver compiled is kept on disk between processes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vulkan/api.h"
#include "vulkan/device.h"

namespace rc::vulkan {

enum class Shader {
  kAttend,
  kAttention,
  kCacheStore,
  kConv2d,
  kCopy,
  kCopyRows,
  kDecode,
  kElementwise,
  kEncode,
  kExpertSum,
  kGetRows,
  kLayerNorm,
  kLinear,
  kLines,
  kMap,
  kMatmul,
  kRope,
  kRowNorm,
  kTensorRope,
  kRoute,
  kSelectiveScan,
  kShortConv,
  kCount
};

// Words of push constants that every shader may use: what Vulkan promises.
inline constexpr uint32_t kParameterWords = 32;

// What a shader binds, by slot: bits of `inputs` and `outputs`.
struct Slots {
  uint32_t inputs;   // texel buffers or storage buffers
  uint32_t outputs;  // storage buffers; always has the counts, slot 0
  // Slot 9 is where the shader reports a row of a table that does not exist: a
  // word that is 0 until a lane puts the op's place in the program plus 1
  // there, and then which of the numbers it is, and the number.
  bool fault = false;
};
Slots slots_of(Shader shader);

struct Pipeline {
  VkPipeline pipeline;
  VkPipelineLayout layout;
  VkDescriptorSetLayout sets;
};

class Pipelines {
 public:
  explicit Pipelines(const Device& device);
  // Writes the cache if pipelines were made.
  ~Pipelines();

  // A shader with its specialization constants from 0 on.
  using Variant = std::pair<Shader, std::vector<uint32_t>>;

  // Makes those that are missing, several at once.
  void prepare(const std::vector<Variant>& variants);
  // One that was made; stays valid.
  Pipeline get(const Variant& variant) const;

 private:
  struct Made {
    Handle<VkShaderModule> module;
    Handle<VkDescriptorSetLayout> sets;
    Handle<VkPipelineLayout> layout;
    std::map<std::vector<uint32_t>, Handle<VkPipeline>> pipelines;
  };
  void make(Shader shader, Made* made) const;
  Handle<VkPipeline> compiled(const Made& made,
                              const std::vector<uint32_t>& constants) const;

  const Device& device_;
  std::string file_;  // "": there is none
  Handle<VkPipelineCache> cache_;
  bool grown_ = false;
  Made shaders_[static_cast<size_t>(Shader::kCount)];
};

}  // namespace rc::vulkan
