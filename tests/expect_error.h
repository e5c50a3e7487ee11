// Errors that a test expects of a call.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/error.h"

namespace rc::test {

// The error that the call throws; one with RC_OK if it throws none.
template <class Call>
Error error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return Error(RC_OK, "nothing was thrown");
}

// Expects an error whose message begins and ends with these texts.
template <class Call>
void expect_error(rc_status status, std::string_view begin,
                  std::string_view end, const Call& call) {
  const Error error = error_of(call);
  EXPECT_EQ(error.status(), status) << error.message();
  EXPECT_EQ(error.message().substr(0, begin.size()), begin);
  EXPECT_TRUE(error.message().ends_with(end))
      << error.message() << " should end with " << end;
}

// Expects an error with this message.
template <class Call>
void expect_error(rc_status status, const std::string& message,
                  const Call& call) {
  const Error error = error_of(call);
  EXPECT_EQ(error.status(), status) << error.message();
  EXPECT_EQ(error.message(), message);
}

// Expects an error whose message has all of these parts.
template <class Call>
void expect_error_with(rc_status status,
                       std::initializer_list<std::string_view> parts,
                       const Call& call) {
  const Error error = error_of(call);
  EXPECT_EQ(error.status(), status) << error.message();
  for (const std::string_view part : parts) {
    EXPECT_NE(error.message().find(part), std::string::npos)
        << error.message() << " should have " << part;
  }
}

}  // namespace rc::test
