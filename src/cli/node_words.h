// The words for huge pages and for the nodes of memory.
#pragma once

#include "runcible/base.h"

namespace cli {

inline const char* huge_pages_name(rc_huge_pages mode) {
  switch (mode) {
    case RC_HUGE_PAGES_NEVER:
      return "never";
    case RC_HUGE_PAGES_MADVISE:
      return "madvise";
    case RC_HUGE_PAGES_ALWAYS:
      return "always";
    default:
      return "unknown";
  }
}

inline const char* numa_name(rc_numa numa) {
  switch (numa) {
    case RC_NUMA_OFF:
      return "off";
    case RC_NUMA_INTERLEAVE:
      return "interleave";
    case RC_NUMA_LOCAL:
      return "local";
    default:
      return "auto";
  }
}

}  // namespace cli
