// Importance: how much each column of a model's weights is used by a text, for
// quantizing that spends its bits where they matter.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "compute/account.h"
#include "engine/engine.h"
#include "engine/evaluation/windows.h"
#include "files/importance/write.h"

namespace rc::engine {

struct Importance {
  ImportanceData data;  // without the names of the texts
  int64_t windows = 0;
  int64_t context = 0;
  int64_t tokens = 0;
  double tokens_per_second = 0.0;
};

using Pay = std::function<std::shared_ptr<compute::Paid>(uint64_t bytes)>;

// The sums of the squared inputs of every product of the model over the windows
// of a text, added up in double; of products with experts, for each expert the
// sums over the rows that chose it. A second forward program is compiled for
// the engine's devices, on which it shares the weights, and taken down at the
// end; between its steps, of at most 512 rows, other steps have their turn.
//
// `options` are those of the engine, with the memory_limit and has_weight of
// who asks; `pay` receives the memory of the first device that the program
// takes in addition, may throw, and what it gives is kept as long as
// the program. `progress` gets the fraction done and cancels by returning
// false. Throws as TextWindows; RC_E_DEVICE_MEMORY if the program does not fit;
// RC_E_CANCELLED; what steps throw.
Importance measure_importance(const Engine& engine,
                              const EngineOptions& options,
                              std::shared_ptr<const model::ModelFile> file,
                              std::string_view text,
                              const WindowOptions& windows, const Pay& pay,
                              const std::function<bool(double)>& progress);

}  // namespace rc::engine
