// Batches that are refused, by the message, and the nearest ones that run.
#include "model/batch_check.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/cat.h"
#include "expect_error.h"
#include "model/model_util.h"

namespace rc::test {
namespace {

class Batches : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Backends, Batches,
                         ::testing::Values("reference", "cpu"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

TEST_P(Batches, InvalidBatchesAreRefusedAndTheModelStaysUsable) {
  const auto model = load(golden_model("llama2"), GetParam());
  const std::vector<float> expected = evaluate(*model, {1, 5});
  model::Batch good;
  good.tokens = {1, 5};
  good.positions = {0, 1};
  good.sequences = {0, 0};
  good.page_table = pages_from(0, 16);
  good.output_rows = {0, 1};
  good.sequence_count = 1;
  std::vector<float> logits(expected.size());

  const std::pair<const char*, void (*)(model::Batch&)> changes[] = {
      {"token 272 of row 1 is not within 0 to 271",
       [](model::Batch& b) { b.tokens[1] = 272; }},
      {"token 272 of row 0", [](model::Batch& b) { b.tokens[0] = 272; }},
      {"token -1", [](model::Batch& b) { b.tokens[1] = -1; }},
      {"position 256", [](model::Batch& b) { b.positions[1] = 256; }},
      {"position -1", [](model::Batch& b) { b.positions[0] = -1; }},
      {"sequence 1 of row 1", [](model::Batch& b) { b.sequences[1] = 1; }},
      {"sequence 1 of row 0", [](model::Batch& b) { b.sequences[0] = 1; }},
      {"sequence -1", [](model::Batch& b) { b.sequences[0] = -1; }},
      {"page 64", [](model::Batch& b) { b.page_table[0] = 64; }},
      {"page -1", [](model::Batch& b) { b.page_table[0] = -1; }},
      // The second page counts where it is used.
      {"page 64",
       [](model::Batch& b) {
         b.page_table[1] = 64;
         b.positions[1] = 16;
       }},
      {"output row 2 of row 1 is not within 0 to 1",
       [](model::Batch& b) { b.output_rows[1] = 2; }},
      {"output row 2 of row 0", [](model::Batch& b) { b.output_rows[0] = 2; }},
      {"output row -1", [](model::Batch& b) { b.output_rows[0] = -1; }},
      {"1 positions instead of 2",
       [](model::Batch& b) { b.positions.pop_back(); }},
      {"3 positions", [](model::Batch& b) { b.positions.push_back(2); }},
      {"1 sequences instead of 2",
       [](model::Batch& b) { b.sequences.pop_back(); }},
      {"15 page table", [](model::Batch& b) { b.page_table.pop_back(); }},
      {"17 page table", [](model::Batch& b) { b.page_table.push_back(0); }},
      {"0 rows", [](model::Batch& b) { b = {}; }},
      {"257 rows", [](model::Batch& b) { b.tokens.resize(257); }},
      {"2 rows, 2 outputs, 0 sequences",
       [](model::Batch& b) { b.sequence_count = 0; }},
  };
  for (const auto& [part, change] : changes) {
    model::Batch bad = good;
    change(bad);
    const Error error =
        error_of([&] { model->run(bad, logits.data(), nullptr, nullptr, -1); });
    EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT) << part;
    EXPECT_NE(error.message().find(part), std::string::npos)
        << error.message() << " has no " << part;
  }
  // A page that no row uses need not be there.
  good.page_table[1] = 64;
  model->run(good, logits.data(), nullptr, nullptr, -1);
  EXPECT_EQ(logits, expected);
}

TEST_P(Batches, StateSlotsMustExist) {
  const auto model = load(golden_model("mamba"), GetParam());
  const auto slots = static_cast<int32_t>(model->options().cache.slots);
  const std::string most = std::to_string(slots - 1);
  model::Batch good;
  good.tokens = {1, 5};
  good.positions = {0, 0};
  good.sequences = {0, 1};
  good.page_table.assign(
      2 * static_cast<size_t>(model->options().cache.pages_per_sequence), 0);
  good.state_slots = {-1, 0, -1, 3};
  good.sequence_count = 2;
  const std::pair<std::string, std::vector<int32_t>> cases[] = {
      {"3 state slots instead of 4", {-1, 0, -1}},
      {"5 state slots instead of 4", {-1, 0, -1, 3, 0}},
      {cat("state slot ", slots, " of row 0 is not within 0 to ", most),
       {-1, slots, -1, 3}},
      {cat("state slot ", slots, " of row 1 is not within 0 to ", most),
       {-1, 0, -1, slots}},
      {"state slot -1 of row 1", {-1, 0, -1, -1}},
      {cat("state slot ", slots, " of row 0"), {slots, 0, -1, 3}},
      {"state slot -2 of row 1", {-1, 0, -2, 3}},
      {"two sequences write slot 3", {-1, 3, -1, 3}},
      {"sequence 1 reads slot 0, which another writes", {-1, 0, 0, 3}},
      {"sequence 0 reads slot 3, which another writes", {3, 0, -1, 3}}};
  for (const auto& [part, numbers] : cases) {
    model::Batch bad = good;
    bad.state_slots = numbers;
    const Error error =
        error_of([&] { model->run(bad, nullptr, nullptr, nullptr, -1); });
    EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT) << part;
    EXPECT_NE(error.message().find(part), std::string::npos)
        << error.message() << " has no " << part;
  }
  model->run(good, nullptr, nullptr, nullptr, -1);
  good.positions = {1, 1};
  good.state_slots = {0, 0, 3, 3};  // each its own
  model->run(good, nullptr, nullptr, nullptr, -1);
  good.state_slots = {0, 1, 0, 2};  // from one to two others
  model->run(good, nullptr, nullptr, nullptr, -1);
}

}  // namespace
}  // namespace rc::test
