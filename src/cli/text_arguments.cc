#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>

#include "commands.h"
#include "system.h"
#include "terminal.h"

namespace cli {

std::vector<int32_t> parse_tokens(const std::string& text) {
  std::vector<int32_t> tokens;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    int32_t token = 0;
    const auto [stop, error] = std::from_chars(at, end, token);
    if (error != std::errc() || (stop != end && *stop != ',') ||
        (stop != end && stop + 1 == end)) {
      throw Failure{kUsage,
                    "tokens are numbers separated by commas, as in "
                    "1,2,3; this is not: " +
                        std::string(at, end)};
    }
    tokens.push_back(token);
    at = stop == end ? end : stop + 1;
  }
  return tokens;
}

bool text_on_stdin() { return is_text_on_stdin(); }

std::string read_stdin() {
  // The longest delay until Ctrl-C is noticed, and the time until a message
  // says that input is awaited: an inherited pipe without a writer would be
  // read in silence for ever.
  constexpr std::chrono::milliseconds kLook(50);
  constexpr int kPatience = 20;
  const bool terminal = is_terminal(Stream::kIn);
  std::string text;
  char bytes[4096];
  for (int looks = 0; !interrupted();) {
    const int ready = wait_for_stdin(kLook);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      if (++looks == kPatience && !terminal && text.empty()) {
        note(
            "waiting for a text on stdin; with -p TEXT or </dev/null there is "
            "none to wait for");
      }
      continue;
    }
    const int64_t count = read_from_stdin(bytes);
    if (count == 0) return text;
    if (count > 0) {
      text.append(bytes, static_cast<size_t>(count));
    } else if (errno != EINTR) {
      throw Failure{kFile,
                    std::string("cannot read stdin: ") + std::strerror(errno)};
    }
  }
  throw Failure{kInterrupted, ""};
}

std::vector<int32_t> tokenize(const Tokenizer& tokenizer,
                              const std::string& text, uint32_t flags) {
  int32_t* tokens = nullptr;
  size_t count = 0;
  check(rc_tokenize(tokenizer.get(), text.data(), text.size(), flags, &tokens,
                    &count));
  const Returned<int32_t> owned(tokens);
  return {tokens, tokens + count};
}

}  // namespace cli
