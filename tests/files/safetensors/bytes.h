// Safetensors files made by hand, also such as no writer would make.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace rc::safetensors::test {

// A file with this header and so many bytes of data.
inline std::string file_bytes(std::string_view header, size_t data_bytes) {
  const uint64_t length = header.size();
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
  bytes += header;
  bytes.append(data_bytes, '\0');
  return bytes;
}

inline void write_file(const std::filesystem::path& path,
                       std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace rc::safetensors::test
