// Sessions for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "base/checksum.h"
#include "base/error.h"
#include "engine_util.h"

namespace rc::engine::test {

// The call fails so, with a message that has the part.
template <class Call>
void expect_status(rc_status status, const Call& call,
                   const std::string& part = "") {
  try {
    call();
    ADD_FAILURE() << "no error, but expected is " << status;
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status) << error.message();
    EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
  }
}

inline std::shared_ptr<Session> session_with(
    Engine& engine, const std::vector<TokenId>& tokens) {
  auto session = engine.create_session({}, nullptr);
  session->append(tokens);
  return session;
}

// A hash of the logits after what the session has.
inline uint64_t decoded(Session& session) {
  session.decode(false);
  return hash_logits(session);
}

// A hash of the logits after what the session has and these tokens.
inline uint64_t hash_after(Session& session,
                           const std::vector<TokenId>& tokens) {
  session.append(tokens);
  return decoded(session);
}

// The tokens from `begin` to before `end`.
inline std::vector<TokenId> part(const std::vector<TokenId>& tokens,
                                 size_t begin, size_t end) {
  return {tokens.begin() + static_cast<ptrdiff_t>(begin),
          tokens.begin() + static_cast<ptrdiff_t>(end)};
}

// Logits after a prompt or a source, twenty tokens, logits after them.
struct Played {
  uint64_t before = 0;
  std::vector<TokenId> tokens;
  uint64_t after = 0;
  bool operator==(const Played&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Played& played) {
  out << std::hex << played.before << " " << played.after << std::dec;
  for (TokenId token : played.tokens) out << " " << token;
  return out;
}

// Generates the twenty tokens.
inline void go_on(Session& session, Played* played) {
  const Result result = generate(session, greedy({}, 20));
  EXPECT_EQ(result.report.status, RC_OK) << result.message;
  played->tokens = result.tokens;
  played->after = decoded(session);
}

// Does all of it in a new session.
inline Played play(Engine& engine, const std::vector<TokenId>& prompt) {
  Played played;
  const auto session = session_with(engine, prompt);
  played.before = decoded(*session);
  go_on(*session, &played);
  return played;
}

// Makes the end of a saved session the checksum of the rest.
inline void correct_checksum(std::vector<std::byte>* saved) {
  const size_t end = saved->size() - sizeof(uint64_t);
  const uint64_t sum = checksum(std::span(*saved).first(end));
  std::memcpy(saved->data() + end, &sum, sizeof sum);
}

}  // namespace rc::engine::test
