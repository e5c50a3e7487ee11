// Where there is no libuv there is no loop of it either.
#include "base/error.h"
#include "engine/loop.h"

namespace rc::engine {

std::shared_ptr<Loop> Loop::on_uv(struct uv_loop_s*) {
  fail(RC_E_UNSUPPORTED,
       "this library was built without libuv: use a loop made by "
       "rc_loop_create, or none, for the library's own");
}

}  // namespace rc::engine
