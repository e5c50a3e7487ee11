// Which device each part of a model lies on, and what it takes there.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/model_file.h"
#include "model/observation.h"
#include "model/program_inputs.h"
#include "runtime/assignment.h"
#include "runtime/device_chain.h"
#include "runtime/split.h"

namespace rc::model {

class ReservedMemory;

struct ResidentOptions {
  CacheLayout cache;
  runtime::ProgramLimits limits;
  bool keep_mapped = false;  // see rc_model_options; so too guard_mapped
  bool guard_mapped = false;
  bool experts_mapped = false;
  int64_t resident_experts = 0;  // of each matrix that stays mapped; at least 1
  // Where experts lie and are computed; nullptr: where their layers are.
  std::shared_ptr<runtime::Device> experts_on = nullptr;
  // Of how many layers, the last ones that have experts; 0: of all.
  int64_t experts_on_layers = 0;
  // The outputs of the program are the inputs of its products, for
  // ResidentModel::observe; there is nothing else to be had of the model then.
  bool observes_products = false;
  bool takes_embeddings = false;  // in place of tokens, see embedding_rows.h
  // Memory reserved for models that are loaded together with it; nullptr: none.
  const ReservedMemory* reserved = nullptr;
};

// The memory of a resident model on one device, in bytes, and the layers that
// were given to it. Single ops of a layer may run elsewhere, with their weights
// and caches.
struct DeviceMemory {
  std::shared_ptr<runtime::Device> device;
  uint64_t weights = 0;
  uint64_t shared = 0;  // of the weights: what other models have there already
  uint64_t huge_page_weights = 0;  // of the others: in whole huge pages, if any
  uint64_t cache = 0;              // pages
  uint64_t windows = 0;  // of the cache: pages of layers with a window
  uint64_t states = 0;   // slots
  uint64_t scratch = 0;
  int64_t first_layer = 0;
  int64_t layers = 0;
  bool embedding = false;
  bool output = false;
  // Whose experts ResidentOptions::experts_on puts here.
  int64_t expert_layers = 0;
  uint64_t total() const { return weights + cache + states + scratch; }
  // The bytes that loading adds to those in use already.
  uint64_t added() const { return total() - shared; }
};

// The same on all devices together.
struct MemoryPlan {
  uint64_t weights = 0;
  uint64_t shared = 0;
  uint64_t cache = 0;   // pages
  uint64_t states = 0;  // slots
  uint64_t scratch = 0;
  uint64_t transfers = 0;  // host memory between devices; not in the total
  std::vector<DeviceMemory> devices;  // the one that was asked for is the first
  uint64_t total() const { return weights + cache + states + scratch; }
  uint64_t added() const { return total() - shared; }
};

// A forward program placed on devices. Nothing is loaded.
struct Placement {
  std::vector<std::shared_ptr<runtime::Device>> devices;
  runtime::Split split;
  ProgramInputs inputs;
  std::vector<runtime::Fallback> fallbacks;  // ops that run elsewhere
  Observation observation;  // of a model that observes its products
  MemoryPlan memory;        // exactly what loading takes; of the devices in use
  // Weights that other models have there already, kept for the loading, or will
  // have, of which there is nothing yet.
  struct SharedWeight {
    std::shared_ptr<runtime::Weight> weight;
    const runtime::Device* device;
    uint64_t bytes;
  };
  std::vector<SharedWeight> shared;
};

// The number of parts: the embedding, each layer, the output.
size_t part_count(const ModelFile& file);

// Places each part on the device whose number `device_of_part` contains; the
// numbers of layers do not fall. Ops that a device does not support go to
// chain.open_fallback(), which is appended to the devices unless it is one of
// them. Throws RC_E_UNSUPPORTED as runtime::assign and weight_bytes do, and
// RC_E_DEVICE_MEMORY for a cache beyond any memory.
Placement place(const ModelFile& file, const ResidentOptions& options,
                const runtime::DeviceChain& chain,
                std::vector<std::shared_ptr<runtime::Device>> devices,
                std::span<const size_t> device_of_part);

// Places everything on the first device of the chain, except for the ops that
// it does not support.
Placement place(const ModelFile& file, const ResidentOptions& options,
                const runtime::DeviceChain& chain);

// The bytes of a cache that a program describes.
uint64_t cache_bytes(const rc_plugin_value& cache);

// Whether a weight is used where the file is mapped. What is read by elements
// is small and may have to be made; it is always copied, as is what was made.
bool stays_mapped(const ModelFile& file, const runtime::WeightInfo& weight,
                  const ResidentOptions& options);

// Of how many experts of a weight that stays mapped there are copies.
int64_t resident_experts(const runtime::Device& device,
                         const runtime::WeightInfo& weight,
                         const ResidentOptions& options);

// The memory of a weight on a device. Throws RC_E_UNSUPPORTED for one that
// should stay mapped, but would have to be copied to this device.
uint64_t weight_bytes(const ModelFile& file, const runtime::Device& device,
                      const runtime::WeightInfo& weight,
                      const ResidentOptions& options);

}  // namespace rc::model
