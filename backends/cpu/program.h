// Compiled programs: a list of steps that a team of threads walks through.
//
// An op becomes one step or more. A step comes in pieces that the
// threads that are awake do in any order; see walk.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "common/given_program.h"
#include "cpu/choices.h"
#include "cpu/memory.h"
#include "cpu/pool.h"
#include "cpu/spare_memory.h"
#include "cpu/step.h"
#include "cpu/walk.h"
#include "cpu/weight.h"
#include "runcible/plugin.h"

namespace rc::cpu {
class Compiler;

// Memory of each thread, `stride` bytes apart.
struct ThreadScratch {
  uint8_t* base = nullptr;
  uint64_t stride = 0;
  template <class T>
  T* of(int thread) const {
    return reinterpret_cast<T*>(base + thread * stride);
  }
};
}  // namespace rc::cpu

struct rc_plugin_compiled {
  // The pool and the spare memory outlive it.
  rc_plugin_compiled(const rc::plugin::GivenProgram& program,
                     const rc::cpu::Kernels& kernels, rc::cpu::Pool& pool,
                     rc::cpu::SpareMemory& spare, bool profile);

  // Checks the run's numbers and does it; result() says how it ended.
  void run(const rc_plugin_run& run);
  // The same with these caches in place of the program's, whose ops are those
  // of tensors.
  void run_with(const rc_plugin_run& run,
                std::span<rc_plugin_buffer* const> caches);
  const rc::cpu::Run& result() const { return *run_; }
  // Of the last run, by op; empty without profile.
  const std::vector<rc_plugin_op_time>& op_times() const {
    return walk_->op_times();
  }

  // Whether the program can outlive its weights and caches for a while: a
  // thread that comes late looks at nothing of theirs.
  bool can_linger() const;
  // Whether no thread comes late.
  bool left() const { return walk_->left(); }
  std::unique_ptr<rc_plugin_compiled> next_lingering;

 private:
  friend class rc::cpu::Compiler;

  void check(const rc_plugin_run& run) const;

  const rc::cpu::Kernels& kernels_;
  int64_t max_rows_, max_outputs_, max_sequences_;
  std::vector<uint8_t> inputs_used_, outputs_used_;
  std::vector<uint64_t> cache_bytes_;
  struct LargeResult {
    int32_t cache;
    uint64_t offset, bytes;
  };
  std::vector<LargeResult> large_results_;
  bool of_tensors_;                   // all ops are
  std::vector<uint8_t*> run_caches_;  // of the run under way
  // The program's scratch and areas of this backend's own.
  rc::cpu::Memory64 scratch_;
  struct Areas {
    Areas(rc::cpu::SpareMemory& from, bool back) : spare(from), back(back) {}
    Areas(const Areas&) = delete;
    Areas& operator=(const Areas&) = delete;
    ~Areas() {
      for (auto& block : blocks) {
        if (back) spare.give_back(std::move(block));
      }
    }
    rc::cpu::SpareMemory& spare;
    const bool back;
    std::vector<rc::cpu::SpareMemory::Block> blocks;
  } areas_;
  rc::cpu::ThreadScratch results_;
  std::vector<std::unique_ptr<rc::cpu::Choices>> choices_;
  std::vector<std::unique_ptr<rc::cpu::Step>> steps_;
  std::unique_ptr<rc::cpu::Run> run_;
  std::unique_ptr<rc::cpu::Walk> walk_;  // the first to go
};
