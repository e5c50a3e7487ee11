// Browsers share out the processors as they like.
#include "base/compute_thread.h"

#include "base/library_thread.h"

namespace rc {

void become_compute_thread() noexcept { become_library_thread(); }

void become_background_thread() noexcept {}

LongTurns::LongTurns() noexcept : before_(0) {}

LongTurns::~LongTurns() = default;

}  // namespace rc
