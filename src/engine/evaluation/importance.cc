#include "engine/evaluation/importance.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "base/error.h"
#include "engine/plan.h"
#include "model/resident_model.h"
#include "tensor/value.h"

namespace rc::engine {
namespace {

// Of the inputs of all products in one step, in the memory of the host and of
// the device.
constexpr uint64_t kStepBytes = uint64_t{512} << 20;
constexpr int64_t kMostStepRows = 512;

// Sums for each column that an input has.
class InputSums {
 public:
  explicit InputSums(const model::ObservedInput& input)
      : input_(input),
        width_(static_cast<size_t>(input.width)),
        sums_(width_ * std::max<size_t>(experts(), 1)),
        counts_(std::max<size_t>(experts(), 1)) {}

  // `values` and `ids` as ObservedInput says.
  void add(size_t rows, const float* values, const int32_t* ids) {
    const auto chosen = static_cast<size_t>(input_.chosen);
    for (size_t row = 0; row < rows; ++row) {
      if (experts() == 0) {
        add_row(0, values + row * width_);
        continue;
      }
      for (size_t k = 0; k < chosen; ++k) {
        const size_t slot = row * chosen + k;
        const int32_t expert =
            ids == nullptr ? static_cast<int32_t>(k) : ids[slot];
        if (expert < 0 || static_cast<size_t>(expert) >= experts()) {
          fail(RC_E_DEVICE, "a row chose expert ", expert, " of ", experts(),
               "; the device computed nonsense");
        }
        add_row(static_cast<size_t>(expert),
                values + (input_.each_its_own ? slot : row) * width_);
      }
    }
  }

  void append_to(std::vector<ImportanceOfTensor>& all) const {
    ImportanceOfTensor made;
    made.width = input_.width;
    made.experts = input_.experts;
    for (const double sum : sums_) {
      // As float, which the file holds.
      if (!(sum <= std::numeric_limits<float>::max())) {
        fail(RC_E_DEVICE, "the inputs of ", input_.tensors.front(),
             " add up to ", sum, "; the device computed nonsense");
      }
      made.sums.push_back(static_cast<float>(sum));
    }
    for (const double count : counts_) {
      made.counts.push_back(static_cast<float>(count));
    }
    for (const std::string& tensor : input_.tensors) {
      made.tensor = tensor;
      all.push_back(made);
    }
  }

 private:
  size_t experts() const { return static_cast<size_t>(input_.experts); }
  void add_row(size_t expert, const float* values) {
    double* const sums = sums_.data() + expert * width_;
    for (size_t i = 0; i < width_; ++i) {
      const double value = values[i];
      sums[i] += value * value;
    }
    counts_[expert] += 1.0;
  }

  const model::ObservedInput& input_;
  const size_t width_;
  std::vector<double> sums_;  // [experts or 1, width]
  std::vector<double> counts_;
};

// Returns the most rows of a step.
int64_t rows_of_step(const model::ModelFile& file, int64_t context) {
  model::CacheLayout least;
  least.dtype = RC_DTYPE_F32;
  least.pages = least.pages_per_sequence = least.slots = 1;
  runtime::ProgramDescription program = file.forward(least);
  const uint64_t row =
      model::observe_products(file.file(), program).bytes_per_row();
  const auto room = static_cast<int64_t>(
      std::max<uint64_t>(kStepBytes / std::max<uint64_t>(row, 1), 1));
  if (file.causal()) return std::min({room, kMostStepRows, context});
  if (context > room) {
    fail(RC_E_INVALID_ARGUMENT, "a window of ", context,
         " tokens, which must be in one step because its rows see all of it: ",
         file.file().name(), " takes ", row, " bytes for each; at most ", room,
         " tokens are possible");
  }
  return context;
}

void check_fits_beside(const model::ModelFile& file, const Plan& plan) {
  for (size_t d = 0; d < plan.memory.devices.size(); ++d) {
    if (plan.device_fits[d]) continue;
    const model::DeviceMemory& here = plan.memory.devices[d];
    fail(RC_E_DEVICE_MEMORY, "measuring importance of ", file.file().name(),
         " takes ", here.added(), " bytes more on ", here.device->id(),
         ", but only ", plan.device_available[d],
         " may be used; ask for a shorter context");
  }
}

class ImportanceMeter {
 public:
  ImportanceMeter(std::unique_ptr<model::ResidentModel> resident,
                  int64_t timeout_ms)
      : model_(std::move(resident)), timeout_ms_(timeout_ms) {
    const model::Observation& observation = model_->observation();
    for (const model::ObservedInput& input : observation.inputs) {
      sums_.emplace_back(input);
    }
    const runtime::ProgramLimits& limits = model_->options().limits;
    for (const rc_plugin_value& value : observation.outputs) {
      const Rows most = {limits.max_rows, limits.max_outputs,
                         limits.max_sequences};
      memory_.emplace_back(value_bytes(value, most).value());
    }
    for (auto& memory : memory_) outputs_.push_back(memory.data());
    pages_.resize(
        static_cast<size_t>(model_->options().cache.pages_per_sequence));
    std::iota(pages_.begin(), pages_.end(), 0);
  }

