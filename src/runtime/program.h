// Programs: ordered lists of ops with a symbolic number of rows.
//
// A ProgramBuilder writes the description; every method appends one op of the
// vocabulary of plugin_ops.h, checks the shapes, and returns the new value.
// Program plans scratch memory by lifetime, asks the device for its support of
// every op, and compiles. No weight needs to be loaded to build a description,
// so the same code serves for planning memory. A program may be spread over
// several devices: see assignment.h and split.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/device.h"
#include "tensor/op.h"

namespace rc::runtime {

using Value = int32_t;  // number of a value; kAbsent for an optional input
inline constexpr Value kAbsent = -1;

struct ProgramDescription {
  // Scratch offsets are not yet planned. The `index` of a scratch value is the
  // number of the value whose bytes it shows under its own shape: its own
  // number, unless it is the result of a reshape.
  std::vector<rc_plugin_value> values;
  std::vector<Op> ops;
  std::vector<WeightInfo> weights;      // by index of RC_STORAGE_WEIGHT
  std::vector<rc_plugin_value> caches;  // dtype and shape, by index
  size_t input_count = 0;
  size_t output_count = 0;
  // The part that each op belongs to, and the names of all of them: see
  // ProgramBuilder::begin_part.
  std::vector<int32_t> parts;
  std::vector<std::string> part_names;
  // The first op of each stage but the first one: see
  // ProgramBuilder::begin_stage.
  std::vector<size_t> stages;

  // The name of the part of an op; "" if it has none.
  const std::string& part_name(size_t op) const;
  // The weight that says most of an op: the first with more than one dimension,
  // else the first of all; nullptr for an op without.
  const WeightInfo* weight_of(size_t op) const;

  // The values of this storage by index.
  std::vector<rc_plugin_value> inputs() const;
  std::vector<rc_plugin_value> outputs() const;
};

class ProgramBuilder {
 public:
  using Shape = std::vector<int64_t>;

  // The ops from here on belong to the next part, such as a layer; it is known
  // by its name to those who look where the time goes. The first is part 0,
  // whose name can be given here. A program that does not fit on one device is
  // cut between parts.
  explicit ProgramBuilder(std::string first_part = "") {
    description_.part_names.push_back(std::move(first_part));
  }
  void begin_part(std::string name = "") {
    description_.part_names.push_back(std::move(name));
  }

  // The ops from here on belong to the next stage. A run is of one stage; those
  // of one program have its weights, caches and inputs in common, and nothing
  // else. A part belongs to one stage.
  void begin_stage() { description_.stages.push_back(description_.ops.size()); }

  // Weights are distinguished by name; asking again for one adds the use.
  Value weight(const std::string& name, DType dtype, const Shape& shape,
               uint32_t use);
  Value cache(DType dtype, const Shape& shape);
  // Inputs and outputs are numbered in the order of the calls.
  Value input(DType dtype, const Shape& shape);

  // A dimension of outputs that the inputs leave open, as the schema names it.
  struct NamedDimension {
    const char* name;
    int64_t number;
  };
  // Appends an op, whose `inputs` and `outputs` are filled in, if its values
  // obey the rules. Returns its outputs, whose types and shapes follow from the
  // inputs by the schema. The ops below have their own functions since more
  // than two places use each.
  std::vector<Value> append(Op op, const std::vector<Value>& inputs,
                            std::optional<NamedDimension> free = {});

