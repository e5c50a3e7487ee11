// Whether the system makes large blocks of memory of huge pages.
#pragma once

#include <cstdint>
#include <string>

#include "runcible/base.h"

namespace rc::cpu {

// At a multiple of which large blocks begin; see memory.h.
constexpr uint64_t kHugePage = 2u << 20;

struct HugePages {
  rc_huge_pages mode = RC_HUGE_PAGES_UNKNOWN;
  uint64_t bytes = 0;  // of a page; 0: unknown
};

// As the system reports in sys/kernel/mm below `root`. `disabled`: for this
// process they are switched off.
HugePages huge_pages(const std::string& root, bool disabled);
// Of this machine and process.
HugePages huge_pages();

}  // namespace rc::cpu