  // Reports how much of the window is done.
  void add(const std::vector<TokenId>& window,
           const std::function<void(double)>& done) {
    const auto most = static_cast<size_t>(model_->options().limits.max_rows);
    for (size_t at = 0; at < window.size(); at += most) {
      done(static_cast<double>(at) / static_cast<double>(window.size()));
      step(window, at, std::min(most, window.size() - at));
    }
  }

  std::vector<ImportanceOfTensor> result() const {
    std::vector<ImportanceOfTensor> all;
    for (const InputSums& sums : sums_) sums.append_to(all);
    return all;
  }

 private:
  void step(const std::vector<TokenId>& window, size_t first, size_t rows) {
    model::SequenceRows added;
    added.tokens = std::span(window).subspan(first, rows);
    added.first_position = static_cast<int64_t>(first);
    added.outputs_end = rows;
    const int64_t most = model_->short_context();
    added.longer = most > 0 && static_cast<int64_t>(window.size()) > most;
    added.pages = pages_;
    added.slot_before = first == 0 ? -1 : 0;
    added.slot_after = 0;
    model::Batch batch;
    model_->inputs().add(batch, model::kGenerate, added);
    model_->observe(batch, outputs_, nullptr, nullptr, timeout_ms_);
    const model::Observation& observation = model_->observation();
    for (size_t i = 0; i < sums_.size(); ++i) {
      const model::ObservedInput& input = observation.inputs[i];
      const void* ids = input.ids == model::ObservedInput::kNone
                            ? nullptr
                            : outputs_[input.ids];
      sums_[i].add(rows, static_cast<const float*>(outputs_[input.values]),
                   static_cast<const int32_t*>(ids));
    }
  }

  const std::unique_ptr<model::ResidentModel> model_;
  const int64_t timeout_ms_;     // of one step; -1: none
  std::vector<InputSums> sums_;  // by number of the observed input
  std::vector<std::vector<std::byte>> memory_;  // of the outputs
  std::vector<void*> outputs_;
  std::vector<int32_t> pages_;  // of the one sequence
};

}  // namespace

Importance measure_importance(const Engine& engine,
                              const EngineOptions& options,
                              std::shared_ptr<const model::ModelFile> file,
                              std::string_view text,
                              const WindowOptions& wanted, const Pay& pay,
                              const std::function<bool(double)>& progress) {
  const auto goes_on = [&](double fraction) {
    return !progress || progress(fraction);
  };
  const auto report = [&](double fraction) {
    if (!goes_on(fraction)) {
      fail(RC_E_CANCELLED, "measuring importance was cancelled");
    }
  };
  report(0.0);
  const TextWindows windows(*file, text, wanted, options.context_length,
                            [&] { return !goes_on(0.0); });
  EngineOptions own = options;
  own.context_length = windows.context();
  own.cache_tokens = windows.context();
  own.max_rows = rows_of_step(*file, windows.context());
  own.observes_products = true;
  Resolved resolved = resolve(*file, engine.chain(), own);
  check_fits_beside(*file, resolved.plan);
  // Devices hold the outputs of a run, too.
  const std::shared_ptr<compute::Paid> paid =
      pay(resolved.placement.memory.devices.front().added() +
          resolved.placement.observation.bytes_per_row() *
              static_cast<uint64_t>(own.max_rows));
  ImportanceMeter meter(
      model::ResidentModel::load(file, std::move(resolved.placement),
                                 resolved.resident,
                                 [&](double) { return goes_on(0.0); }),
      options.timeout_ms > 0 ? options.timeout_ms : -1);
  paid->use();

  Importance result;
  result.windows = windows.count();
  result.context = windows.context();
  result.tokens = windows.count() * windows.context();
  const auto count = static_cast<double>(windows.count());
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  for (int64_t i = 0; i < windows.count(); ++i) {
    meter.add(windows.window(i), [&](double done) {
      report((static_cast<double>(i) + done) / count);
    });
  }
  const double seconds =
      std::chrono::duration<double>(Clock::now() - start).count();
  if (seconds > 0.0) {
    result.tokens_per_second = static_cast<double>(result.tokens) / seconds;
  }
  result.data.chunk_count = static_cast<uint32_t>(windows.count());
  result.data.chunk_size = static_cast<uint32_t>(windows.context());
  result.data.tensors = meter.result();
  return result;
}

}  // namespace rc::engine
