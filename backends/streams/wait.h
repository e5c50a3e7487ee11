// Waiting for what was enqueued.
#pragma once

#include <cstdint>

#include "streams/driver.h"

namespace rc::streams {

// Waits until the work before the event is over, for at most so long if
// `timeout_ms` is not negative. False: it is not over. The device is current.
bool wait_for(Driver& driver, EventHandle event, int64_t timeout_ms);

}  // namespace rc::streams
