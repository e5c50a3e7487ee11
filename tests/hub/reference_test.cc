#include "hub/reference.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace rc::hub {
namespace {

TEST(Reference, ParsesItsParts) {
  const Reference plain = parse_reference("hf:Some-Owner/a_model.v2");
  EXPECT_EQ(plain.owner, "Some-Owner");
  EXPECT_EQ(plain.name, "a_model.v2");
  EXPECT_EQ(plain.file, "");
  EXPECT_EQ(plain.revision_or_main(), "main");
  const Reference all = parse_reference("hf:o/m:sub/f-Q4_K_M.gguf@refs/pr/1");
  EXPECT_EQ(all.repository(), "o/m");
  EXPECT_EQ(all.file, "sub/f-Q4_K_M.gguf");
  EXPECT_EQ(all.revision, "refs/pr/1");
  EXPECT_EQ(all.text(), "hf:o/m");
}

TEST(Reference, RefusesMalformedReferences) {
  for (const std::string text :
       {"o/m",           "hf:",          "hf:o",        "hf:o/",
        "hf:/m",         "hf:o/m/x",     "hf:o/m:",     "hf:o/m@",
        "hf:o/m:f@",     "hf:../m",      "hf:o/..",     "hf:o/.m",
        "hf:o/m.",       "hf:o--p/m",    "hf:o/m--n",   "hf:-o/m",
        "hf:o m/n",      "hf:o/m:/f",    "hf:o/m:a//b", "hf:o/m:../f",
        "hf:o/m:a/..",   "hf:o/m:a\\b",  "hf:o/m:a\nb", "hf:o/m:\xFF",
        "hf:o/m@a/../b", "hf:\xC3\xA4/m"}) {
    EXPECT_THROW(parse_reference(text), Error) << text;
  }
  EXPECT_THROW(parse_reference("hf:o/" + std::string(97, 'm')), Error);
  EXPECT_THROW(parse_reference("hf:o/m:" + std::string(256, 'f')), Error);
  EXPECT_FALSE(is_reference("./hf:o/m"));
}

}  // namespace
}  // namespace rc::hub
