#include "base/error.h"

#include <gtest/gtest.h>

#include <new>
#include <string>
#include <thread>

namespace rc {
namespace {

TEST(Error, CarriesStatusAndParts) {
  try {
    fail(RC_E_FORMAT, "tensor '", "a.weight", "' has ", 3, " dimensions");
    FAIL() << "fail returned";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_FORMAT);
    EXPECT_EQ(error.message(), "tensor 'a.weight' has 3 dimensions");
  }
}

rc_status caught(void (*thrower)()) {
  try {
    thrower();
  } catch (...) {
    return status_of_current_exception();
  }
  return RC_OK;
}

TEST(Error, EveryExceptionBecomesAStatusWithAMessage) {
  EXPECT_EQ(caught([] { fail(RC_E_NOT_FOUND, "no such thing"); }),
            RC_E_NOT_FOUND);
  EXPECT_STREQ(last_error_message(), "no such thing");
  EXPECT_EQ(caught([] { throw std::bad_alloc(); }), RC_E_OUT_OF_MEMORY);
  EXPECT_NE(std::string(last_error_message()).find("memory"),
            std::string::npos);
  EXPECT_EQ(caught([] { throw std::string("odd"); }), RC_E_INTERNAL);
}

TEST(Error, MessageIsCutBetweenCharacters) {
  // 1022 bytes and then a character of three: it does not fit into 1023.
  const std::string text = std::string(1022, 'x') + "\xE2\x82\xAC";
  set_last_error(RC_E_IO, text.c_str());
  EXPECT_EQ(std::string(last_error_message()), std::string(1022, 'x'));
  const std::string fits = std::string(1020, 'x') + "\xE2\x82\xAC";
  set_last_error(RC_E_IO, fits.c_str());
  EXPECT_EQ(std::string(last_error_message()), fits);
}

TEST(Error, MessagesBelongToTheirThread) {
  set_last_error(RC_E_IO, "mine");
  std::thread([] {
    EXPECT_STREQ(last_error_message(), "");
    set_last_error(RC_E_IO, "other");
  }).join();
  EXPECT_STREQ(last_error_message(), "mine");
}

TEST(Error, AMessageMayBeSetFromItself) {
  set_last_error(RC_E_IO, "some text");
  set_last_error(RC_E_FORMAT, last_error_message() + 5);
  EXPECT_STREQ(last_error_message(), "text");
}

}  // namespace
}  // namespace rc
