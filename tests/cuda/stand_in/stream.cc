// Streams, events and graphs of the stand-in for NVIDIA's driver library.
#include "stream.h"

#include <atomic>
#include <chrono>
#include <set>

#include "control.h"

namespace rc::cuda {
namespace {

std::atomic<long> graph_launches = 0;
std::mutex& streams_mutex = *new std::mutex;
std::set<Stream*>& streams = *new std::set<Stream*>;

struct Event {
  std::mutex mutex;
  std::condition_variable changed;
  long recorded = 0;
  long over = 0;
  std::chrono::steady_clock::time_point when;
};

// Work that is under way may outlive the handle.
std::shared_ptr<Event>& shared_event(CUevent event) {
  return *reinterpret_cast<std::shared_ptr<Event>*>(event);
}

}  // namespace

void wait_for_all() {
  const std::lock_guard lock(streams_mutex);
  for (Stream* const stream : streams) stream->wait();
}

}  // namespace rc::cuda

using namespace rc::cuda;

RC_STAND_IN long rc_cuda_stand_in_graphs() { return graph_launches; }

RC_STAND_IN CUresult cuStreamCreate(CUstream* stream, unsigned) {
  RC_BEGIN_IN_CONTEXT("cuStreamCreate");
  auto* const made = new Stream;
  const std::lock_guard lock(streams_mutex);
  streams.insert(made);
  *stream = reinterpret_cast<CUstream>(made);
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuStreamDestroy_v2(CUstream stream) {
  ++calls;
  {
    const std::lock_guard lock(streams_mutex);
    streams.erase(stream_of(stream));
  }
  delete stream_of(stream);
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuStreamSynchronize(CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuStreamSynchronize");
  stream_of(stream)->wait();
  return lost;
}

RC_STAND_IN CUresult cuEventCreate(CUevent* event, unsigned) {
  RC_BEGIN_IN_CONTEXT("cuEventCreate");
  *event = reinterpret_cast<CUevent>(
      new std::shared_ptr<Event>(std::make_shared<Event>()));
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuEventDestroy_v2(CUevent event) {
  ++calls;
  delete &shared_event(event);
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuEventRecord(CUevent event, CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuEventRecord");
  const std::shared_ptr<Event> recorded = shared_event(event);
  const std::lock_guard lock(recorded->mutex);
  const long number = ++recorded->recorded;
  stream_of(stream)->add([recorded, number] {
    const std::lock_guard inner(recorded->mutex);
    recorded->over = number;
    recorded->when = std::chrono::steady_clock::now();
    recorded->changed.notify_all();
  });
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuEventQuery(CUevent event) {
  RC_BEGIN_IN_CONTEXT("cuEventQuery");
  Event& asked = *shared_event(event);
  const std::lock_guard lock(asked.mutex);
  return asked.over == asked.recorded ? lost.load() : CUDA_ERROR_NOT_READY;
}
RC_STAND_IN CUresult cuEventSynchronize(CUevent event) {
  RC_BEGIN_IN_CONTEXT("cuEventSynchronize");
  Event& asked = *shared_event(event);
  std::unique_lock lock(asked.mutex);
  asked.changed.wait(lock, [&] { return asked.over == asked.recorded; });
  return lost;
}
RC_STAND_IN CUresult cuEventElapsedTime(float* ms, CUevent begin, CUevent end) {
  RC_BEGIN_IN_CONTEXT("cuEventElapsedTime");
  *ms = std::chrono::duration<float, std::milli>(shared_event(end)->when -
                                                 shared_event(begin)->when)
            .count();
  return CUDA_SUCCESS;
}

RC_STAND_IN CUresult cuStreamBeginCapture_v2(CUstream stream, int) {
  RC_BEGIN_IN_CONTEXT("cuStreamBeginCapture_v2");
  stream_of(stream)->begin_capture();
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  std::unique_ptr<Graph> made = stream_of(stream)->end_capture();
  RC_BEGIN_IN_CONTEXT("cuStreamEndCapture");
  *graph = reinterpret_cast<CUgraph>(made.release());
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuGraphDestroy(CUgraph graph) {
  ++calls;
  delete reinterpret_cast<Graph*>(graph);
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec,
                                                 CUgraph graph,
                                                 unsigned long long) {
  RC_BEGIN_IN_CONTEXT("cuGraphInstantiateWithFlags");
  *exec = reinterpret_cast<CUgraphExec>(
      new Graph(*reinterpret_cast<Graph*>(graph)));
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuGraphExecDestroy(CUgraphExec exec) {
  ++calls;
  delete reinterpret_cast<Graph*>(exec);
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuGraphLaunch");
  ++graph_launches;
  for (const auto& task : *reinterpret_cast<Graph*>(exec)) {
    stream_of(stream)->add(task);
  }
  return CUDA_SUCCESS;
}
