// The threads that read the prompts of generations of all engines of the
// process, so that a long one holds up neither its sender's event loop nor an
// engine.
//
// A tenant has one prompt read at a time, in the order in which they came, and
// tenants take turns, so that none waits for the many or long prompts of
// another.
#pragma once

#include <memory>

namespace rc::engine {

class Generation;

// Has generation->read_prompt() called on a thread with a deep stack
// (base/deep_stack.h), and the engine woken then. Any thread may call it. False
// if the system gives no thread: the caller does it then. Throws
// std::bad_alloc.
bool read_prompt_later(std::shared_ptr<Generation> generation,
                       const void* tenant);

}  // namespace rc::engine
