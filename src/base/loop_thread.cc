#include "base/loop_thread.h"

namespace rc {
namespace {

thread_local bool runs_loop = false;

}  // namespace

void become_loop_thread() noexcept { runs_loop = true; }

bool is_loop_thread() noexcept { return runs_loop; }

}  // namespace rc
