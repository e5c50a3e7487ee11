#include "device/whole_model_util.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "test_data.h"

namespace rc::test {
namespace {

using nlohmann::json;

json fable_records() {
  return json::parse(
      std::ifstream(source_path("tests/golden/fable/fable.json")));
}

rc_status status_of_run(model::ResidentModel& resident,
                        int32_t (*should_stop)(void*), void* user,
                        int64_t timeout_ms) {
  model::Batch batch;
  for (int32_t i = 0; i < 256; ++i) {
    batch.tokens.push_back(i);
    batch.positions.push_back(i);
    batch.sequences.push_back(0);
  }
  batch.page_table = pages_from(0, 16);
  batch.output_rows = {255};
  batch.sequence_count = 1;
  std::vector<float> logits(2048);
  try {
    resident.run(batch, logits.data(), should_stop, user, timeout_ms);
  } catch (const Error& error) {
    return error.status();
  }
  return RC_OK;
}

}  // namespace

std::unique_ptr<model::ResidentModel> load_fable(const std::string& backend,
                                                 const Room& room) {
  return load(model::ModelFile::open(source_path("examples/model/fable.gguf")),
              backend, room);
}

void expect_fable_logits(model::ResidentModel& fable, double allowed) {
  const json records = fable_records();
  for (const json& prompt : records.at("prompts")) {
    const auto name = prompt.at("name").get<std::string>();
    SCOPED_TRACE(name);
    auto tokens = prompt.at("tokens").get<std::vector<int32_t>>();
    tokens.resize(records.at("rows"));
    EXPECT_LT(
        normalized_error(evaluate(fable, tokens),
                         read_floats(source_path(
                             cat("tests/golden/fable/", name, ".logits.f32")))),
        allowed);
  }
}

void expect_fable_text(const std::string& backend) {
  const json records = fable_records();
  for (DType cache : {RC_DTYPE_F32, RC_DTYPE_F16}) {
    Room room;
    room.cache = cache;
    const auto fable = load_fable(backend, room);
    const auto vocabulary =
        static_cast<size_t>(fable->file().hyper_parameters().vocabulary);
    for (const json& prompt : records.at("prompts")) {
      const std::vector<int32_t> tokens = prompt.at("tokens");
      const size_t begin = prompt.at("prompt_tokens").size();
      const std::vector<int32_t> expected(
          tokens.begin() + static_cast<ptrdiff_t>(begin), tokens.end());
      const std::vector<float> logits = evaluate(*fable, tokens);
      std::vector<int32_t> actual;
      for (size_t i = begin; i < tokens.size(); ++i) {
        const auto row =
            logits.begin() + static_cast<ptrdiff_t>((i - 1) * vocabulary);
        actual.push_back(static_cast<int32_t>(
            std::max_element(row, row + static_cast<ptrdiff_t>(vocabulary)) -
            row));
      }
      EXPECT_EQ(actual, expected);
    }
  }
}

void expect_architectures(const std::string& backend) {
  const auto folder = source_path("tests/golden/architectures");
  // Once: some compile each kernel for a second.
  const auto device = open_device(backend);
  for (const std::string& name : golden_architectures()) {
    SCOPED_TRACE(name);
    const auto file = model::ModelFile::open(folder / cat(name, ".gguf"));
    const auto expected = read_floats(folder / cat(name, ".logits.f32"));
    EXPECT_LT(
        relative_error(evaluate_case(*load(file, device), name), expected),
        1e-4);
    if (!file->causal() ||
        model::widest_window(file->hyper_parameters()) == 0) {
      continue;
    }
    const std::vector<int32_t> tokens =
        json::parse(std::ifstream(folder / cat(name, ".json"))).at("tokens");
    // In the same five pages of four positions again and again.
    Room room;
    room.page_size = 4;
    room.window_pages = 3 * 5;
    EXPECT_LT(relative_error(evaluate(*load(file, device, room), tokens, 4),
                             expected),
              1e-4);
  }
}

void expect_neither_batch_nor_cuts_matter(model::ResidentModel& fable) {
  const json records = fable_records();
  std::vector<int32_t> tokens = records.at("prompts").at(0).at("tokens");
  tokens.resize(std::min<size_t>(tokens.size(), 40));
  expect_neither_batch_nor_cuts_matter(fable, tokens);
}

void expect_neither_batch_nor_cuts_matter(model::ResidentModel& resident,
                                          const std::vector<int32_t>& tokens) {
  const std::vector<float> whole = evaluate(resident, tokens);
  for (size_t chunk : {1, 2, 7}) {
    EXPECT_EQ(evaluate(resident, tokens, chunk), whole) << chunk;
  }
  std::vector<int32_t> others = tokens;
  std::reverse(others.begin(), others.end());
  const auto together = evaluate(
      resident,
      {{others, pages_from(16, 16), 0}, {tokens, pages_from(32, 16), 0}}, 13);
  EXPECT_EQ(together[1], whole);
}

void expect_a_run_can_be_stopped(model::ResidentModel& fable, double allowed) {
  for (int after : {0, 1, 2}) {
    std::atomic<int> left = after;
    const rc_status status = status_of_run(
        fable,
        [](void* user) -> int32_t {
          return (*static_cast<std::atomic<int>*>(user))-- <= 0;
        },
        &left, -1);
    // Later it may be over before it is asked.
    EXPECT_TRUE(status == RC_E_CANCELLED || (after > 0 && status == RC_OK));
  }
  expect_fable_logits(fable, allowed);
}

void expect_a_run_can_time_out(model::ResidentModel& fable, double allowed) {
  EXPECT_EQ(status_of_run(fable, nullptr, nullptr, 0), RC_E_TIMEOUT);
  EXPECT_EQ(status_of_run(fable, nullptr, nullptr, 600 * 1000), RC_OK);
  expect_fable_logits(fable, allowed);
}

}  // namespace rc::test
