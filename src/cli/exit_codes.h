// The exit codes of the runcible command, one per class of outcome.
#pragma once

#include "runcible/base.h"

namespace cli {

enum ExitCode {
  kSuccess = 0,
  kInternal = 1,       // a defect of the library or the command
  kUsage = 2,          // an argument or option that cannot be
  kFile = 3,           // a file that is not there or cannot be read or written
  kMalformed = 4,      // a file that is damaged
  kUnsupported = 5,    // a sound file that this build cannot run
  kBackend = 6,        // no backend could be opened
  kDevice = 7,         // a device failed, or its memory is exhausted
  kMemory = 8,         // the host's memory is exhausted
  kContext = 9,        // the prompt does not fit into the context
  kOther = 10,         // timeouts, quotas
  kInterrupted = 130,  // Ctrl-C, as shells have it
  kBrokenPipe = 141    // nobody reads the output any more
};

inline ExitCode exit_code(rc_status status) {
  switch (status) {
    case RC_OK:
      return kSuccess;
    case RC_E_INVALID_ARGUMENT:
      return kUsage;
    case RC_E_NOT_FOUND:
    case RC_E_IO:
      return kFile;
    case RC_E_FORMAT:
      return kMalformed;
    case RC_E_UNSUPPORTED:
      return kUnsupported;
    case RC_E_BACKEND_UNAVAILABLE:
      return kBackend;
    case RC_E_DEVICE:
    case RC_E_DEVICE_LOST:
    case RC_E_DEVICE_MEMORY:
      return kDevice;
    case RC_E_OUT_OF_MEMORY:
      return kMemory;
    case RC_E_CONTEXT_FULL:
      return kContext;
    case RC_E_CANCELLED:
      return kInterrupted;
    case RC_E_TIMEOUT:
    case RC_E_DEADLINE:
    case RC_E_BUSY:
    case RC_E_QUOTA:
    case RC_E_CLOSED:
      return kOther;
    default:
      return kInternal;
  }
}

// For --help.
inline constexpr char kExitCodeHelp[] =
    "Exit codes:\n"
    "    0  success\n"
    "    1  a defect of the library\n"
    "    2  an argument or option that cannot be\n"
    "    3  a file that is not there, or cannot be read or written\n"
    "    4  a damaged file\n"
    "    5  a sound file that this build cannot run\n"
    "    6  no backend could be opened\n"
    "    7  a device failed, or its memory is exhausted\n"
    "    8  out of memory\n"
    "    9  the prompt does not fit into the context\n"
    "   10  a timeout or another limit\n"
    "  130  interrupted by Ctrl-C\n"
    "  141  nobody reads the output any more";

}  // namespace cli