  Value get_rows(Value table, Value ids);
  Value rms_norm(Value x, Value weight, float epsilon);
  Value layer_norm(Value x, Value weight, Value bias, float epsilon);
  // LAYER_NORM that takes no mean away and has neither weight nor bias.
  Value plain_norm(Value x, float epsilon);
  Value group_norm(Value x, Value weight, float epsilon);
  Value linear(Value x, Value weight, Value bias = kAbsent,
               Value residual = kAbsent);
  // x is seen as [R, heads, head_size]; so are the results of cache and
  // attention ops.
  Value rope(Value x, Value positions, Value frequencies, int style,
             float scale);
  void cache_store(Value x, Value positions, Value sequences, Value page_table,
                   Value cache);
  Value attention(Value q, Value key_cache, Value value_cache, Value positions,
                  Value sequences, Value page_table, float scale, float softcap,
                  int64_t window, Value sinks = kAbsent,
                  Value lengths = kAbsent);
  // The inputs of GENERAL_ATTENTION, by the names of plugin_ops.h, and the
  // length of the values where they are a part of the keys.
  struct GeneralAttention {
    Value q, key_cache, value_cache, positions, sequences, page_table;
    float scale = 1.0f;
    float softcap = 0.0f;
    int64_t window = 0;
    int64_t chunk = 0;
    float temperature = 0.0f;
    int64_t temperature_length = 0;
    Value sinks = kAbsent;
    Value lengths = kAbsent;
    Value slopes = kAbsent;
    Value distances = kAbsent;
    int64_t value_size = 0;  // where value_cache is absent
  };
  Value general_attention(const GeneralAttention& how);
  // limit and offset as in rc_plugin_params.glu.
  Value glu(Value gate, Value up, int function, float limit = 0.0f,
            float offset = 0.0f);
  Value unary(Value x, int function);
  Value add(Value a, Value b);
  Value multiply(Value a, Value b);
  Value scale(Value x, float factor);
  Value softcap(Value x, float cap);
  struct Route {
    Value ids;
    Value weights;
  };
  Route route(Value x, int64_t k, bool normalize);
  // score: RC_SCORE_*.
  Route choose(Value x, Value bias, int64_t k, int score, bool normalize);
  // Weight or bias may be absent.
  Value affine(Value x, Value weight, Value bias);
  // The same among the experts of some groups; bias may be absent.
  struct Groups {
    int64_t count = 1;
    int64_t used = 1;
    int best = 1;  // experts of a group whose scores are its own
  };
  Route choose_in_groups(Value x, Value bias, int64_t k, int score,
                         bool normalize, const Groups& groups);
  Value join(Value a, Value b);
  Value clamp(Value x, float limit);
  Value expert_linear(Value x, Value weight, Value ids, Value bias = kAbsent);
  Value expert_sum(Value x, Value weights);
  // function: RC_FUNCTION_*, RC_FUNCTION_NONE too.
  Value short_conv(Value x, Value weight, Value bias, Value sequences,
                   Value state_slots, Value cache, int function);
  // The inputs of SELECTIVE_SCAN, by the names of plugin_ops.h.
  struct Scan {
    Value x, steps, b, c;
    Value step_bias, decay, skip;
  };
  Value selective_scan(const Scan& scan, Value sequences, Value state_slots,
                       Value cache);
  // The inputs of CHANNEL_SCAN, by the names of plugin_ops.h.
  struct ChannelScan {
    Value x, steps, b, c;
    Value decay, skip;
  };
  Value channel_scan(const ChannelScan& scan, Value sequences,
                     Value state_slots, Value cache);
  // The inputs of DELTA_RULE.
  struct DeltaRule {
    Value v, q, k, steps, rates;
    Value step_bias, decay;
    bool interleaved;
  };
  Value delta_rule(const DeltaRule& rule, Value sequences, Value state_slots,
                   Value cache);
  // The inputs of COLUMN_DELTA_RULE.
  struct ColumnDeltaRule {
    Value v, q, k, steps, rates;
    Value step_bias, decay;
  };
  Value column_delta_rule(const ColumnDeltaRule& rule, Value sequences,
                          Value state_slots, Value cache);
  // The inputs of FADING_STATE; a and b may be absent.
  struct FadingState {
    Value v, q, k, decays;
    Value a = kAbsent;
    Value b = kAbsent;
    Value bonus;
  };
  struct Faded {
    Value y;
    Value own;
  };
  Faded fading_state(const FadingState& state, Value sequences,
                     Value state_slots, Value cache);
  // The same bytes under another shape: only the dimensions after the first
  // may be regrouped.
  Value reshape(Value x, const Shape& shape);
  // Marks a value as an output of the program; gives its number.
  int output(Value x);

