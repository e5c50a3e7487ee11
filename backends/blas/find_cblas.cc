// The choice of a CBLAS library among those of the machine.
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "base/cat.h"
#include "base/error.h"
#include "base/process.h"
#include "blas/cblas.h"

namespace rc::blas {
namespace {

// The usual names, best first. That of the last may be any BLAS: Debian's
// alternatives choose it.
constexpr const char* kNames[] = {
    "libopenblas.so.0",  "libopenblas.so", "libmkl_rt.so.3", "libmkl_rt.so.2",
    "libmkl_rt.so.1",    "libmkl_rt.so",   "libblis.so.4",   "libblis.so",
    "libflexiblas.so.3", "libcblas.so.3",  "libblas.so.3"};

const Cblas* load_named(const std::string& name) {
  rc::Library library = rc::Library::load(name);
  if (!library.is_loaded()) {
    const std::string& reason = library.failure();
    fail(RC_E_BACKEND_UNAVAILABLE, "the BLAS library ", name,
         " cannot be loaded (", reason.empty() ? "no reason given" : reason,
         "); RUNCIBLE_BLAS_LIBRARY names it and has to be the name or the path "
         "of a shared library with the functions of CBLAS");
  }
  return new Cblas(std::move(library), name);
}

// Where its threads cannot have their memory OpenBLAS tries for ever.
void check_address_space() {
  const std::optional<uint64_t> limit = address_space_limit();
  if (!limit) return;
  fail(RC_E_BACKEND_UNAVAILABLE,
       "the address space of the process is limited to ", *limit,
       " bytes, within which a BLAS library may wait for memory for ever; run "
       "without the limit (ulimit -v unlimited), or use cpu");
}

const Cblas* load() {
  check_address_space();
  const char* named = std::getenv("RUNCIBLE_BLAS_LIBRARY");
  if (named != nullptr && *named != '\0') return load_named(named);
  std::string reasons;
  for (const char* name : kNames) {
    rc::Library library = rc::Library::load(name);
    if (!library.is_loaded()) continue;
    try {
      return new Cblas(std::move(library), name);
    } catch (const Error& error) {
      if (error.status() != RC_E_BACKEND_UNAVAILABLE) throw;
      reasons += cat(reasons.empty() ? "" : "; ", error.message());
    }
  }
  if (!reasons.empty()) fail(RC_E_BACKEND_UNAVAILABLE, reasons);
  fail(RC_E_BACKEND_UNAVAILABLE,
       "no BLAS library is installed; install OpenBLAS, for example with apt "
       "install libopenblas0, or set RUNCIBLE_BLAS_LIBRARY to the path of a "
       "library with the functions of CBLAS");
}

}  // namespace

const Cblas& cblas() {
  // Never destroyed: a thread may compute while the process ends.
  static const Cblas& loaded = *load();
  return loaded;
}

}  // namespace rc::blas
