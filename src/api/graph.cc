#include "api/graph.h"

#include <algorithm>
#include <utility>

#include "api/backend.h"
#include "api/options.h"
#include "api/tensor.h"
#include "compute/at_once.h"

namespace rc::api {
namespace {

constexpr rc_graph_run_options kRunDefaults = RC_GRAPH_RUN_OPTIONS_INIT;
constexpr rc_graph_report kReportDefaults = RC_GRAPH_REPORT_INIT;

std::vector<compute::Tensor> need_tensors(rc_tensor* const* tensors,
                                          size_t count, const char* name) {
  need_array(tensors, count, sizeof *tensors, name);
  std::vector<compute::Tensor> found;
  found.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    found.push_back(need_tensor(tensors[i], cat(name, "[", i, "]").c_str()));
  }
  return found;
}

}  // namespace

GraphRun::GraphRun(rc_graph* graph, rc_tensor* const* inputs,
                   size_t input_count, const rc_graph_run_options* options)
    : graph_(need(graph, "graph").graph),
      account_(graph->account),
      inputs_(need_tensors(inputs, input_count, "inputs")),
      deadline_ms_(read_options(options, kRunDefaults, "options").deadline_ms) {
  need_at_least_zero(deadline_ms_, "options->deadline_ms");
  graph_->check_inputs(inputs_);
}

std::vector<compute::Tensor> GraphRun::run(bool (*stop)(void* user),
                                           void* user) const {
  compute::Work work(*graph_->context());
  compute::Graph::Limits limits;
  limits.deadline_ms = deadline_ms_;
  limits.stop = stop;
  limits.user = user;
  limits.spent_ns = &work.spent_ns;
  return graph_->run(inputs_, limits);
}

std::vector<rc_tensor*> add_tensors(std::vector<compute::Tensor> tensors) {
  std::vector<rc_tensor*> handles;
  handles.reserve(tensors.size());
  try {
    for (compute::Tensor& tensor : tensors) {
      handles.push_back(
          add_handle(std::make_unique<rc_tensor>(std::move(tensor))));
    }
  } catch (...) {
    for (rc_tensor* handle : handles) release_handle(handle, "output");
    throw;
  }
  return handles;
}

}  // namespace rc::api

using rc::api::guard;
using rc::api::guard_handle;
using rc::api::need;
using rc::api::need_array;

rc_status rc_graph_begin(rc_backend* backend, rc_graph** graph) {
  return guard_handle(graph, "graph", [&] {
    rc_backend& opened = need(backend, "backend");
    return rc::api::add_handle(std::unique_ptr<rc_graph>(new rc_graph{
        std::make_shared<rc::compute::Graph>(opened.home()), opened.account}));
  });
}

rc_status rc_graph_input(rc_graph* graph, rc_dtype dtype, const int64_t* shape,
                         int32_t rank, rc_tensor** input) {
  return rc::api::guard_tensor(input, "input", [&] {
    rc::compute::Graph& recording = *need(graph, "graph").graph;
    return recording.input(dtype, rc::api::need_shape(shape, rank));
  });
}

rc_status rc_graph_end(rc_graph* graph, rc_tensor* const* outputs,
                       size_t output_count) {
  return guard([&] {
    rc::compute::Graph& recording = *need(graph, "graph").graph;
    recording.end(rc::api::need_tensors(outputs, output_count, "outputs"));
  });
}

void rc_graph_run_options_init(rc_graph_run_options* options, size_t size) {
  rc::api::initialise(options, size, rc::api::kRunDefaults);
}

rc_status rc_graph_run(rc_graph* graph, rc_tensor* const* inputs,
                       size_t input_count, const rc_graph_run_options* options,
                       rc_tensor** outputs, size_t output_count) {
  return guard([&] {
    need_array(outputs, output_count, sizeof *outputs, "outputs");
    std::fill_n(outputs, output_count, nullptr);
    const rc::api::GraphRun run(graph, inputs, input_count, options);
    const size_t wanted = run.graph().output_count();
    if (output_count != wanted) {
      rc::fail(RC_E_INVALID_ARGUMENT, "output_count: ", output_count,
               ", but the graph was ended with ", wanted, " outputs");
    }
    const std::vector<rc_tensor*> made =
        rc::api::add_tensors(run.run(nullptr, nullptr));
    std::copy(made.begin(), made.end(), outputs);
  });
}

rc_status rc_graph_cancel(rc_graph* graph) {
  return guard([&] { need(graph, "graph").graph->cancel(); });
}

void rc_graph_report_init(rc_graph_report* report, size_t size) {
  rc::api::initialise(report, size, rc::api::kReportDefaults);
}

rc_status rc_graph_info(rc_graph* graph, rc_graph_report* report) {
  return guard([&] {
    const rc::compute::Graph::Size size = need(graph, "graph").graph->size();
    rc_graph_report found = rc::api::kReportDefaults;
    found.inputs = size.inputs;
    found.outputs = size.outputs;
    found.recorded_ops = size.recorded_ops;
    found.ops = size.ops;
    found.memory = size.memory;
    rc::api::write_report(report, found, "report");
  });
}

rc_graph* rc_graph_retain(rc_graph* graph) {
  return rc::api::retain_handle(graph, "graph");
}

void rc_graph_release(rc_graph* graph) {
  rc::api::release_handle(graph, "graph");
}
