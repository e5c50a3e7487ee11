// Writes the files that fuzzing of the GGUF reader begins with to the folder
// named by its argument.
#include <array>
#include <string>

#include "files/gguf/writer.h"

int main(int count, char** arguments) {
  using rc::gguf::Writer;
  if (count != 2) return 1;
  const std::string folder = arguments[1];
  Writer().write_file(folder + "/empty.gguf");

  Writer metadata(16);
  metadata.add("general.architecture", "llama");
  metadata.add("u8", uint8_t{1});
  metadata.add("i16", int16_t{-1});
  metadata.add("u64", uint64_t{1} << 63);
  metadata.add("f32", 1.5f);
  metadata.add("f64", 0.1);
  metadata.add("bool", true);
  metadata.add_array("i32s", std::array{1, 2, 3});
  metadata.add_array("f32s", std::array{1.0f, 2.0f});
  metadata.add_array("bools", std::array{true, false});
  metadata.add_strings("strings", std::array{"one", "", "three"});
  metadata.write_file(folder + "/metadata.gguf");

  // A tensor of each type, of zeros.
  for (rc_dtype type = 0; type <= RC_DTYPE_Q1_0; ++type) {
    const auto* info = rc::dtype_info(type);
    if (info == nullptr) continue;
    const std::array<int64_t, 2> shape = {2, info->block_size};
    const float bias = 1.5f;
    const std::vector<std::byte> data(
        static_cast<size_t>(2 * info->block_bytes));
    Writer writer;
    writer.add("general.name", info->name);
    writer.add_tensor("a.weight", type, shape, std::span(data));
    writer.add_tensor("a.bias", RC_DTYPE_F32, std::array<int64_t, 1>{1},
                      std::as_bytes(std::span(&bias, 1)));
    writer.write_file(folder + "/" + info->name + ".gguf");
  }
  return 0;
}
