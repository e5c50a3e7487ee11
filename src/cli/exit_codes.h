// The exit codes of the runcible command, one per class of outcome.
#pragma once

#include "runcible/base.h"

namespace cli {

enum ExitCode {
  kSuccess = 0,
  kInternal = 1,
  kUsage = 2,
  kFile = 3,
  kMalformed = 4,
  kUnsupported = 5,
  kBackend = 6,
  kDevice = 7,
  kMemory = 8,
  kContext = 9,
  kOther = 10,
  kCut = 11,
  kInterrupted = 130,  // as shells have it
  kBrokenPipe = 141,
  kTerminated = 143
};

// The meaning of an exit code, for `runcible help exit-codes`.
struct ExitCodeMeaning {
  ExitCode code;
  const char* meaning;
};
inline constexpr ExitCodeMeaning kExitCodes[] = {
    {kSuccess, "success"},
    {kInternal, "a defect of the library or the command"},
    {kUsage, "an invalid command, argument or option"},
    {kFile, "a file that is not there, or cannot be read or written"},
    {kMalformed, "a damaged file"},
    {kUnsupported, "a sound file that this build cannot run"},
    {kBackend, "no backend could be opened"},
    {kDevice, "a device failed, or its memory is exhausted"},
    {kMemory, "the memory of the host is exhausted"},
    {kContext, "the prompt does not fit into the context"},
    {kOther, "a timeout or another limit"},
    {kCut, "a text under a schema or grammar was cut before its end"},
    {kInterrupted, "interrupted by Ctrl-C"},
    {kBrokenPipe, "the output is not read any more"},
    {kTerminated, "ended by SIGTERM"},
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

}  // namespace cli
