// Folders with quantized weights: what is read is what they stand for.
#include <algorithm>
#include <fstream>

#include "files/folder/folder_util.h"
#include "test_data.h"

namespace rc::folder {
namespace {

namespace fs = std::filesystem;

class Quantization : public test::FolderTest {
 protected:
  void copy_quantized(const std::string& name) const {
    fs::remove_all(path());
    fs::copy(rc::test::source_path("tests/golden/quantized") / name, path());
  }
  // The same folder with plain weights.
  std::shared_ptr<const gguf::File> open_plain() const {
    fs::rename(path("plain.safetensors"), path("model.safetensors"));
    change("config.json", R"({"quantization_config": null})");
    return open();
  }
  // With a change of quantization_config.
  void change_scheme(const std::string& patch) const {
    change("config.json", R"({"quantization_config": )" + patch + "}");
  }
};

class EveryScheme : public Quantization,
                    public testing::WithParamInterface<const char*> {};

TEST_P(EveryScheme, DecodesToThePlainWeights) {
  copy_quantized(GetParam());
  const auto quantized = open();
  // Their file stays open under another name.
  fs::rename(path("model.safetensors"), path("quantized.safetensors"));
  const auto plain = open_plain();
  ASSERT_EQ(quantized->tensors().size(), plain->tensors().size());
  int expanded = 0;
  for (const gguf::Tensor& tensor : plain->tensors()) {
    const gguf::Tensor* other = quantized->find_tensor(tensor.name);
    ASSERT_NE(other, nullptr) << tensor.name;
    EXPECT_EQ(other->dtype, tensor.dtype) << tensor.name;
    EXPECT_EQ(other->shape, tensor.shape) << tensor.name;
    const auto want = plain->read(tensor);
    EXPECT_EQ(quantized->read(*other), want) << tensor.name;
    if (tensor.dtype != RC_DTYPE_F32 || tensor.shape.size() < 2) continue;
    ++expanded;
    // Parts of rows, too.
    std::vector<std::byte> part(100);
    quantized->read(*other, 1204, part);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), want.begin() + 1204));
  }
  EXPECT_EQ(expanded, 3);
}

INSTANTIATE_TEST_SUITE_P(All, EveryScheme,
                         testing::Values("fp8", "fp8-tensor", "float-quantized",
                                         "int-quantized", "pack-quantized",
                                         "pack-quantized-zeros",
                                         "pack-quantized-8", "gptq", "gptq-v2",
                                         "awq"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_F(Quantization, UnknownSchemesAreNamed) {
  copy_quantized("gptq");
  change_scheme(R"({"bits": 3})");
  expect_refused(RC_E_UNSUPPORTED, "'bits' is '3'");
  change_scheme(R"({"bits": 4, "checkpoint_format": "marlin"})");
  expect_refused(RC_E_UNSUPPORTED, "'checkpoint_format' is 'marlin'");
  change_scheme(R"({"quant_method": "mxfp4"})");
  expect_refused(RC_E_UNSUPPORTED, "'quant_method' is 'mxfp4'; known are fp8");
  change_scheme(R"({"quant_method": "fp8"})");
  expect_refused(RC_E_UNSUPPORTED, "is one of gptq or awq, not of fp8");
  copy_quantized("awq");
  change_scheme(R"({"version": "GEMV"})");
  expect_refused(RC_E_UNSUPPORTED, "'version' is 'gemv'");
  copy_quantized("pack-quantized");
  change_scheme(R"({"format": "nvfp4-pack-quantized"})");
  expect_refused(RC_E_UNSUPPORTED, "'format' is 'nvfp4-pack-quantized'");
  change_scheme(R"({"format": "pack-quantized",
                    "sparsity_config": {"format": "sparse-24-bitmask"}})");
  expect_refused(RC_E_UNSUPPORTED, "'format' is 'sparse-24-bitmask'");
}

TEST_F(Quantization, ShapesAreChecked) {
  copy_quantized("gptq");
  change_scheme(R"({"group_size": 32})");
  expect_refused(RC_E_FORMAT, ".scales");
  change_scheme(R"({"group_size": 0})");
  expect_refused(RC_E_FORMAT, "groups of 0 columns");
  change_scheme(R"({"group_size": 16, "bits": 8})");
  expect_refused(RC_E_FORMAT, ".scales");
  copy_quantized("fp8");
  change_scheme(R"({"weight_block_size": [128, 128]})");
  expect_refused(RC_E_FORMAT, ".weight_scale_inv");
  change_scheme(R"({"weight_block_size": [0, 128]})");
  expect_refused(RC_E_FORMAT, "'weight_block_size' is not the size of a block");
}

TEST_F(Quantization, ScalesHaveTwoDimensionsAtMost) {
  copy_quantized("fp8");
  const fs::path file = path("model.safetensors");
  std::string bytes(fs::file_size(file), '\0');
  std::ifstream(file, std::ios::binary)
      .read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const std::string two = "[3,4]", three = "[3,4,1]";
  const size_t at = bytes.find(two);  // of the first scale
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, two.size(), three);
  bytes[0] = static_cast<char>(bytes[0] + 2);  // the header's length
  safetensors::test::write_file(file, bytes);
  expect_refused(RC_E_FORMAT, "one of at most two dimensions without a 0");
}

}  // namespace
}  // namespace rc::folder
