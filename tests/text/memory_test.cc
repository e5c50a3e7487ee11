// Failed allocations in tokenizers.
#include <gtest/gtest.h>

#include <functional>
#include <new>

#include "model/allocation_util.h"
#include "text/stop_matcher.h"
#include "text/stream_decoder.h"
#include "text/text_util.h"

namespace rc::text {
namespace {

constexpr char kWhy[] = "sanitizers replace the allocator themselves";

TEST(Memory, FailedAllocationsLeakNothing) {
  if (!test::kAllocationsCanFail) GTEST_SKIP() << kWhy;
  for (const Vocabulary& vocabulary :
       {sentencepiece_vocabulary(), byte_level_vocabulary(),
        wordpiece_vocabulary(), unigram_vocabulary()}) {
    test::fail_each_allocation(
        [&] {
          const auto tokenizer = Tokenizer::create(vocabulary);
          const auto ids =
              tokenizer->tokenize("ab abba <user> and a long tail of text", {});
          tokenizer->detokenize(ids, true);
          StreamDecoder decoder(tokenizer);
          for (const TokenId id : ids) decoder.push(id);
          decoder.finish();
        },
        10);
  }
}

TEST(Memory, FailedStreamStepCanBeRepeated) {
  if (!test::kAllocationsCanFail) GTEST_SKIP() << kWhy;
  const auto tokenizer = golden_tokenizer("spm");
  const auto ids = tokenizer->tokenize(
      "A text that is long enough for strings on the heap. \xF0\x9F\x98\x80",
      {});
  std::string text;
  StreamDecoder decoder(tokenizer);
  StopMatcher matcher({"a stop that never comes", "strings on the floor"});
  const auto insist = [](const std::function<void()>& step) {
    for (int64_t n = 0;; ++n) {
      test::fail_allocation_after(n);
      try {
        step();
        test::allocation_failed();
        return;
      } catch (const std::bad_alloc&) {
        EXPECT_TRUE(test::allocation_failed());
      }
    }
  };
  for (const TokenId id : ids) {
    std::string piece;
    StopMatcher::Result result;
    insist([&] { piece = decoder.push(id); });
    insist([&] { result = matcher.push(piece); });
    text += result.text;
  }
  EXPECT_EQ(text + matcher.finish() + decoder.finish(),
            tokenizer->detokenize(ids));
}

}  // namespace
}  // namespace rc::text
