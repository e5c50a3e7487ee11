// Whole models on the host driver: kernels of GPUs with work-items in any
// order.
#include <gtest/gtest.h>

#include "device/whole_model_util.h"
#include "host_driver/module/plugin.h"
#include "runtime/registry.h"
#include "temporary.h"

namespace rc::test {
namespace {

class HostModel : public testing::Test {
 protected:
  // Registered, it is not self-tested: what is wrong shows here.
  static void SetUpTestSuite() { runtime::register_plugin(host::plugin()); }
};

TEST_F(HostModel, FableLogitsMatchTransformers) {
  expect_fable_logits(*load_fable("host"));
}

}  // namespace
}  // namespace rc::test
