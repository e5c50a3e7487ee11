// Streams, events and graphs of the stand-in for NVIDIA's driver library.
#include "streams/stream.h"

#include <atomic>
#include <chrono>
#include <memory>

#include "control.h"
#include "stream_of.h"

namespace stand_in = rc::stand_in;

namespace rc::cuda {
namespace {

std::atomic<long> graph_launches = 0;

stand_in::Event* event_of(CUevent handle) {
  return reinterpret_cast<stand_in::Event*>(handle);
}

}  // namespace
}  // namespace rc::cuda

using namespace rc::cuda;

RC_STAND_IN long rc_cuda_stand_in_graphs() { return graph_launches; }

RC_STAND_IN CUresult cuStreamCreate(CUstream* stream, unsigned) {
  RC_BEGIN_IN_CONTEXT("cuStreamCreate");
  *stream = reinterpret_cast<CUstream>(new stand_in::Stream);
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuStreamDestroy_v2(CUstream stream) {
  ++stand_in::calls;
  delete stream_of(stream);
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuStreamSynchronize(CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuStreamSynchronize");
  stream_of(stream)->wait();
  return stand_in::lost;
}

RC_STAND_IN CUresult cuEventCreate(CUevent* event, unsigned) {
  RC_BEGIN_IN_CONTEXT("cuEventCreate");
  *event = reinterpret_cast<CUevent>(new stand_in::Event);
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuEventDestroy_v2(CUevent event) {
  ++stand_in::calls;
  delete event_of(event);
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuEventRecord(CUevent event, CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuEventRecord");
  event_of(event)->record(stream_of(stream));
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuEventQuery(CUevent event) {
  RC_BEGIN_IN_CONTEXT("cuEventQuery");
  return event_of(event)->is_over() ? stand_in::lost.load()
                                    : CUDA_ERROR_NOT_READY;
}
RC_STAND_IN CUresult cuEventSynchronize(CUevent event) {
  RC_BEGIN_IN_CONTEXT("cuEventSynchronize");
  event_of(event)->wait();
  return stand_in::lost;
}
RC_STAND_IN CUresult cuEventElapsedTime(float* ms, CUevent begin, CUevent end) {
  RC_BEGIN_IN_CONTEXT("cuEventElapsedTime");
  *ms = std::chrono::duration<float, std::milli>(event_of(end)->when() -
                                                 event_of(begin)->when())
            .count();
  return CUDA_SUCCESS;
}

RC_STAND_IN CUresult cuStreamBeginCapture_v2(CUstream stream, int) {
  RC_BEGIN_IN_CONTEXT("cuStreamBeginCapture_v2");
  stream_of(stream)->begin_capture();
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  std::unique_ptr<stand_in::Graph> made = stream_of(stream)->end_capture();
  RC_BEGIN_IN_CONTEXT("cuStreamEndCapture");
  *graph = reinterpret_cast<CUgraph>(made.release());
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuGraphDestroy(CUgraph graph) {
  ++stand_in::calls;
  delete reinterpret_cast<stand_in::Graph*>(graph);
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec,
                                                 CUgraph graph,
                                                 unsigned long long) {
  RC_BEGIN_IN_CONTEXT("cuGraphInstantiateWithFlags");
  *exec = reinterpret_cast<CUgraphExec>(
      new stand_in::Graph(*reinterpret_cast<stand_in::Graph*>(graph)));
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuGraphExecDestroy(CUgraphExec exec) {
  ++stand_in::calls;
  delete reinterpret_cast<stand_in::Graph*>(exec);
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuGraphLaunch");
  ++graph_launches;
  for (const auto& task : *reinterpret_cast<stand_in::Graph*>(exec)) {
    stream_of(stream)->add(task);
  }
  return CUDA_SUCCESS;
}
