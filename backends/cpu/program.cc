#include "cpu/program.h"

#include <algorithm>

#include "base/error.h"
#include "cpu/compiler.h"

rc_plugin_compiled::rc_plugin_compiled(const rc::plugin::GivenProgram& program,
                                       const rc::cpu::Kernels& kernels,
                                       rc::cpu::Pool& pool,
                                       rc::cpu::SpareMemory& spare,
                                       bool profile)
    : kernels_(kernels),
      max_rows_(program.max_rows),
      max_outputs_(program.max_outputs),
      max_sequences_(program.max_sequences),
      inputs_used_(program.input_count),
      outputs_used_(program.output_count),
      of_tensors_(std::all_of(
          program.ops.begin(), program.ops.end(),
          [&](const rc::Op& op) { return is_tensor_op(op, program.values); })),
      areas_(spare, of_tensors_) {
  rc::cpu::Compiler compiler(program, *this, pool);
  scratch_ = rc::cpu::allocate(program.scratch_bytes);
  compiler.compile();
  for (const rc_plugin_buffer* cache : program.caches) {
    cache_bytes_.push_back(cache->bytes);
  }
  run_ = std::make_unique<rc::cpu::Run>(scratch_.get(), kernels_);
  walk_ = std::make_unique<rc::cpu::Walk>(pool, steps_, *run_, profile);
  for (const auto& step : steps_) {
    for (const auto* areas : {&step->reads, &step->writes}) {
      for (const rc::cpu::Area& area : *areas) {
        if (area.kind == rc::cpu::Area::kInput) inputs_used_[area.index] = 1;
        if (area.kind == rc::cpu::Area::kOutput) outputs_used_[area.index] = 1;
      }
    }
  }
}

void rc_plugin_compiled::check(const rc_plugin_run& run) const {
  const auto require = [](int64_t number, int64_t least, int64_t most,
                          const char* what) {
    if (number < least || number > most) {
      rc::fail(RC_E_INVALID_ARGUMENT, "the run has ", number, " ", what,
               "; the program takes ", least, " to ", most);
    }
  };
  if (run.struct_size < sizeof(rc_plugin_run)) {
    rc::fail(RC_E_INVALID_ARGUMENT, "the run has ", run.struct_size,
             " bytes instead of ", sizeof(rc_plugin_run));
  }
  require(run.rows, 0, max_rows_, "rows");
  require(run.outputs, 0, max_outputs_, "outputs");
  require(run.sequences, 0, max_sequences_, "sequences");
  for (size_t i = 0; i < inputs_used_.size(); ++i) {
    if (inputs_used_[i] &&
        (run.inputs == nullptr || run.inputs[i] == nullptr)) {
      rc::fail(RC_E_INVALID_ARGUMENT, "input ", i, " of the run is NULL");
    }
  }
  for (size_t i = 0; i < outputs_used_.size(); ++i) {
    if (outputs_used_[i] &&
        (run.outputs_data == nullptr || run.outputs_data[i] == nullptr)) {
      rc::fail(RC_E_INVALID_ARGUMENT, "output ", i, " of the run is NULL");
    }
  }
}

bool rc_plugin_compiled::can_linger() const {
  return std::all_of(steps_.begin(), steps_.end(),
                     [](const auto& step) { return step->repeatable == 0; });
}

void rc_plugin_compiled::run(const rc_plugin_run& run) {
  check(run);
  run_->begin(run, nullptr);
  walk_->run();
}

void rc_plugin_compiled::run_with(const rc_plugin_run& run,
                                  std::span<rc_plugin_buffer* const> caches) {
  check(run);
  if (!of_tensors_ || caches.size() != cache_bytes_.size()) {
    rc::fail(RC_E_INVALID_ARGUMENT, "a run with ", caches.size(),
             " caches of a program with ", cache_bytes_.size(),
             of_tensors_ ? "" : " and ops of more than tensors");
  }
  run_caches_.clear();
  for (size_t i = 0; i < caches.size(); ++i) {
    if (caches[i]->bytes < cache_bytes_[i]) {
      rc::fail(RC_E_INVALID_ARGUMENT, "cache ", i, " of the run has ",
               caches[i]->bytes, " bytes; the program was compiled for ",
               cache_bytes_[i]);
    }
    run_caches_.push_back(caches[i]->memory);
  }
  for (const LargeResult& result : large_results_) {
    rc::cpu::use_whole(
        run_caches_[static_cast<size_t>(result.cache)] + result.offset,
        result.bytes);
  }
  run_->begin(run, run_caches_.data());
  walk_->run();
}
