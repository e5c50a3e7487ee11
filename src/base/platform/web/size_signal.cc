// Nothing limits the size of files.
#include "base/size_signal.h"

namespace rc {

SizeSignalHeld::SizeSignalHeld() noexcept = default;
SizeSignalHeld::~SizeSignalHeld() = default;

}  // namespace rc
