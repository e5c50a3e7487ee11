// SHA-256 of files, and the SHA-1 by which git and hubs name small files.
//
// Computed by libcrypto, which is loaded at run time as libcurl is and comes
// with it. An embedded library should neither link libcrypto for a check that
// most programs never need, nor contain its own cryptography.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace rc::hub {

class Digest {
 public:
  enum class Kind { kSha1, kSha256 };

  // Throws RC_E_UNSUPPORTED, naming the package, if there is no libcrypto.
  explicit Digest(Kind kind);
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void add(std::span<const std::byte> bytes);
  // In lower-case hexadecimal. To be called once.
  std::string finish();

 private:
  void* context_ = nullptr;
};

}  // namespace rc::hub
