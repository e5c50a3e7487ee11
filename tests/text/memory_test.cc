// What happens when there is no memory. The program's operator new is replaced
// for that, which sanitizers do themselves.
#include <gtest/gtest.h>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>

#include "text/stop_matcher.h"
#include "text/stream_decoder.h"
#include "text/text_util.h"

namespace {

std::atomic<int64_t> live_allocations = 0;
// Allocations until one fails; negative for never.
std::atomic<int64_t> until_failure = -1;

}  // namespace

void* operator new(size_t size) {
  if (until_failure >= 0 && until_failure-- == 0) throw std::bad_alloc();
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  ++live_allocations;
  return memory;
}

void operator delete(void* memory) noexcept {
  if (memory != nullptr) --live_allocations;
  std::free(memory);
}

void operator delete(void* memory, size_t) noexcept { operator delete(memory); }

namespace rc::text {
namespace {

// Fails every allocation of `call` in turn; each time it must throw and give
// everything back.
void fail_each_allocation(const std::function<void()>& call) {
  call();  // what is made once for the whole process
  for (int64_t n = 0;; ++n) {
    const int64_t before = live_allocations;
    until_failure = n;
    bool failed = false;
    try {
      call();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    until_failure = -1;
    ASSERT_EQ(live_allocations, before) << "allocation " << n;
    if (!failed) {
      EXPECT_GT(n, 10);
      return;
    }
  }
}

TEST(Memory, FailedAllocationsLeakNothing) {
  for (const Vocabulary& vocabulary :
       {sentencepiece_vocabulary(), byte_level_vocabulary(),
        wordpiece_vocabulary(), unigram_vocabulary()}) {
    fail_each_allocation([&] {
      const auto tokenizer = Tokenizer::create(vocabulary);
      const auto ids =
          tokenizer->tokenize("ab abba <user> and a long tail of text", {});
      tokenizer->detokenize(ids, true);
      StreamDecoder decoder(tokenizer);
      for (const TokenId id : ids) decoder.push(id);
      decoder.finish();
    });
  }
}

TEST(Memory, AFailedStepOfAStreamCanBeTakenAgain) {
  const auto tokenizer = golden_tokenizer("spm");
  const auto ids = tokenizer->tokenize(
      "A text that is long enough for strings on the heap. \xF0\x9F\x98\x80",
      {});
  std::string text;
  StreamDecoder decoder(tokenizer);
  StopMatcher matcher({"a stop that never comes", "strings on the floor"});
  const auto insist = [](const std::function<void()>& step) {
    for (int64_t n = 0;; ++n) {
      until_failure = n;
      try {
        step();
        until_failure = -1;
        return;
      } catch (const std::bad_alloc&) {
        until_failure = -1;
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

#endif
