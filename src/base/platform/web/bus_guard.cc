// In WebAssembly a mapped file is a copy of it: no page of it can be missing.
#include "base/bus_guard.h"

namespace rc {

BusGuard::BusGuard(std::span<const std::byte>) : range_(nullptr) {}

BusGuard::~BusGuard() = default;

bool BusGuard::damaged() const noexcept { return range_ != nullptr; }

}  // namespace rc
