// Ops of handles that choose a device for each: where they run, and where they
// would.
#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "compute/op_call.h"
#include "runtime/program.h"

namespace rc::compute {
namespace {

// Of a handle with one device: what is known of that.
OpChoice only_choice(const Op& op, std::span<const rc_plugin_value> values,
                     const OpWork& work, const runtime::Device& device) {
  OpChoice choice;
  choice.op = op_name(op.code);
  choice.values = values_text(op, values);
  choice.work = work;
  OpChoice::Candidate& only = choice.candidates.emplace_back();
  only.device = device.id();
  runtime::ReportedDevice reported;
  reported.plugin = runtime::PluginList::instance().entry_of(device.plugin());
  reported.index = device.index();
  reported.info = device.info();
  const runtime::Calibration* known =
      runtime::find_calibration(reported, device.options().threads);
  if (known == nullptr) {
    only.reason = kNotMeasured;
  } else {
    only.compute = known->seconds(work);
    if (!only.compute) only.reason = "it does not support the op";
  }
  return choice;
}

OpWork need_work(const Op& op, std::span<const rc_plugin_value> values) {
  const std::optional<OpWork> work = work_of(op, values);
  if (!work) {
    fail(RC_E_INTERNAL, "the work of ", op_name(op.code), " is not known");
  }
  return *work;
}

}  // namespace

int OpCall::operand_device(const Placement& placement, int i) const {
  const Context& context = *operands_[i].context;
  if (context.placement().get() == &placement) return context.number();
  return placement.number_of(*context.device());
}

Placement::Ranking OpCall::rank(Placement& placement) const {
  std::array<runtime::OperandPlace, kMaxInputs> places;
  for (int i = 0; i < count_; ++i) {
    places[i].device = operand_device(placement, i);
    places[i].bytes =
        static_cast<double>(value_bytes(values_[i], {}).value_or(0));
  }
  return placement.rank(need_work(op, values()),
                        std::span(places).first(static_cast<size_t>(count_)));
}

bool OpCall::supported_by(const runtime::Device& device) const {
  runtime::Message message;
  const rc_status status = device.op_supported(op, values_, message);
  if (status == RC_E_UNSUPPORTED) return false;
  check(device, "say whether it supports an op", status, message);
  return true;
}

OpCall OpCall::moved_to(const std::shared_ptr<Context>& context,
                        bool lends) const {
  OpCall moved = *this;
  for (int i = 0; i < count_; ++i) {
    if (operands_[i].context->device() == context->device()) continue;
    const uint64_t bytes = value_bytes(values_[i], {}).value();
    const auto& buffer = operands_[i].storage->buffer();
    std::shared_ptr<Storage> storage;
    if (lends && can_lend(*buffer, *context->device())) {
      storage = std::make_shared<Storage>(
          lend(buffer, values_[i].offset, bytes, *context->device()));
    } else {
      storage = std::make_shared<Storage>(*context, bytes, false);
      storage->buffer()->copy_from(*buffer, 0, values_[i].offset, bytes);
    }
    moved.operands_[i] = {context, std::move(storage)};
    moved.values_[i].offset = 0;
  }
  return moved;
}

Tensor OpCall::run_where_done_first(Placement& placement, DType dtype,
                                    const Shape& shape) {
  // An invalid op is rejected here, not once per device.
  check_op(op, values());
  const Placement::Ranking ranking = rank(placement);
  std::optional<Error> failure;
  for (size_t i = 0; i < ranking.count; ++i) {
    const int number = ranking.order[i].device;
    try {
      const std::shared_ptr<Context> context = placement.context(number);
      bool all_here = true;
      for (int k = 0; k < count_; ++k) {
        all_here =
            all_here && operands_[k].context->device() == context->device();
      }
      const bool last = i + 1 == ranking.count;
      // A device that falls back is the last resort.
      if (!last && !context->device()->runs_ops() &&
          !supported_by(*context->device())) {
        continue;
      }
      Tensor result = all_here ? run_here(context, dtype, shape)
                               : moved_to(context, /*lends=*/true)
                                     .run_here(context, dtype, shape);
      placement.note(op, values(), ranking, number);
      return result;
    } catch (const Error& error) {
      // Another may have the memory, or open.
      const bool memory = error.status() == RC_E_DEVICE_MEMORY;
      if (!memory && placement.opened(number)) throw;
      if (error.status() == RC_E_OUT_OF_MEMORY) throw;
      log(RC_LOG_DEBUG, op_name(op.code), " goes elsewhere: ", error.message());
      if (!failure) failure = error;
    }
  }
  if (failure) throw Error(*failure);
  fail(RC_E_UNSUPPORTED, "no device of the backend handle has ",
       op_name(op.code));
}

Tensor OpCall::outline(DType dtype, const Shape& shape) const {
  check_op(op, values());
  const std::shared_ptr<Context>& context = operands_[0].context;
  const std::shared_ptr<Placement>& placement = context->placement();
  if (placement == nullptr) {
    return make_outline(
        context, dtype, shape,
        std::make_shared<OpChoice>(only_choice(
            op, values(), need_work(op, values()), *context->device())));
  }
  const Placement::Ranking ranking = rank(*placement);
  if (ranking.count == 0) {
    fail(RC_E_UNSUPPORTED, "no device of the backend handle has ",
         op_name(op.code));
  }
  const int number = ranking.order[0].device;
  auto choice = std::make_shared<OpChoice>(
      placement->choice(op, values(), ranking, number));
  choice->work = need_work(op, values());
  return make_outline(placement->context(number), dtype, shape,
                      std::move(choice));
}

}  // namespace rc::compute
