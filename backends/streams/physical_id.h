// The identity of a device as other backends know it too.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>

namespace rc::streams {

// "pci:DDDD:BB:DD.F", of what a driver calls "DDDD:BB:DD.F", in small letters.
inline std::string physical_id(const char* pci_address) {
  std::string text = std::string("pci:") + pci_address;
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return text;
}

}  // namespace rc::streams
