// Sessions for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
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

// Makes the end of a saved session the checksum of the rest.
inline void correct_checksum(std::vector<std::byte>* saved) {
  const size_t end = saved->size() - sizeof(uint64_t);
  const uint64_t sum = checksum(std::span(*saved).first(end));
  std::memcpy(saved->data() + end, &sum, sizeof sum);
}

}  // namespace rc::engine::test
