// The processors and the memory of this machine, as far as the system reports
// them and this process may use them. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace rc {

// The number of processors that the process may run on; 0 if unknown.
int usable_processors() noexcept;

// Keeps the calling thread on these processors, in rising order. Returns 0 or
// an errno.
int keep_on_processors(const std::vector<int>& processors);

// The processor's features as the kernel reports them to programs
// (getauxval(3)), in the two words AT_HWCAP and AT_HWCAP2.
struct ProcessorFeatures {
  unsigned long first = 0;
  unsigned long second = 0;
};
ProcessorFeatures processor_features() noexcept;

// Asks for leave to use the matrix registers of AMX, for all threads of the
// process and for good. Frames of its signal handlers grow by them, so the
// kernel refuses where a thread has set a smaller stack for them aside.
bool may_use_matrix_registers() noexcept;

// Bytes of memory; 0 if unknown.
uint64_t physical_memory() noexcept;

// The memory of a module of WebAssembly, which knows no other.
struct ModuleMemory {
  uint64_t total = 0;  // bytes that it may grow to
  uint64_t free = 0;
};
// Nothing in other programs.
std::optional<ModuleMemory> module_memory() noexcept;

// Whether huge pages are switched off for this process.
bool huge_pages_disabled() noexcept;

// The nodes of the calling thread's memory policy; none if it has the default
// one. As get_mempolicy(2).
std::vector<int> memory_policy_nodes();

// Gives memory, whole pages that have not been touched, to nodes: its pages in
// turn if `interleave`, else as many of them as there is room for on `nodes`,
// which is one. Returns 0 or an errno. As mbind(2).
int bind_memory(void* memory, uint64_t bytes, bool interleave,
                const std::vector<int>& nodes);

}  // namespace rc
