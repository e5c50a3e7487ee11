#include "streams/control.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

namespace rc::stand_in {
namespace {

std::mutex& fail_mutex = *new std::mutex;
std::string& fail_name = *new std::string;  // "": any
long calls_before = -1;                     // it fails; negative: none does
int fail_result = 0;

}  // namespace

std::atomic<long> calls = 0;
std::atomic<int> lost = 0;

long setting(const char* name, long otherwise) {
  const char* const text = std::getenv(settings_variable);
  const std::string all = text == nullptr ? "" : "," + std::string(text);
  const size_t at = all.find("," + std::string(name) + "=");
  return at == std::string::npos
             ? otherwise
             : std::atol(all.c_str() + at + std::strlen(name) + 2);
}

int begin_call(const char* name) {
  ++calls;
  const std::lock_guard lock(fail_mutex);
  if (calls_before < 0 || (!fail_name.empty() && fail_name != name)) return 0;
  return calls_before-- == 0 ? fail_result : 0;
}

void fail_after(const char* function, long after, int result) {
  const std::lock_guard lock(fail_mutex);
  fail_name = function;
  calls_before = after;
  fail_result = result;
  lost = 0;
}

}  // namespace rc::stand_in
