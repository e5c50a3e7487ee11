// Checks of whole models on a device of any backend. Activations stay in
// floating point on the devices that are tested with these, so that logits
// equal those of other implementations to rounding.
#pragma once

#include <memory>
#include <string>

#include "model/model_util.h"

namespace rc::test {

std::unique_ptr<model::ResidentModel> load_fable(const std::string& backend,
                                                 const Room& room = {});

// The logits that transformers recorded.
void expect_fable_logits(model::ResidentModel& fable, double allowed = 1e-9);
// With every cache type the likeliest tokens are those that were recorded.
void expect_fable_text(const std::string& backend);
// The small model of every architecture, against transformers.
void expect_architectures(const std::string& backend);

// Bit for bit: every kernel sums in one order, whatever the rows.
void expect_neither_batch_nor_cuts_matter(model::ResidentModel& fable);
void expect_neither_batch_nor_cuts_matter(model::ResidentModel& resident,
                                          const std::vector<int32_t>& tokens);

// A run that is asked to stop, or whose time is over, ends with the status for
// that, and the next is as good as ever.
void expect_a_run_can_be_stopped(model::ResidentModel& fable,
                                 double allowed = 1e-9);
void expect_a_run_can_time_out(model::ResidentModel& fable,
                               double allowed = 1e-9);

}  // namespace rc::test
