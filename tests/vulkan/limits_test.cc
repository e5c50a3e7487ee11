// Limits of devices: how often loops go around, and how many work-groups a
// dispatch has. They are lowered, so that small shapes are about them; once
// more with those of the device at hand.
#include <gtest/gtest.h>

#include "device/limits_util.h"
#include "device/module_util.h"
#include "labels.h"
#include "model/model_util.h"

namespace rc::test {
namespace {

constexpr char kTuning[] = "RUNCIBLE_VULKAN_TUNING";

// Returns the iterations of a device with loops=... before an op is split or
// refused: see backends/gpu/loops.cc.
int64_t budget(int64_t loops) { return loops - 1024; }

class VulkanLimits : public testing::Test {
 protected:
  void SetUp() override {
    RC_NEEDS_DEVICE("vulkan");
    // Sub-groups of eight, or shared memory.
    eight_ = true;
    try {
      open_tuned("vulkan", kTuning, "texels=1");
    } catch (const std::exception&) {
      eight_ = false;
    }
  }
  bool eight_ = false;
};

// One below, at and beyond.
template <class Function>
void about(int64_t limit, Function function) {
  for (const int64_t n : {limit - 1, limit, limit + 1}) function(n);
}

void expect_long_lines_right(const std::shared_ptr<runtime::Device>& device,
                             int64_t together, int64_t alone) {
  for (const int32_t function :
       {RC_REDUCE_SUM, RC_REDUCE_MEAN, RC_REDUCE_MAX}) {
    about(together, [&](int64_t n) {
      expect_right(device, reduce_case(function, 1, n, 1));
      expect_right(device, reduce_case(function, 2, n, 3));
    });
    about(alone, [&](int64_t n) {
      expect_right(device, reduce_case(function, 1, n, 130));
    });
  }
  about(together, [&](int64_t n) {
    expect_right(device, argmax_case(1, n, 1));
    expect_right(device, argmax_case(2, n, 3));
  });
  about(together / 3, [&](int64_t n) {
    expect_right(device, softmax_case(1, n, 1));
    expect_right(device, softmax_case(2, n, 3));
  });
  about(alone,
        [&](int64_t n) { expect_right(device, argmax_case(1, n, 130)); });
  about(alone / 3,
        [&](int64_t n) { expect_right(device, softmax_case(1, n, 130)); });
  // Many parts.
  expect_right(device, reduce_case(RC_REDUCE_SUM, 1, 7 * together, 1));
  expect_right(device, argmax_case(1, 7 * together, 1));
  expect_right(device, softmax_case(1, 7 * together, 1));
}

TEST_F(VulkanLimits, LongLinesAreSplit) {
  if (!eight_) GTEST_SKIP() << "no sub-groups of eight";
  const auto device = open_tuned("vulkan", kTuning, "texels=1,loops=4096");
  expect_long_lines_right(device, 8 * budget(4096), budget(4096));
}

TEST_F(VulkanLimits, LongLinesAreSplitInSharedMemory) {
  const auto device =
      open_tuned("vulkan", kTuning, "texels=0,reduce=16,loops=4096");
  expect_long_lines_right(device, 16 * budget(4096), budget(4096));
}

TEST_F(VulkanLimits, LongProductsAreSplit) {
  for (const char* tuning : {"texels=1,loops=4096", "texels=0,loops=4096"}) {
    if (!eight_ && tuning[7] == '1') continue;
    const auto device = open_tuned("vulkan", kTuning, tuning);
    // A strip of 16 columns takes two rounds, or with shared memory 1 + 16 and
    // those that bring it.
    for (const int64_t limit :
         {16 * (budget(4096) / 2), 16 * (budget(4096) / (1 + 2 + 9 + 17)),
          16 * (budget(4096) / (1 + 9 + 9 + 17))}) {
      about(limit, [&](int64_t k) {
        expect_right(device, matmul_case(1, 3, k, false));
        expect_right(device, matmul_case(3, 4, k, true));
        expect_right(device, matmul_case(9, 5, k, true));
      });
    }
    expect_right(device, matmul_case(2, 3, 98304 + 32, true, RC_DTYPE_Q8_0));
  }
}

TEST_F(VulkanLimits, ConvolutionsOfManyChannelsAreSplit) {
  const auto device = open_tuned("vulkan", kTuning, "loops=4096");
  about(budget(4096) / 10,
        [&](int64_t n) { expect_right(device, conv2d_case(n, 1)); });
  about(budget(4096) / 34,
        [&](int64_t n) { expect_right(device, conv2d_case(n, 3)); });
  expect_right(device, conv2d_case(budget(4096), 3));
  // Twice 1 + 40 + 39 * 40 is more than all.
  expect_right(device, conv2d_case(1, 37));
  expect_refused(device, conv2d_case(1, 39), "iterations of loops");
}

TEST_F(VulkanLimits, OpsThatCannotBeSplitAreRefused) {
  if (!eight_) GTEST_SKIP() << "no sub-groups of eight";
  const auto device = open_tuned("vulkan", kTuning, "texels=1,loops=4096");
  const char kWhy[] = "takes 3073 iterations of loops";
  const int64_t all = budget(4096);
  expect_right(device, layer_norm_case(2, 8 * all / 3 - 1));
  expect_right(device, layer_norm_case(2, 8 * all / 3));
  expect_refused(device, layer_norm_case(2, 8 * all / 3 + 1),
                 "iterations of loops");
  expect_right(device, rms_norm_case(2, 1, 8 * all / 2));
  expect_refused(device, rms_norm_case(2, 1, 8 * all / 2 + 1),
                 "iterations of loops");
  expect_right(device, row_layer_norm_case(2, 1, 8 * all / 3));
  expect_refused(device, row_layer_norm_case(2, 1, 8 * all / 3 + 1),
                 "iterations of loops");
  expect_right(device, linear_case(RC_DTYPE_F32, 2, 3, 32 * all));
  expect_refused(device, linear_case(RC_DTYPE_F32, 2, 3, 32 * all + 1), kWhy);
  expect_right(device, attend_case(8 * (all - 1), 4));
  expect_refused(device, attend_case(8 * (all - 1) + 1, 4), kWhy);
  for (const bool whole : {false, true}) {
    expect_right(device, attention_case(2, 2, 4, all - 1, 8, whole));
    expect_refused(device, attention_case(2, 2, 4, all, 8, whole), kWhy);
  }
  expect_right(device, rope_case(2, 1, 32 * all / 2));
  expect_refused(device, rope_case(2, 1, 32 * all / 2 + 2),
                 "iterations of loops");
  expect_right(device, route_case(2, 8 * (all / 2 - 11)));
  expect_refused(device, route_case(2, 8 * (all / 2 - 11) + 1),
                 "iterations of loops");
  expect_right(device, expert_sum_case(2, all, 3));
  expect_refused(device, expert_sum_case(2, all + 1, 3), kWhy);
}

// Each dispatch takes as many rows of a sequence as loops may have and as can
// be bound; the state is passed on.
TEST_F(VulkanLimits, RowsOfASequenceAreSplit) {
  const TemporaryVariable range("RUNCIBLE_VULKAN_RANGE", "16384");
  for (const char* tuning : {"texels=1,loops=4096", "texels=0,loops=4096"}) {
    if (!eight_ && tuning[7] == '1') continue;
    const auto device = open_tuned("vulkan", kTuning, tuning);
    // 3,072 rounds of some 2 * (1 + 2 * 5) and 2 * (1 + 17 + 9) of a row.
    about(139,
          [&](int64_t n) { expect_right(device, short_conv_case(n, 70, 4)); });
    about(56,
          [&](int64_t n) { expect_right(device, scan_case(n, 3, 5, 131)); });
    expect_right(device, short_conv_case(1000, 9, 32));
    expect_right(device, scan_case(1000, 3, 5, 20));
    expect_refused(device, short_conv_case(2, 9, 33), "32 columns at most");
    expect_refused(device, scan_case(2, 1, 1, 1032), "1024 columns at most");
    expect_right(device, channel_scan_case(1000, 9, 131));
    expect_right(device, delta_rule_case(1000, 3, 5, 131));
    expect_refused(device, delta_rule_case(2, 1, 1, 1032),
                   "1024 columns at most");
    expect_refused(device, scan_case(2, 2, 32, 64),
                   "the device can bind 16384");
  }
}

// With the limit that software devices have.
TEST_F(VulkanLimits, LoopLimitOfTheDeviceIsObeyed) {
  const auto device = open_device("vulkan");
  if (device->info().kind != RC_DEVICE_SOFTWARE || !eight_) {
    GTEST_SKIP() << "only software devices have a limit";
  }
  // The limit of llvmpipe, and its rest for loops that depend on shapes.
  const int64_t all = budget(65535);
  for (const int64_t limit : {8 * all, int64_t{524'280}}) {
    about(limit, [&](int64_t n) {
      expect_right(device, reduce_case(RC_REDUCE_SUM, 1, n, 1));
      expect_right(device, reduce_case(RC_REDUCE_MEAN, 1, n, 1));
      expect_right(device, reduce_case(RC_REDUCE_MAX, 1, n, 1));
      expect_right(device, argmax_case(1, n, 1));
      expect_right(device, softmax_case(1, n, 1));
      expect_right(device, matmul_case(1, 2, n, false));
      expect_right(device, matmul_case(2, 1, n, true));
    });
  }
  about(8 * (all / 3),
        [&](int64_t n) { expect_right(device, softmax_case(1, n, 1)); });
  about(all, [&](int64_t n) {
    expect_right(device, reduce_case(RC_REDUCE_SUM, 1, n, 130));
  });
  about(all / 10, [&](int64_t n) { expect_right(device, conv2d_case(n, 1)); });
  about(all / 34, [&](int64_t n) { expect_right(device, conv2d_case(n, 3)); });
  expect_right(device, conv2d_case(all, 1));
  // The most that is not refused: there is no loop that was not counted.
  expect_right(device, layer_norm_case(1, 8 * (all / 3)));
  expect_right(device, rms_norm_case(1, 1, 8 * (all / 2)));
  expect_right(device, row_layer_norm_case(1, 1, 8 * (all / 3)));
  expect_right(device, linear_case(RC_DTYPE_I8, 1, 1, 32 * all));
  expect_right(device, linear_case(RC_DTYPE_Q8_0, 9, 1, 32 * all));
  expect_right(device, attend_case(8 * (all - 1), 2));
  expect_right(device, attend_case(8 * (all - 1), 9));
  expect_right(device, attention_case(1, 1, 4, all - 1, 8));
  expect_right(device, rope_case(1, 1, 32 * (all / 2)));
  expect_right(device, route_case(1, 8 * (all / 2 - 11)));
  expect_right(device, expert_sum_case(1, all, 3));
  expect_right(device, short_conv_case(6000, 9, 4));
  expect_right(device, scan_case(6000, 2, 4, 128));
  expect_right(device, channel_scan_case(6000, 9, 16));
  expect_right(device, delta_rule_case(6000, 2, 4, 128));
}

// The largest size that is not refused.
template <class Function>
int64_t largest(const std::shared_ptr<runtime::Device>& device, int64_t most,
                Function make) {
  const auto refused = [&](int64_t size) {
    const SelfTestCase test = make(size);
    for (const Op& op : test.description.ops) {
      runtime::Message message;
      if (device->op_supported(op, test.description.values.data(), message) !=
          RC_OK) {
        return true;
      }
    }
    return false;
  };
  int64_t least = 1;
  while (least < most) {
    const int64_t middle = (least + most + 1) / 2;
    if (refused(middle)) {
      most = middle - 1;
    } else {
      least = middle;
    }
  }
  return least;
}

// The same with the shaders of GPUs, whose loops are in each other.
TEST_F(VulkanLimits, LoopLimitInSharedMemoryIsObeyed) {
  const auto device =
      open_tuned("vulkan", kTuning, "texels=0,tile=16,parts=2,reduce=32");
  if (device->info().kind != RC_DEVICE_SOFTWARE) {
    GTEST_SKIP() << "only software devices have a limit";
  }
  expect_right(device, short_conv_case(6000, 9, 4));
  expect_right(device, scan_case(6000, 2, 9, 128));
  expect_right(device, channel_scan_case(6000, 20, 16));
  expect_right(device, delta_rule_case(6000, 2, 9, 128));
  // In some parts, of the most that is done at once.
  expect_right(device, matmul_case(1, 3, 100'000, false));
  expect_right(device, matmul_case(9, 5, 100'000, true));
  expect_right(device, reduce_case(RC_REDUCE_SUM, 1, 5'000'000, 1));
  expect_right(device, softmax_case(1, 2'000'000, 1));
  if (!is_full_set()) return;
  const auto expect_largest_right = [&](int64_t most, const auto& make) {
    const int64_t found = largest(device, most, make);
    EXPECT_LT(found, most);
    EXPECT_GT(found, 1);
    expect_right(device, make(found));
  };
  expect_largest_right(1 << 20, [](int64_t n) { return attend_case(n, 9); });
  expect_largest_right(1 << 17,
                       [](int64_t n) { return attention_case(1, 1, 9, n, 8); });
  expect_largest_right(
      1 << 20, [](int64_t n) { return linear_case(RC_DTYPE_F32, 9, 1, n); });
  expect_largest_right(1 << 21, [](int64_t n) { return route_case(1, n); });
  expect_largest_right(1 << 21,
                       [](int64_t n) { return layer_norm_case(1, n); });
}

// Work-groups along each dimension.
// Each way to divide a product, at its edges. Where there are cooperative
// matrices they compute the types other than F32.
TEST_F(VulkanLimits, ProductsOfManyRowsAreCorrect) {
  const auto device = open_tuned("vulkan", kTuning,
                                 "texels=0,tile=16,parts=4,chunk=2,"
                                 "few=2,batch=4,many=9,most=70,wide=70");
  for (const int64_t rows : {2, 3, 8, 9, 65, 69, 70, 129}) {
    for (const int64_t n : {69, 70, 130}) {
      for (const int64_t k : {36, 333}) {
        expect_right(device, linear_case(RC_DTYPE_F32, rows, n, k));
      }
    }
    // Numbers of binary16 after the rounding.
    expect_right(device, linear_case(RC_DTYPE_F16, rows, 130, 96), 1e-7);
    expect_right(device, linear_case(RC_DTYPE_Q8_0, rows, 130, 352), 1e-7);
    expect_right(device, linear_case(RC_DTYPE_Q4_K, rows, 70, 512), 1e-7);
  }
}

TEST_F(VulkanLimits, ManyWorkGroupsAreSplit) {
  for (const char* tuning :
       {"groups=7,tile=8", "texels=0,groups=7,tile=8,parts=2,plain=64"}) {
    const auto device = open_tuned("vulkan", kTuning, tuning);
    // Elements of a work-group are 64, or 8 of each of 64 lanes.
    for (const int64_t groups : {7, 49}) {
      about(groups * 512, [&](int64_t n) {
        expect_right(device, add_case(2, n));
        expect_right(device, unary_case(n));
        expect_right(device, row_unary_case(2, n));
      });
      about(groups * 64, [&](int64_t n) {
        expect_right(device, expert_sum_case(2, 2, n));
        expect_right(device, short_conv_case(2, n, 2));
        expect_right(device, get_rows_case(2, n, true));
      });
      about(groups * 64 * 32, [&](int64_t n) {
        expect_right(device, get_rows_case(2, n, false));
      });
      about(groups * 8, [&](int64_t n) {
        expect_right(device, scan_case(2, n, 1, 4));
        expect_right(device, linear_case(RC_DTYPE_F32, 2, n, 40));
      });
      about(groups, [&](int64_t n) {
        expect_right(device, add_case(n, 5));
        expect_right(device, rms_norm_case(n, 2, 9));
        expect_right(device, row_layer_norm_case(n, 2, 9));
        expect_right(device, rope_case(n, 2, 6));
        expect_right(device, linear_case(RC_DTYPE_F32, n, 3, 40));
        expect_right(device, route_case(n, 4));
        expect_right(device, reduce_case(RC_REDUCE_SUM, n, 40, 1));
        expect_right(device, reduce_case(RC_REDUCE_SUM, n * 128, 3, 1));
        expect_right(device, softmax_case(n, 20, 1));
        expect_right(device, layer_norm_case(n, 9));
        expect_right(device, matmul_case(n * 8, n * 8, 3, false));
        expect_right(device, attention_case(n, 2, 4, 3, 4));
        expect_right(device, attention_case(n, 2, 4, 3, 4, true));
        expect_right(device, short_conv_case(n, 5, 3));
        expect_right(device, scan_case(n, 2, 3, 4));
      });
    }
    expect_right(device, rms_norm_case(2, 7, 9));
    expect_refused(device, rms_norm_case(2, 8, 9),
                   "8 heads; the device allows 7");
    expect_right(device, row_layer_norm_case(2, 7, 9));
    expect_refused(device, row_layer_norm_case(2, 8, 9),
                   "8 heads; the device allows 7");
    expect_right(device, rope_case(2, 7, 6));
    expect_refused(device, rope_case(2, 8, 6), "8 heads; the device allows 7");
    expect_right(device, attention_case(2, 7, 4, 3, 4));
    expect_refused(device, attention_case(2, 8, 4, 3, 4),
                   "8 heads; the device allows 7");
    expect_right(device, expert_linear_case(2, 7, 56));
    expect_refused(device, expert_linear_case(2, 8, 56), "8 chosen experts");
    expect_refused(device, expert_linear_case(2, 2, 57),
                   "8 tiles of rows of an expert");
  }
}

}  // namespace
}  // namespace rc::test
