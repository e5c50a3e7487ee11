// Streams, events and graphs of the stand-in for HIP.
#include <atomic>
#include <chrono>
#include <memory>

#include "hip_api.h"

using namespace rc::rocm;
namespace stand_in = rc::stand_in;

namespace {

std::atomic<long> graph_launches = 0;

stand_in::Event* event_of(hipEvent_t handle) {
  return reinterpret_cast<stand_in::Event*>(handle);
}

}  // namespace

RC_STAND_IN long rc_hip_stand_in_graphs() { return graph_launches; }

RC_STAND_IN hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned) {
  RC_BEGIN_ON_DEVICE("hipStreamCreateWithFlags");
  *stream = reinterpret_cast<hipStream_t>(new stand_in::Stream);
  return hipSuccess;
}
RC_STAND_IN hipError_t hipStreamDestroy(hipStream_t stream) {
  ++stand_in::calls;
  delete stream_of(stream);
  return hipSuccess;
}
RC_STAND_IN hipError_t hipStreamSynchronize(hipStream_t stream) {
  RC_BEGIN_ON_DEVICE("hipStreamSynchronize");
  stream_of(stream)->wait();
  return stand_in::lost;
}

RC_STAND_IN hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned) {
  RC_BEGIN_ON_DEVICE("hipEventCreateWithFlags");
  *event = reinterpret_cast<hipEvent_t>(new stand_in::Event);
  return hipSuccess;
}
RC_STAND_IN hipError_t hipEventDestroy(hipEvent_t event) {
  ++stand_in::calls;
  delete event_of(event);
  return hipSuccess;
}
RC_STAND_IN hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  RC_BEGIN_ON_DEVICE("hipEventRecord");
  event_of(event)->record(stream_of(stream));
  return hipSuccess;
}
RC_STAND_IN hipError_t hipEventQuery(hipEvent_t event) {
  RC_BEGIN_ON_DEVICE("hipEventQuery");
  return event_of(event)->is_over() ? stand_in::lost.load() : hipErrorNotReady;
}
RC_STAND_IN hipError_t hipEventSynchronize(hipEvent_t event) {
  RC_BEGIN_ON_DEVICE("hipEventSynchronize");
  event_of(event)->wait();
  return stand_in::lost;
}
RC_STAND_IN hipError_t hipEventElapsedTime(float* ms, hipEvent_t begin,
                                           hipEvent_t end) {
  RC_BEGIN_ON_DEVICE("hipEventElapsedTime");
  *ms = std::chrono::duration<float, std::milli>(event_of(end)->when() -
                                                 event_of(begin)->when())
            .count();
  return hipSuccess;
}

RC_STAND_IN hipError_t hipStreamBeginCapture(hipStream_t stream, int) {
  RC_BEGIN_ON_DEVICE("hipStreamBeginCapture");
  stream_of(stream)->begin_capture();
  return hipSuccess;
}
RC_STAND_IN hipError_t hipStreamEndCapture(hipStream_t stream,
                                           hipGraph_t* graph) {
  std::unique_ptr<stand_in::Graph> made = stream_of(stream)->end_capture();
  RC_BEGIN_ON_DEVICE("hipStreamEndCapture");
  *graph = reinterpret_cast<hipGraph_t>(made.release());
  return hipSuccess;
}
RC_STAND_IN hipError_t hipGraphDestroy(hipGraph_t graph) {
  ++stand_in::calls;
  delete reinterpret_cast<stand_in::Graph*>(graph);
  return hipSuccess;
}
RC_STAND_IN hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* exec,
                                                    hipGraph_t graph,
                                                    unsigned long long) {
  RC_BEGIN_ON_DEVICE("hipGraphInstantiateWithFlags");
  *exec = reinterpret_cast<hipGraphExec_t>(
      new stand_in::Graph(*reinterpret_cast<stand_in::Graph*>(graph)));
  return hipSuccess;
}
RC_STAND_IN hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
  ++stand_in::calls;
  delete reinterpret_cast<stand_in::Graph*>(exec);
  return hipSuccess;
}
RC_STAND_IN hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
  RC_BEGIN_ON_DEVICE("hipGraphLaunch");
  ++graph_launches;
  for (const stand_in::Task& task : *reinterpret_cast<stand_in::Graph*>(exec)) {
    stream_of(stream)->add(task);
  }
  return hipSuccess;
}
