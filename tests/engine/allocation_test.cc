// Every allocation during the life of an engine may fail: the call or the
// request ends with a status, nothing leaks, no thread hangs, and the rest
// works.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "engine_util.h"
#include "files/gguf/writer.h"
#include "model/allocation_util.h"
#include "text/grammar/grammar.h"

namespace rc::engine::test {
namespace {

using rc::test::allocation_failed;
using rc::test::fail_allocation_after;
using rc::test::live_allocations;

// The only accepted error is that of no memory.
void expect_ok_or_out_of_memory(const TestListener& listener,
                                const rc_generate_report& report) {
  EXPECT_EQ(listener.ends, 1);
  EXPECT_TRUE(report.status == RC_OK || report.status == RC_E_OUT_OF_MEMORY)
      << report.status << " " << listener.message;
}

void request(Session& session, RequestOptions options, int32_t logprobs = 2) {
  options.stop = {"nowhere to be found"};
  options.logprobs = logprobs;
  options.sampling.penalty_tokens = -1;
  options.sampling.repetition_penalty = 1.1f;
  const auto listener = std::make_shared<TestListener>();
  session.generate(std::move(options), listener);
  expect_ok_or_out_of_memory(*listener, listener->wait());
}

void live(const std::shared_ptr<const model::ModelFile>& file,
          const std::shared_ptr<runtime::Device>& device) {
  EngineOptions options;
  options.context_length = 96;
  options.cache_tokens = 128;
  options.max_rows = 16;
  const auto engine = Engine::load(file, device, options, {});
  SessionOptions shifting;
  shifting.shift_when_full = true;
  const auto session = engine->create_session(shifting, nullptr);
  session->append_text("abc", RC_TOKENIZE_ADD_SPECIAL);
  request(*session, greedy(some_tokens(40), 3));
  session->decode(true);
  const auto fork = session->fork();
  request(*fork, greedy(some_tokens(40), 20));  // shifts, and takes pages
  RequestOptions constrained = greedy(some_tokens(5), 20);
  constrained.grammar = text::grammar::Grammar::regex(
      "[ab]cde[fg]{3}", {}, file->tokenizer()->grammar_vocabulary());
  constrained.ignore_eos = false;
  request(*engine->create_session({}, nullptr), constrained, -1);
  const auto bytes = session->save();
  const auto saved = gguf::File::from_memory(nullptr, bytes, "saved");
  const auto restored = engine->restore_session(*saved, shifting, nullptr);
  // A request may have ended before it added its prompt.
  restored->truncate(std::min<int64_t>(20, restored->position()));
  restored->decode(false);
  EXPECT_LE(restored->tokens().size(), 20u);
}

std::shared_ptr<const model::ModelFile> in_memory(
    const model::ModelFile& model) {
  gguf::Writer writer;
  for (const gguf::Entry& entry : model.file().entries()) writer.add(entry);
  for (const gguf::Tensor& tensor : model.file().tensors()) {
    writer.add_tensor(tensor.name, tensor.dtype, tensor.shape,
                      [&](const auto& put) { put(model.file().read(tensor)); });
  }
  const auto bytes =
      std::make_shared<const std::vector<std::byte>>(writer.write_memory());
  return model::ModelFile::from_gguf(
      gguf::File::from_memory(bytes, *bytes, "small model"));
}

TEST(Allocation, EveryFailureIsReportedAndLeaksNothing) {
  if (!rc::test::kAllocationsCanFail) {
    GTEST_SKIP() << "sanitizers replace the allocator themselves";
  }
  // A model without a file leaves nothing behind for later loads.
  const auto file = in_memory(*small_model("smollm"));
  const auto device = open_device();
  // Some memory is taken once and kept.
  live(file, device);
  live(file, device);
  const int64_t before = live_allocations();
  bool failed = true;
  int out_of_memory = 0;
  int64_t n = 0;
  for (; failed; n += 1 + n / 100) {
    fail_allocation_after(n);
    try {
      live(file, device);
    } catch (const std::bad_alloc&) {
      ++out_of_memory;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_OUT_OF_MEMORY) << error.message();
      ++out_of_memory;
    }
    failed = allocation_failed();
    ASSERT_EQ(live_allocations(), before) << "after allocation " << n;
  }
  EXPECT_GT(out_of_memory, 100);
  EXPECT_GT(n, 1000);
}

}  // namespace
}  // namespace rc::engine::test
