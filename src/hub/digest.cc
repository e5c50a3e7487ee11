#include "hub/digest.h"

#include <new>

#include "base/error.h"
#include "base/library.h"

namespace rc::hub {
namespace {

// As <openssl/evp.h> of versions 1.1 and 3 has them; contexts, methods and
// engines are opaque there too.
struct CryptoApi {
  void* (*md_ctx_new)();
  void (*md_ctx_free)(void*);
  int (*digest_init)(void*, const void*, void*);
  int (*digest_update)(void*, const void*, size_t);
  int (*digest_final)(void*, unsigned char*, unsigned int*);
  const void* (*sha1)();
  const void* (*sha256)();
};

CryptoApi load_crypto() {
  Library library;
  for (const char* name : {"libcrypto.so.3", "libcrypto.so.1.1"}) {
    library = Library::load(name);
    if (library.is_loaded()) break;
  }
  if (!library.is_loaded()) {
    fail(RC_E_UNSUPPORTED,
         "libcrypto.so.3, by which fetched files are checked, cannot be "
         "loaded; install the package libssl3");
  }
  CryptoApi found{};
  const auto find = [&](auto& function, const char* symbol) {
    if (!library.find(function, symbol)) {
      fail(RC_E_UNSUPPORTED, "libcrypto has no ", symbol);
    }
  };
  find(found.md_ctx_new, "EVP_MD_CTX_new");
  find(found.md_ctx_free, "EVP_MD_CTX_free");
  find(found.digest_init, "EVP_DigestInit_ex");
  find(found.digest_update, "EVP_DigestUpdate");
  find(found.digest_final, "EVP_DigestFinal_ex");
  find(found.sha1, "EVP_sha1");
  find(found.sha256, "EVP_sha256");
  library.keep();
  return found;
}

const CryptoApi& crypto() {
  // Tried again after a failure.
  static const CryptoApi loaded = load_crypto();
  return loaded;
}

void check_crypto(int result) {
  if (result != 1) {
    fail(RC_E_UNSUPPORTED,
         "libcrypto does not compute the digest that a file is checked by; "
         "is it configured to refuse it?");
  }
}

}  // namespace

Digest::Digest(Kind kind) : context_(crypto().md_ctx_new()) {
  if (context_ == nullptr) throw std::bad_alloc();
  try {
    check_crypto(crypto().digest_init(
        context_, kind == Kind::kSha1 ? crypto().sha1() : crypto().sha256(),
        nullptr));
  } catch (...) {
    crypto().md_ctx_free(context_);
    throw;
  }
}

Digest::~Digest() { crypto().md_ctx_free(context_); }

void Digest::add(std::span<const std::byte> bytes) {
  check_crypto(crypto().digest_update(context_, bytes.data(), bytes.size()));
}

std::string Digest::finish() {
  unsigned char digest[64];  // EVP_MAX_MD_SIZE
  unsigned int size = 0;
  check_crypto(crypto().digest_final(context_, digest, &size));
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += kDigits[digest[i] >> 4];
    text += kDigits[digest[i] & 15];
  }
  return text;
}

}  // namespace rc::hub
