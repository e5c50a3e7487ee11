// An opened device of a backend of functions: programs are run op by op, in
// host memory.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "runtime/host_memory.h"
#include "runtime/op_backend.h"
#include "tensor/op.h"
#include "tensor/op_parameters.h"
#include "tensor/value.h"

// The functions of a table have the names that other tables here have, too.
namespace rc::runtime::op_backends {
namespace {

// The object behind a device handle.
struct OpDevice {
  std::shared_ptr<OpBackend> backend;
};
struct OpWeight {
  rc_plugin_weight* memory = nullptr;  // of the host's table; nullptr: mapped
  const void* data = nullptr;
  uint64_t number = 0;
};
const rc_op_backend& functions_of(rc_plugin_device* device) {
  return reinterpret_cast<OpDevice*>(device)->backend->functions();
}

// Host memory of the library, as for plugins without separate memory.
const rc_plugin& host() {
  static const rc_plugin table = [] {
    rc_plugin made = {};
    complete_with_host_memory(made);
    return made;
  }();
  return table;
}

uint64_t next_number() {
  static std::atomic<uint64_t> numbers = 0;
  return ++numbers;
}

// Runs the function; what it throws becomes a status and a message.
template <class Function>
rc_status guarded(char* message, const Function& function) noexcept {
  const auto say = [&](rc_status status, const char* text) {
    std::snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "%s", text);
    return status;
  };
  try {
    return function();
  } catch (const Error& error) {
    return say(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return say(RC_E_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return say(RC_E_DEVICE, error.what());
  } catch (...) {
    return say(RC_E_DEVICE, "an exception of an unknown type");
  }
}

// An op with everything that its rc_op_call points to.
class Call {
 public:
  // `values` are those that the op's numbers count.
  Call(const Op& op, std::span<const rc_plugin_value> values,
       const char* parameters)
      : op_(op) {
    const OpSchema* schema = find_op(op.code);
    call_.struct_size = sizeof call_;
    call_.name = op_name(op.code);
    call_.code = op.code;
    call_.of_tensors = is_tensor_op(op, values) ? 1 : 0;
    call_.params = &op_.params;
    call_.params_json = parameters;
    call_.inputs = inputs_;
    call_.input_count = static_cast<size_t>(schema->inputs());
    call_.outputs = outputs_;
    call_.output_count = static_cast<size_t>(schema->outputs());
    for (size_t i = 0; i < call_.input_count; ++i) {
      inputs_[i] = add(values, op.inputs[i]);
      if (inputs_[i] != nullptr && is_written(*schema, i)) {
        made_[count_ - 1].writable = 1;
      }
    }
    for (size_t i = 0; i < call_.output_count; ++i) {
      outputs_[i] = add(values, op.outputs[i]);
      if (outputs_[i] != nullptr) made_[count_ - 1].writable = 1;
    }
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  rc_op_call& call() { return call_; }
  // With the number of the program's value that each stands for.
  template <class Function>
  void each(const Function& function) {
    for (size_t i = 0; i < count_; ++i) function(made_[i], numbers_[i]);
  }

 private:
  const rc_op_value* add(std::span<const rc_plugin_value> values,
                         int32_t number) {
    if (number < 0) return nullptr;
    const rc_plugin_value& value = values[static_cast<size_t>(number)];
    rc_op_value& made = made_[count_];
    made = {};
    made.struct_size = sizeof made;
    made.dtype = value.dtype;
    made.rank = value.rank;
    std::copy(std::begin(value.shape), std::end(value.shape), made.shape);
    made.storage = value.storage;
    numbers_[count_++] = number;
    return &made;
  }

  // Whether ops of states, or CACHE_STORE, write this input.
  static bool is_written(const OpSchema& schema, size_t input) {
    return schema.rows.inputs[input].place == ValuePlace::kCache &&
           schema.rows.inputs[input].role != nullptr &&
           schema.code != RC_OP_ATTENTION &&
           schema.code != RC_OP_GENERAL_ATTENTION;
  }

  const Op op_;
  rc_op_call call_ = {};
  rc_op_value made_[kMaxInputs + kMaxOutputs];
  int32_t numbers_[kMaxInputs + kMaxOutputs];
  size_t count_ = 0;
  const rc_op_value* inputs_[kMaxInputs] = {};
  const rc_op_value* outputs_[kMaxOutputs] = {};
};

void need_known(const Op& op) {
  if (find_op(op.code) == nullptr) {
    fail(RC_E_UNSUPPORTED, "op number ", op.code, " is not known");
  }
}

// A failure that says which op it was of.
rc_status of_op(rc_status status, const rc_op_call& call, const char* text,
                char* message) {
  const std::string said =
      cat(call.name, ": ",
          *text == '\0' ? "it failed, and does not say why" : text);
  std::snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "%s", said.c_str());
  return status;
}

rc_status op_supported(rc_plugin_device* device, const rc_plugin_op* given,
                       const rc_plugin_value* const* values, size_t value_count,
                       char* message) {
  return guarded(message, [&]() -> rc_status {
    const Op op = op_from(*given);
    need_known(op);
    std::vector<rc_plugin_value> own;
    for (size_t i = 0; i < value_count; ++i) own.push_back(*values[i]);
    if (has_other_numbers(op, own.data())) {
      fail(RC_E_UNSUPPORTED, op_name(op.code), " of ",
           value_text(own[static_cast<size_t>(op.inputs[0])]),
           ": backends of ops are asked for F32 alone");
    }
    const std::string parameters = parameters_json(op);
    Call call(op, own, parameters.c_str());
    const rc_op_backend& functions = functions_of(device);
    return functions.supports(functions.user, &call.call(), message);
  });
}

rc_status weight_bytes(rc_plugin_device* device,
                       const rc_plugin_weight_info* info, uint64_t* bytes,
                       char* message) {
  return host().weight_bytes(device, info, bytes, message);
}

rc_status create_weight(rc_plugin_device* device,
                        const rc_plugin_weight_info* info, const void* data,
                        rc_plugin_weight** weight, char* message) {
  return guarded(message, [&]() -> rc_status {
    auto made = std::make_unique<OpWeight>();
    const rc_status status =
        host().create_weight(device, info, data, &made->memory, message);
    if (status != RC_OK) return status;
    // A handle of the host's table is the address of the bytes.
    made->data = made->memory;
    made->number = next_number();
    *weight = reinterpret_cast<rc_plugin_weight*>(made.release());
    return RC_OK;
  });
}

rc_status map_weight(rc_plugin_device*, const rc_plugin_weight_info*,
                     const void* data, rc_plugin_weight** weight,
                     char* message) {
  return guarded(message, [&]() -> rc_status {
    *weight = reinterpret_cast<rc_plugin_weight*>(
        new OpWeight{nullptr, data, next_number()});
    return RC_OK;
  });
}

void destroy_weight(rc_plugin_device* device, rc_plugin_weight* weight) {
  const std::unique_ptr<OpWeight> owned(reinterpret_cast<OpWeight*>(weight));
  const rc_op_backend& functions = functions_of(device);
  if (functions.forget_weight != nullptr) {
    functions.forget_weight(functions.user, owned->number);
  }
  if (owned->memory != nullptr) host().destroy_weight(device, owned->memory);
}

// A program, with copies of what it was compiled from.
struct OpProgram {
  explicit OpProgram(const rc_plugin_program& program)
      : caches(program.caches, program.caches + program.cache_count) {
    for (size_t i = 0; i < program.weight_count; ++i) {
      weights.push_back(reinterpret_cast<OpWeight*>(program.weights[i]));
    }
    for (size_t i = 0; i < program.value_count; ++i) {
      values.push_back(*program.values[i]);
    }
    for (size_t i = 0; i < program.op_count; ++i) {
      ops.push_back(op_from(*program.ops[i]));
      need_known(ops.back());
      parameters.push_back(parameters_json(ops.back()));
    }
  }
  OpProgram(const OpProgram&) = delete;
  OpProgram& operator=(const OpProgram&) = delete;
  ~OpProgram() {
    if (scratch != nullptr) host().destroy_buffer(nullptr, scratch);
  }

  void* data_of(const rc_plugin_value& value, const rc_plugin_run& run,
                rc_plugin_buffer* const* buffers) const {
    const auto index = static_cast<size_t>(value.index);
    switch (value.storage) {
      case RC_STORAGE_WEIGHT:
        return const_cast<void*>(weights[index]->data);
      case RC_STORAGE_CACHE:
        return reinterpret_cast<char*>(buffers[index]) + value.offset;
      case RC_STORAGE_INPUT:
        return const_cast<void*>(run.inputs[index]);
      case RC_STORAGE_OUTPUT:
        return run.outputs_data[index];
      default:
        return reinterpret_cast<char*>(scratch) + value.offset;
    }
  }

  std::vector<rc_plugin_value> values;
  std::vector<Op> ops;
  std::vector<std::string> parameters;  // of each op
  std::vector<OpWeight*> weights;
  std::vector<rc_plugin_buffer*> caches;
  rc_plugin_buffer* scratch = nullptr;  // of the host's table
};

void destroy_compiled(rc_plugin_device*, rc_plugin_compiled* compiled) {
  delete reinterpret_cast<OpProgram*>(compiled);
}

rc_status compile(rc_plugin_device* device, const rc_plugin_program* program,
                  rc_plugin_compiled** compiled, char* message) {
  return guarded(message, [&]() -> rc_status {
    auto made = std::make_unique<OpProgram>(*program);
    const rc_status status = host().create_buffer(
        device, program->scratch_bytes, &made->scratch, message);
    if (status == RC_OK) {
      *compiled = reinterpret_cast<rc_plugin_compiled*>(made.release());
    }
    return status;
  });
}

int32_t never_stop(void*) { return 0; }

rc_status compute_op(rc_plugin_device* device, const OpProgram& program,
                     size_t number, const rc_plugin_run& run,
                     rc_plugin_buffer* const* buffers, char* message) {
  const Rows rows = {run.rows, run.outputs, run.sequences};
  Call built(program.ops[number], program.values,
             program.parameters[number].c_str());
  bool empty = true;
  built.each([&](rc_op_value& value, int32_t place) {
    const rc_plugin_value& of = program.values[static_cast<size_t>(place)];
    for (int32_t i = 0; i < value.rank; ++i) {
      value.shape[i] = resolve_dimension(value.shape[i], rows);
    }
    value.bytes = value_bytes(of, rows).value_or(0);
    value.data = program.data_of(of, run, buffers);
    if (of.storage == RC_STORAGE_WEIGHT) {
      value.weight = program.weights[static_cast<size_t>(of.index)]->number;
    }
    if (value.writable != 0 && value.bytes > 0) empty = false;
  });
  if (empty) return RC_OK;
  rc_op_call& call = built.call();
  call.should_stop = run.should_stop != nullptr ? run.should_stop : never_stop;
  call.stop_user = run.user;
  char text[RC_OP_BACKEND_MESSAGE_BYTES] = {};
  const rc_op_backend& functions = functions_of(device);
  const rc_status status = functions.compute(functions.user, &call, text);
  text[sizeof text - 1] = '\0';
  if (status == RC_OK) return RC_OK;
  return of_op(status, call, text, message);
}

rc_status run_with(rc_plugin_device* device, rc_plugin_compiled* compiled,
                   const rc_plugin_run* run, rc_plugin_buffer* const* caches,
                   size_t, char* message) {
  return guarded(message, [&]() -> rc_status {
    const auto& program = *reinterpret_cast<OpProgram*>(compiled);
    for (size_t i = 0; i < program.ops.size(); ++i) {
      if (run->should_stop != nullptr && run->should_stop(run->user) != 0) {
        fail(RC_E_CANCELLED, "asked to stop");
      }
      const rc_status status =
          compute_op(device, program, i, *run, caches, message);
      if (status != RC_OK) return status;
    }
    return RC_OK;
  });
}

rc_status run(rc_plugin_device* device, rc_plugin_compiled* compiled,
              const rc_plugin_run* run, char* message) {
  const auto& program = *reinterpret_cast<OpProgram*>(compiled);
  return run_with(device, compiled, run, program.caches.data(),
                  program.caches.size(), message);
}

void close(rc_plugin_device* device) {
  delete reinterpret_cast<OpDevice*>(device);
}

}  // namespace

rc_plugin table() {
  rc_plugin made = host();
  made.struct_size = sizeof made;
  made.abi_version = RC_PLUGIN_ABI_VERSION;
  made.least_abi_version = RC_PLUGIN_ABI_VERSION;
  made.close = close;
  made.op_supported = op_supported;
  made.weight_bytes = weight_bytes;
  made.create_weight = create_weight;
  made.destroy_weight = destroy_weight;
  made.map_weight = map_weight;
  made.compile = compile;
  made.destroy_compiled = destroy_compiled;
  made.run = run;
  made.run_with = run_with;
  return made;
}

rc_status open(std::shared_ptr<OpBackend> backend, rc_plugin_device** device,
               char* message) {
  return guarded(message, [&]() -> rc_status {
    *device =
        reinterpret_cast<rc_plugin_device*>(new OpDevice{std::move(backend)});
    return RC_OK;
  });
}

}  // namespace rc::runtime::op_backends
