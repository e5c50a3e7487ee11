// The operating system's description of the processor and its memory.
#pragma once

#include <cstdint>
#include <string>

namespace rc::plugin {

// "AMD EPYC 9B45"; the architecture's name if the system names none.
std::string processor_name();

// Processors that this process may use at once: its affinity, cut by the quota
// of its control group. At least 1.
int usable_cores();

struct Memory {
  uint64_t total = 0;  // bytes; 0: unknown
  uint64_t free = 0;
};
// Of the machine, cut by the limit of the control group.
Memory machine_memory();

}  // namespace rc::plugin
