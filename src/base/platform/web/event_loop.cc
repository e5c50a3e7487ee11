#include "base/event_loop.h"

#include <emscripten/em_js.h>
#include <emscripten/emscripten.h>
#include <emscripten/threading.h>

// Timers of pages wait some milliseconds at least; messages do not.
EM_JS(void, rc_web_ask_soon, (rc::EventLoopTask * task), {
  clearTimeout((Module["timers"] || {})[task]);
  if (typeof setImmediate == "function") {
    setImmediate(_rc_web_begin_task, task);
    return;
  }
  if (!Module["tasks"]) {
    Module["tasks"] = new MessageChannel();
    Module["tasks"].port1.onmessage = function(event) {
      _rc_web_begin_task(event.data);
    };
  }
  Module["tasks"].port2.postMessage(task);
});

EM_JS(void, rc_web_ask_after, (rc::EventLoopTask * task, double milliseconds), {
  Module["timers"] = Module["timers"] || {};
  clearTimeout(Module["timers"][task]);
  Module["timers"][task] = setTimeout(_rc_web_begin_task, milliseconds, task);
});

// By JavaScript.
extern "C" EMSCRIPTEN_KEEPALIVE void rc_web_begin_task(
    rc::EventLoopTask* task) {
  task->begin();
}

namespace rc {

void EventLoopTask::soon() noexcept {
  if (asked_.exchange(true)) return;
#if defined(__EMSCRIPTEN_PTHREADS__)
  // On the loop's thread at once, or when it next looks: while it waits for
  // something too, and therefore no more than the asking is done there.
  emscripten_async_run_in_main_runtime_thread(EM_FUNC_SIG_VI, rc_web_ask_soon,
                                              this);
#else
  rc_web_ask_soon(this);
#endif
}

void EventLoopTask::after(double milliseconds) noexcept {
  rc_web_ask_after(this, milliseconds);
}

void EventLoopTask::begin() {
  // Requests from now on are another call.
  asked_.store(false);
  run_();
}

}  // namespace rc
