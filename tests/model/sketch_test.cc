// Files of which only hyper-parameters are known: what is refused of them, by
// the message.
#include "model/sketch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "expect_error.h"

namespace rc::model {
namespace {

// A small model, with more members.
std::string llama(const std::string& more = "") {
  return R"({"architecture": "llama", "vocab_size": 8, "block_count": 2,
             "embedding_length": 4, "context_length": 16,
             "feed_forward_length": 6, "attention.head_count": 2,
             "attention.layer_norm_rms_epsilon": 1e-5)" +
         (more.empty() ? "" : ", " + more) + "}";
}

void refused(const std::string& message, const std::string& json,
             const std::string& type = "") {
  test::expect_error(RC_E_INVALID_ARGUMENT, "hyper-parameters: " + message,
                     [&] { sketch_file(json, type, std::nullopt); });
}

TEST(Sketch, HasTheTensorsThatTheProgramReads) {
  const auto file = sketch_file(
      llama(R"("tensors": {"output.weight": null, "blk.*.attn_q.bias": [4]})"),
      "", std::nullopt);
  const auto expect = [&](const char* name, DType dtype,
                          const std::vector<int64_t>& shape) {
    const gguf::Tensor* tensor = file->find_tensor(name);
    ASSERT_NE(tensor, nullptr) << name;
    EXPECT_EQ(tensor->dtype, dtype) << name;
    EXPECT_EQ(std::vector<int64_t>(tensor->shape.begin(), tensor->shape.end()),
              shape)
        << name;
  };
  expect("token_embd.weight", RC_DTYPE_F16, {8, 4});
  expect("output.weight", RC_DTYPE_F16, {8, 4});
  expect("blk.0.attn_q.bias", RC_DTYPE_F32, {4});
  expect("blk.1.attn_q.bias", RC_DTYPE_F32, {4});
  expect("blk.1.ffn_down.weight", RC_DTYPE_F16, {4, 6});
  expect("output_norm.weight", RC_DTYPE_F32, {4});
  EXPECT_EQ(file->find_tensor("blk.2.attn_q.weight"), nullptr);
  EXPECT_EQ(file->get_int("llama.block_count"), 2);
}

TEST(Sketch, RefusesInvalidShapes) {
  const auto shape = [](const std::string& text, const std::string& json) {
    refused(text, llama(R"("tensors": {"output.weight": )" + json + "}"));
  };
  const std::string begin = "the shape of 'output.weight' is ";
  const std::string numbers = ", but must be an array of 1 to 4 numbers";
  shape(begin + "[]" + numbers, "[]");
  shape(begin + "[1,2,3,4,5]" + numbers, "[1, 2, 3, 4, 5]");
  shape(begin + "3" + numbers, "3");
  shape(begin + "\"x\"" + numbers, "\"x\"");
  shape(begin + "[8,0]" + ", but its sizes must be at least 1", "[8, 0]");
  shape(begin + "[-1]" + ", but its sizes must be at least 1", "[-1]");
  for (const char* size :
       {"\"4\"", "1.5", "1e3", "true", "null", "[4]", "9223372036854775808"}) {
    shape(std::string("'output.weight' is ") + size +
              ", but must be a whole number",
          std::string("[") + size + "]");
  }
}

TEST(Sketch, RefusesInvalidTensorNames) {
  const auto name = [](const std::string& text, const std::string& json) {
    refused(text, llama("\"tensors\": " + json));
  };
  const std::string size = " is no name of a tensor: it has 1 to 64 bytes";
  name("''" + size, R"([""])");
  const std::string longest(64, 'x');
  name("'" + longest + "x'" + size, "[\"" + longest + "x\"]");
  name("'tensors' holds 3, but must hold names", "[3]");
  name(
      "'tensors' is a string, but must be an array of names or an object of "
      "shapes",
      R"("output.weight")");
  // A name of 64 bytes is one, which no llama has.
  EXPECT_EQ(test::error_of([&] {
              sketch_file(llama("\"tensors\": [\"" + longest + "\"]"), "",
                          std::nullopt);
            }).status(),
            RC_E_UNSUPPORTED);
}

TEST(Sketch, RefusesOtherThanAnArchitectureObject) {
  refused("they are an array, but must be an object", "[1]");
  refused("\"architecture\" is missing, such as \"llama\"", "{}");
  refused("\"architecture\" is missing, such as \"llama\"",
          R"({"architecture": ""})");
  refused("'architecture' is 3, but must be a text", R"({"architecture": 3})");
  refused("'general.architecture' is null, but must be a text",
          R"({"general.architecture": null})");
}

TEST(Sketch, LimitsTheSizeOfTheVocabulary) {
  const auto of = [](const std::string& vocabulary, const std::string& width) {
    return R"({"architecture": "llama", "block_count": 2, "vocab_size": )" +
           vocabulary + R"(, "embedding_length": )" + width + "}";
  };
  const auto begins = [&](const std::string& begin, const std::string& json) {
    test::expect_error(RC_E_INVALID_ARGUMENT, "hyper-parameters: " + begin, "",
                       [&] { sketch_file(json, "", std::nullopt); });
  };
  begins("'llama.vocab_size' is 0, but must be 1 to ", of("0", "4"));
  begins("'llama.vocab_size' is -1, but must be 1 to ", of("-1", "4"));
  begins("'llama.embedding_length' is 0, but must be 1 to ", of("8", "0"));
  begins("'llama.embedding_length' is 1000000000000, but must be 1 to ",
         of("8", "1000000000000"));
  // The number of layers, where names have a star.
  begins("'llama.block_count' is 0, but must be 1 to ",
         R"({"architecture": "llama", "vocab_size": 8, "embedding_length": 4,
             "block_count": 0, "tensors": ["blk.*.attn_q.bias"]})");
}

TEST(Sketch, ContainsOnesInTheTypeOfEachTensor) {
  const std::pair<const char*, DType> types[] = {{"", RC_DTYPE_F16},
                                                 {"f16", RC_DTYPE_F16},
                                                 {"F32", RC_DTYPE_F32},
                                                 {"bf16", RC_DTYPE_BF16}};
  for (const auto& [type, dtype] : types) {
    const auto file = sketch_file(llama(), type, std::nullopt);
    EXPECT_EQ(file->find_tensor("token_embd.weight")->dtype, dtype);
    EXPECT_EQ(file->find_tensor("output_norm.weight")->dtype, RC_DTYPE_F32);
    for (const char* name :
         {"token_embd.weight", "blk.0.attn_q.weight", "output_norm.weight"}) {
      const gguf::Tensor& tensor = *file->find_tensor(name);
      const std::vector<std::byte> data = file->read(tensor);
      std::vector<float> values(4);
      decode_row(tensor.dtype, data.data(), values.data(), 4);
      EXPECT_EQ(values, std::vector<float>(4, 1.0f)) << type << " " << name;
    }
  }
}

}  // namespace
}  // namespace rc::model
