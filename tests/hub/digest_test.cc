#include "hub/digest.h"

#include <gtest/gtest.h>

#include <span>

#include "hub/server.h"

namespace rc::hub {
namespace {

std::string digest_of(Digest::Kind kind, const std::string& text,
                      size_t piece) {
  Digest digest(kind);
  for (size_t at = 0; at < text.size(); at += piece) {
    const std::string part = text.substr(at, piece);
    digest.add(std::as_bytes(std::span(part)));
  }
  return digest.finish();
}

// The examples of FIPS 180-4 (NIST's "SHA_All", "SHA1" and "SHA256"), and what
// hashlib says of a million times 'a'.
TEST(Digest, MatchesKnownDigests) {
  const std::string two_blocks =
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  for (const size_t piece : {1u, 7u, 64u, 100000u}) {
    using enum Digest::Kind;
    EXPECT_EQ(digest_of(kSha256, "", piece),
              "e3b0c44298fc1c149afbf4c8996fb924"
              "27ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(digest_of(kSha256, "abc", piece),
              "ba7816bf8f01cfea414140de5dae2223"
              "b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(digest_of(kSha256, two_blocks, piece),
              "248d6a61d20638b8e5c026930c3e6039"
              "a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(digest_of(kSha1, "abc", piece),
              "a9993e364706816aba3e25717850c26c9cd0d89d");
    EXPECT_EQ(digest_of(kSha1, two_blocks, piece),
              "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  }
  EXPECT_EQ(digest_of(Digest::Kind::kSha256, std::string(1000000, 'a'), 999),
            "cdc76e5c9914fb9281a1c7e284d73e67"
            "f1809a48a497200e046d39ccc7112cd0");
}

// Expected values are those of `git hash-object`.
TEST(Digest, MatchesGitHashObject) {
  EXPECT_EQ(test::git_sha1(""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
  EXPECT_EQ(test::git_sha1("what is up, doc?"),
            "bd9dbf5aae1a3862dd1526723246b20206e5fc37");
}

}  // namespace
}  // namespace rc::hub