  Shape shape(Value x) const;
  ProgramDescription take() &&;

 private:
  const rc_plugin_value& at(Value x) const;
  Value append_value(DType dtype, const Shape& shape, int storage,
                     int32_t index);
  ProgramDescription description_;
  std::unordered_map<std::string, Value> weights_;  // by name
};

struct ProgramLimits {
  int64_t max_rows = 0;
  int64_t max_outputs = 0;
  int64_t max_sequences = 0;
};

// Plans the scratch offsets of a description in place: values whose lifetimes
// overlap never share bytes, an output shares with an input only where
// plugin.h allows. Offsets are multiples of 64. Returns the bytes of the whole
// area. Throws RC_E_INVALID_ARGUMENT for limits below zero, for sizes beyond
// 64 bits, and for an op that reads scratch that no op has written.
uint64_t plan_scratch(ProgramDescription& description,
                      const ProgramLimits& limits);

// For so long a device has worked.
struct DeviceTime {
  const Device* device;
  int64_t ns;
};

struct RunArguments {
  int64_t rows = 0;
  int64_t outputs = 0;
  int64_t sequences = 0;
  // All of the program; what the stage does not use may be NULL.
  std::vector<const void*> inputs;
  std::vector<void*> outputs_data;
  // See rc_plugin_run.should_stop; may be empty.
  int32_t (*should_stop)(void* user) = nullptr;
  void* user = nullptr;
  // Gets the time that the devices have worked added, if it is over well.
  int64_t* spent_ns = nullptr;
  // Gets the time of each device in turn, however it ends, as far as it has
  // room reserved. May be nullptr.
  std::vector<DeviceTime>* device_times = nullptr;
  // The payers of the turns of the devices; to stay until the run is over.
  std::span<const PaidPart> paid = {};
  // All of them, at least as large, where the program has given up its own.
  // They are to stay until the run is over.
  std::vector<rc_plugin_buffer*> caches = {};
  size_t stage = 0;
};

struct Split;
class Segment;

// The part of a program spread over several devices that lives on one of them.
struct DeviceContents {
  std::shared_ptr<Device> device;
  // By index in the whole program; nullptr for what nothing there uses.
  std::vector<std::shared_ptr<Weight>> weights;
  std::vector<std::shared_ptr<Buffer>> caches;
};

// A description compiled for a device, or for several.
class Program {
 public:
  // For one device. Throws RC_E_UNSUPPORTED, naming the device and every
  // unsupported op.
  static std::unique_ptr<Program> compile(
      std::shared_ptr<Device> device, ProgramDescription description,
      const ProgramLimits& limits, std::vector<std::shared_ptr<Weight>> weights,
      std::vector<std::shared_ptr<Buffer>> caches);
  // For several, as split() has cut it; `contents` by number of the device.
  static std::unique_ptr<Program> compile(
      Split split, const std::vector<DeviceContents>& contents);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Runs to the end. Throws RC_E_CANCELLED if should_stop said so,
  // RC_E_TIMEOUT if the devices did not end within timeout_ms (negative: no
  // limit). A run that does not heed the request to stop either leaves its
  // device abandoned (see Device::abandon); what the caller gave is free again
  // nevertheless: with a limit, runs work on copies. A program on several
  // devices belongs to one thread at a time; between two devices its values
  // pass through its own host memory.
  void run(const RunArguments& arguments, int64_t timeout_ms);

  // Of a program of tensor ops on one device that has run_with: from now on
  // each run brings the caches, and those that it was compiled with are given
  // up.
  void give_up_caches();

  // Of all devices together.
  uint64_t scratch_bytes() const;
  size_t segment_count() const { return segments_.size(); }

 private:
  Program();
  void check_arguments(const RunArguments& arguments) const;
  std::vector<std::unique_ptr<Segment>> segments_;
  std::unique_ptr<const Split> split_;
  std::vector<std::byte> transfers_;
};

}  // namespace rc::runtime
