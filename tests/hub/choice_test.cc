#include "hub/choice.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace rc::hub {
namespace {

std::vector<RepositoryFile> files_of(const std::vector<std::string>& names) {
  std::vector<RepositoryFile> files;
  for (const std::string& name : names) {
    files.push_back({name, 100 + files.size()});
  }
  return files;
}

// Returns the choice, or the message of the error.
std::string chosen(const std::vector<std::string>& names,
                   const std::string& file) {
  Reference reference = {"o", "m", file, ""};
  try {
    const Choice choice = choose_files(files_of(names), reference, "hf:o/m");
    std::string text = choice.main + " of";
    for (const std::string& name : choice.files) text += " " + name;
    return text;
  } catch (const Error& error) {
    return std::string(rc_status_name(error.status())) + " " + error.message();
  }
}

TEST(Choice, FindsQuantizationsInFileNames) {
  const std::vector<std::string> names = {"m-Q4_K_S.gguf",
                                          "m-Q4_K_M.gguf",
                                          "m.IQ4_XS.gguf",
                                          "m_q8_0.gguf",
                                          "BF16/m-BF16-00001-of-00002.gguf",
                                          "BF16/m-BF16-00002-of-00002.gguf",
                                          "mmproj-Q8_0.gguf",
                                          "README.md"};
  EXPECT_EQ(chosen(names, "Q4_K_M"), "m-Q4_K_M.gguf of m-Q4_K_M.gguf");
  EXPECT_EQ(chosen(names, "q4_k_s"), "m-Q4_K_S.gguf of m-Q4_K_S.gguf");
  EXPECT_EQ(chosen(names, "IQ4_XS"), "m.IQ4_XS.gguf of m.IQ4_XS.gguf");
  EXPECT_EQ(chosen(names, "Q8_0"), "m_q8_0.gguf of m_q8_0.gguf");
  EXPECT_EQ(chosen(names, "mmproj-Q8_0.gguf"),
            "mmproj-Q8_0.gguf of mmproj-Q8_0.gguf");
  const std::string both =
      "BF16/m-BF16-00001-of-00002.gguf of BF16/m-BF16-00001-of-00002.gguf "
      "BF16/m-BF16-00002-of-00002.gguf";
  EXPECT_EQ(chosen(names, "bf16"), both);
  EXPECT_EQ(chosen(names, "BF16/m-BF16-00002-of-00002.gguf"), both);
  for (const char* none : {"Q4_K", "Q4_XS", "4_K_M", "Q5_0", "none.gguf"}) {
    const std::string message = chosen(names, none);
    EXPECT_EQ(message.rfind("RC_E_NOT_FOUND hf:o/m", 0), 0u) << message;
    EXPECT_NE(message.find("'m-Q4_K_S.gguf' (100 bytes)"), std::string::npos);
  }
  EXPECT_EQ(chosen(names, "").rfind("RC_E_INVALID_ARGUMENT", 0), 0u);
}

TEST(Choice, ChoosesOneFileOrAFolder) {
  EXPECT_EQ(chosen({"a.gguf", "mmproj-a.gguf", "config.json"}, ""),
            "a.gguf of a.gguf");
  EXPECT_EQ(chosen({"config.json", "model.safetensors", "merges.txt",
                    "vocab.json", "x.py", "onnx/model.safetensors"},
                   ""),
            " of config.json model.safetensors merges.txt vocab.json");
  EXPECT_EQ(chosen({"config.json", "consolidated.safetensors"}, ""),
            " of config.json consolidated.safetensors");
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{},
        {"config.json"},
        {"model.safetensors"},
        {"config.json", "sub/model.safetensors"},
        {"pytorch_model.bin"}}) {
    const std::string message = chosen(names, "");
    EXPECT_EQ(message.rfind("RC_E_NOT_FOUND", 0), 0u) << message;
  }
}

TEST(Choice, MissingPartsAreRefused) {
  const std::string message =
      chosen({"m-Q4_0-00001-of-00003.gguf", "m-Q4_0-00003-of-00003.gguf"}, "");
  EXPECT_NE(message.find("2 of the 3 parts"), std::string::npos) << message;
  // A number that no file can have.
  EXPECT_NE(chosen({"m-00001-of-00000.gguf"}, "").find("RC_E_NOT_FOUND"),
            std::string::npos);
}

TEST(Choice, LongListsAreShortenedInErrors) {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) {
    names.push_back("m-" + std::to_string(i) + ".gguf");
  }
  const std::string message = chosen(names, "");
  EXPECT_NE(message.find("and 960 more"), std::string::npos);
  EXPECT_LT(message.size(), 4000u);
}

}  // namespace
}  // namespace rc::hub
