// Has the module load the stand-in, from before the first test on, unless the
// environment names another library.
#include <cstdlib>

namespace rc::test {
namespace {

[[maybe_unused]] const int is_set =
    setenv("RUNCIBLE_CUDA_LIBRARY", RC_STAND_IN, 0);

}  // namespace
}  // namespace rc::test
