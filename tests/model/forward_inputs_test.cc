// The table of inputs of a forward pass, and the programs, checks and values
// that follow from it.
#include "model/forward_inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "expect_error.h"
#include "model/model_util.h"
#include "model/program_inputs.h"
#include "test_data.h"

namespace rc::test {
namespace {

using enum model::ForwardInput;
using model::ForwardInput;
using model::ForwardOutput;
using Inputs = std::set<ForwardInput>;

// Gives scores of pairs of texts, whose tokens have types.
std::shared_ptr<const model::ModelFile> pairs() {
  return model::ModelFile::open(
      source_path("tests/golden/embeddings/bert-cross").string(),
      ForwardOutput::kScores);
}

Inputs inputs_of(const model::ProgramInputs& inputs,
                 model::ForwardStage stage) {
  Inputs found;
  for (const model::ProgramInput& input : inputs.list()) {
    if (input.used_in(stage)) found.insert(input.description->input);
  }
  return found;
}

std::string text_of(const Inputs& inputs) {
  std::string text;
  for (const ForwardInput input : inputs) {
    text += cat("[", model::description_of(input).name, "]");
  }
  return text;
}

// The inputs that the ops of a stage read.
Inputs read_in(const runtime::ProgramDescription& program,
               const model::ProgramInputs& inputs, size_t stage) {
  std::map<size_t, ForwardInput> by_number;
  for (const model::ProgramInput& input : inputs.list()) {
    for (size_t i = 0; i < input.copies; ++i) {
      by_number[input.first + i] = input.description->input;
    }
  }
  const size_t begin = stage == 0 ? 0 : program.stages.at(stage - 1);
  const size_t end = stage < program.stages.size() ? program.stages[stage]
                                                   : program.ops.size();
  Inputs found;
  for (size_t i = begin; i < end; ++i) {
    for (const int32_t number : program.ops[i].inputs) {
      if (number < 0) continue;
      const rc_plugin_value& value =
          program.values.at(static_cast<size_t>(number));
      if (value.storage != RC_STORAGE_INPUT) continue;
      found.insert(by_number.at(static_cast<size_t>(value.index)));
    }
  }
  return found;
}

bool has_window(const model::HyperParameters& hyper) {
  return std::ranges::any_of(hyper.layers, [](const model::Layer& layer) {
    return layer.has_cache() && layer.window > 0;
  });
}

// Inputs that every program has, whether or not its ops need them.
const Inputs kAlways = {kTokens, kPositions, kSequences, kPageTable,
                        kOutputRows};

TEST(ForwardInputs, HaveUniqueNamesAndFields) {
  std::set<std::string> names;
  std::set<std::string> entries;
  size_t stated = 0;
  for (const model::InputDescription& input : model::kForwardInputs) {
    EXPECT_TRUE(names.insert(input.name).second) << input.name;
    EXPECT_FALSE(std::string(input.name).empty());
    if (input.stated.field == nullptr) continue;
    ++stated;
    EXPECT_TRUE(entries.insert(input.stated.entry).second) << input.name;
  }
  EXPECT_EQ(stated * sizeof(std::vector<int32_t>), sizeof(model::BatchValues));
}

// The cases follow from the models' descriptions, not from the table.
TEST(ForwardInputs, ArePresentWhereAModelNeedsThem) {
  const struct {
    const char* model;
    int64_t window_pages;
    Inputs more;  // than kAlways
    bool takes_embeddings = false;
  } kCases[] = {
      {"llama2", 0, {}},
      {"gemma2", 0, {}},
      {"gemma2", 15, {kWindowTable}},
      {"mamba2", 0, {kStateSlots}},
      {"rwkv7", 0, {kStateSlots}},
      {"falcon-h1", 0, {kStateSlots}},
      {"bert", 0, {kLengths}},
      {"pairs", 0, {kLengths, kTypedPositions}},
      {"t5encoder", 0, {kLengths}},
      {"t5", 0, {kSourceLengths, kSourceTable}},
      {"deepseek2", 0, {kHeadNumbers}},
      {"kimi-linear", 0, {kHeadNumbers, kStateSlots}},
      {"dots3note", 0, {kHeadNumbers, kWindowHeadNumbers}},
      {"phi3-long", 0, {kLonger}},
      {"phi3", 0, {}},
      {"mistral3", 0, {kPositionSteps}},
      {"gemma3n", 0, {kLayerRows}},
      {"gemma4", 0, {kLayerRows}},
      {"llama2", 0, {kEmbeddingRows, kRowChoice}, true},
  };
  Inputs all = kAlways;
  for (const auto& one : kCases) {
    SCOPED_TRACE(cat(one.model, " ", one.window_pages));
    Room room;
    room.window_pages = one.window_pages;
    const model::CacheLayout layout = options_of(room).cache;
    const auto file =
        std::string(one.model) == "pairs" ? pairs() : golden_model(one.model);
    const model::ProgramInputs inputs({*file, layout, one.takes_embeddings});
    Inputs expected = kAlways;
    expected.insert(one.more.begin(), one.more.end());
    EXPECT_EQ(text_of(inputs_of(inputs, model::kGenerate)), text_of(expected));
    EXPECT_EQ(text_of(inputs_of(inputs, model::kReadSource)),
              file->source() == nullptr
                  ? ""
                  : text_of({kTokens, kPositions, kSequences, kLengths,
                             kSourceTable}));
    all.insert(expected.begin(), expected.end());
  }
  EXPECT_EQ(all.size(), model::kForwardInputCount);
}

// Every program of every architecture reads the inputs that the rules say, and
// no others, in each stage.
TEST(ForwardInputs, MatchTheInputsOfEachProgram) {
  Inputs seen;
  std::vector<std::string> names = golden_architectures();
  names.emplace_back("pairs");
  for (const std::string& name : names) {
    for (const bool hidden : {false, true}) {
      std::shared_ptr<const model::ModelFile> file;
      try {
        file = name == "pairs" ? pairs()
               : hidden        ? golden_model(name, ForwardOutput::kHiddenRows)
                               : golden_model(name);
      } catch (const Error& error) {
        ASSERT_EQ(error.status(), RC_E_UNSUPPORTED) << error.message();
        continue;
      }
      for (const int64_t windows : {0, 15}) {
        if (windows > 0 && !file->causal()) continue;
        const bool takes = windows == 0 && file->source() == nullptr;
        SCOPED_TRACE(cat(name, " ", hidden, " ", windows));
        Room room;
        room.window_pages = windows;
        const model::CacheLayout layout = options_of(room).cache;
        const model::ProgramInputs inputs({*file, layout, takes});
        const runtime::ProgramDescription program =
            file->forward(layout, takes);
        ASSERT_EQ(program.input_count, inputs.count());
        inputs.check(file->file(), program.inputs());
        for (const auto stage : {model::kGenerate, model::kReadSource}) {
          if (stage == model::kReadSource && file->source() == nullptr) {
            EXPECT_TRUE(program.stages.empty());
            EXPECT_TRUE(inputs_of(inputs, stage).empty());
            continue;
          }
          Inputs read = read_in(program, inputs, stage);
          seen.insert(read.begin(), read.end());
          if (stage == model::kGenerate) {
            read.insert(kAlways.begin(), kAlways.end());
            if (windows > 0 && !has_window(file->hyper_parameters())) {
              read.insert(kWindowTable);
            }
          }
          EXPECT_EQ(text_of(read), text_of(inputs_of(inputs, stage)));
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), model::kForwardInputCount);
}

// Values for a program that was made from another layout, or for another file,
// are refused when they meet it.
TEST(ForwardInputs, OfAnotherProgramAreRefused) {
  const Room room;
  Room windowed;
  windowed.window_pages = 15;
  Room narrow;
  narrow.pages_per_sequence = 8;
  const auto gemma = golden_model("gemma2");
  const auto refusal = [&](const model::ModelFile& file, const Room& other) {
    model::Placement placement =
        model::place(*gemma, options_of(room), open_device("reference"));
    const model::CacheLayout layout = options_of(other).cache;
    placement.inputs = model::ProgramInputs({file, layout});
    const Error error = error_of([&] {
      model::ResidentModel::load(gemma, std::move(placement), options_of(room),
                                 {});
    });
    EXPECT_EQ(error.status(), RC_E_INTERNAL) << error.message();
    return std::string(error.message());
  };
  EXPECT_NE(refusal(*gemma, windowed)
                .find("input 5, window page table, is not among its 5"),
            std::string::npos);
  EXPECT_NE(refusal(*gemma, narrow)
                .find("input 3, page table, has the shape [sequences, 8], but "
                      "that of the program [sequences, 16]"),
            std::string::npos);
  model::Placement placement =
      model::place(*gemma, options_of(windowed), open_device("reference"));
  const model::CacheLayout layout = options_of(room).cache;
  placement.inputs = model::ProgramInputs({*gemma, layout});
  const Error error = error_of([&] {
    model::ResidentModel::load(gemma, std::move(placement),
                               options_of(windowed), {});
  });
  EXPECT_NE(error.message().find("it has 6 inputs, but there are values for 5"),
            std::string::npos)
      << error.message();
}

// A batch has as many values of each input that the step states as the shape
// says, and none of those that the table limits is at its limit.
TEST(ForwardInputs, AreCheckedInEachBatch) {
  Inputs refused;
  for (const std::string name :
       {"gemma2", "mamba2", "phi3-long", "pairs", "t5"}) {
    SCOPED_TRACE(name);
    Room room;
    room.takes_embeddings = name == "gemma2";
    room.window_pages = name == "gemma2" ? 15 : 0;
    const auto model =
        load(name == "pairs" ? pairs() : golden_model(name), "reference", room);
    const std::vector<int32_t> tokens = {1, 5, 7};
    const std::vector<int32_t> pages = pages_from(0, 16);
    model::SequenceRows rows;
    rows.tokens = tokens;
    rows.outputs_end = 3;
    rows.pages = rows.window_pages = pages;
    rows.window_pages = rows.window_pages.first(5);
    const std::vector<int32_t> of_source = pages_from(20, 1);
    rows.source_pages = of_source;
    rows.source_length = 3;
    rows.slot_after = 2;
    model::Batch good;
    model->inputs().add(good, model::kGenerate, rows);
    std::vector<float> output(3 *
                              static_cast<size_t>(model->file().output_size()));
    const auto run = [&](const model::Batch& batch) {
      model->run(batch, output.data(), nullptr, nullptr, -1);
    };
    run(good);
    for (const model::ProgramInput& input : model->inputs().list()) {
      const model::StatedValues& stated = input.description->stated;
      if (stated.field == nullptr || !input.used_in(model::kGenerate)) continue;
      SCOPED_TRACE(input.description->name);
      refused.insert(input.description->input);
      const bool limited = stated.check != model::InputCheck::kNumbers;
      const int64_t limit =
          !limited
              ? 0
              : stated.limit({model->file(), model->options().cache, good});
      model::Batch bad = good;
      if (input.description->input != kTokens &&
          input.description->input != kOutputRows) {
        (bad.*stated.field).push_back(0);
        const Error error = error_of([&] { run(bad); });
        EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
        EXPECT_NE(error.message().find(cat(stated.entries, " instead of ")),
                  std::string::npos)
            << error.message();
      }
      if (!limited) continue;
      const int64_t beyond =
          stated.check == model::InputCheck::kSourceLengths ? limit + 1 : limit;
      for (const int64_t value : {beyond, int64_t{-2}}) {
        bad = good;
        (bad.*stated.field).front() = static_cast<int32_t>(value);
        const Error error = error_of([&] { run(bad); });
        EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
        EXPECT_NE(error.message().find(cat(" ", value, " ")), std::string::npos)
            << error.message();
      }
    }
    run(good);
  }
  const Inputs expected = {kTokens,      kPositions,      kSequences,
                           kPageTable,   kOutputRows,     kStateSlots,
                           kWindowTable, kSourceLengths,  kSourceTable,
                           kLonger,      kTypedPositions, kEmbeddingRows,
                           kRowChoice};
  EXPECT_EQ(text_of(refused), text_of(expected));
}

// The values of two sequences, one after the other.
TEST(ForwardInputs, FollowFromTheRowsOfEachSequence) {
  Room room;
  room.pages_per_sequence = 3;
  room.window_pages = 15;
  const model::CacheLayout layout = options_of(room).cache;
  const std::vector<int32_t> tokens = {7, 8, 9};
  const std::vector<int32_t> pages = {5, -1};
  const std::vector<int32_t> window_pages = {-1, 4};
  model::SequenceRows rows;
  rows.tokens = tokens;
  rows.first_position = 6;
  rows.outputs_begin = 1;
  rows.outputs_end = 3;
  rows.second_text = 2;
  rows.pages = pages;
  rows.window_pages = window_pages;
  rows.slot_before = 2;
  rows.slot_after = 1;
  model::SequenceRows next;
  next.tokens = rows.tokens.first(1);
  const auto batch_of = [&](const model::ModelFile& file,
                            model::ForwardStage stage) {
    model::Batch batch;
    const model::ProgramInputs inputs({file, layout});
    inputs.add(batch, stage, rows);
    inputs.add(batch, stage, next);
    return batch;
  };
  using Values = std::vector<int32_t>;
  const model::Batch batch =
      batch_of(*golden_model("gemma2"), model::kGenerate);
  EXPECT_EQ(batch.sequence_count, 2);
  EXPECT_EQ(batch.tokens, (Values{7, 8, 9, 7}));
  EXPECT_EQ(batch.positions, (Values{6, 7, 8, 0}));
  EXPECT_EQ(batch.sequences, (Values{0, 0, 0, 1}));
  EXPECT_EQ(batch.output_rows, (Values{1, 2}));
  // The check must still find a page below 0; in a window no row sees it.
  EXPECT_EQ(batch.page_table, (Values{5, -1, 0, 0, 0, 0}));
  EXPECT_EQ(batch.window_table, (Values{0, 4, 0, 0, 0, 0}));
  EXPECT_EQ(batch.state_slots, Values());
  EXPECT_EQ(batch.longer, Values());
  EXPECT_EQ(batch.types, Values());
  EXPECT_EQ(batch.source_table, Values());
  EXPECT_EQ(batch.source_lengths, Values());
  EXPECT_EQ(batch_of(*golden_model("mamba2"), model::kGenerate).state_slots,
            (Values{2, 1, -1, -1}));
  EXPECT_EQ(batch_of(*pairs(), model::kGenerate).types, (Values{0, 0, 1, 0}));
  rows.source_length = 40;
  rows.source_pages = rows.pages.first(1);
  const auto t5 = golden_model("t5");
  EXPECT_EQ(batch_of(*t5, model::kGenerate).source_lengths, (Values{40, 0}));
  EXPECT_EQ(batch_of(*t5, model::kGenerate).source_table,
            (Values{5, 0, 0, 0, 0, 0}));
  const model::Batch reading = batch_of(*t5, model::kReadSource);
  EXPECT_EQ(reading.source_table, (Values{5, 0, 0, 0, 0, 0}));
  EXPECT_EQ(reading.tokens, (Values{7, 8, 9, 7}));
  EXPECT_EQ(reading.page_table, Values());
  EXPECT_EQ(reading.source_lengths, Values());
}

// Rows that are added one sequence after the other need no memory once there is
// room for them.
TEST(ForwardInputs, AreAddedWithoutNewMemory) {
  for (const char* name : {"gemma2", "mamba2", "t5"}) {
    SCOPED_TRACE(name);
    Room room;
    room.window_pages = std::string(name) == "gemma2" ? 15 : 0;
    const auto file = golden_model(name);
    const model::CacheLayout layout = options_of(room).cache;
    const model::ProgramInputs inputs({*file, layout});
    const std::vector<int32_t> tokens = {1, 5, 7, 9};
    const std::vector<int32_t> pages = pages_from(0, 3);
    model::SequenceRows rows;
    rows.tokens = tokens;
    rows.outputs_end = 4;
    rows.pages = rows.window_pages = rows.source_pages = pages;
    model::Batch batch;
    for (int i = 0; i < 5; ++i) {
      inputs.reserve(batch, model::kGenerate, rows.tokens.size());
      std::vector<const int32_t*> before;
      std::vector<const int32_t*> after;
      const auto note = [&](std::vector<const int32_t*>& places) {
        for (const model::InputDescription& input : model::kForwardInputs) {
          if (input.stated.field == nullptr) continue;
          places.push_back((batch.*input.stated.field).data());
        }
      };
      note(before);
      inputs.add(batch, model::kGenerate, rows);
      note(after);
      EXPECT_EQ(before, after) << i;
    }
    EXPECT_EQ(batch.sequence_count, 5);
    EXPECT_EQ(batch.tokens.size(), 20u);
    EXPECT_EQ(batch.page_table.size(), 80u);
    EXPECT_EQ(batch.output_rows.back(), 19);
  }
}

}  // namespace
}  // namespace rc::test
