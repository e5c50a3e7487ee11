#include "reference/program.h"

#include <utility>

#include "common/op_table.h"

namespace rc::reference {
namespace {

void execute(const Call& call) {
  static const plugin::OpTable<OpRow> kTable(
      {linear_ops(), norm_ops(), rope_ops(), attention_ops(), recurrence_ops(),
       elementwise_ops(), route_ops(), reshaping_ops(), ordering_ops(),
       reduction_ops(), product_ops()});
  const OpRow* row = kTable.find(call.op.code);
  if (row == nullptr) {
    fail(RC_E_INTERNAL, "op ", call.op.code, " passed the checks");
  }
  row->execute(call);
}

}  // namespace

Program::Program(plugin::GivenProgram program)
    : memory_(program), ops_(std::move(program.ops)) {}

void Program::run(const rc_plugin_run& run) const {
  memory_.check_size(run);
  const auto tensor = [&](int32_t number) {
    return Tensor{memory_.value(number, run, memory_.caches())};
  };
  for (const Op& op : ops_) {
    Call call = {op, {}, {}, run.sequences, run};
    call.check_stop();
    for (int i = 0; i < kMaxInputs; ++i) call.inputs[i] = tensor(op.inputs[i]);
    for (int i = 0; i < kMaxOutputs; ++i) {
      call.outputs[i] = tensor(op.outputs[i]);
    }
    execute(call);
  }
}

}  // namespace rc::reference
