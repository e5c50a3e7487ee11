#include "pasted_text.h"

namespace cli {

bool PlainLine::take(char c) {
  switch (place_) {
    case Place::kEscape:
      sequence_.clear();
      place_ = c == '['   ? Place::kSequence
               : c == 'O' ? Place::kLastOfSequence
                          : Place::kText;
      return false;
    case Place::kLastOfSequence:
      place_ = Place::kText;
      return false;
    case Place::kSequence:
      if (c >= 0x40 && c <= 0x7E) {
        end_sequence(c);
      } else {
        sequence_ += c;
      }
      return false;
    case Place::kText:
      break;
  }
  if (c == '\033') {
    place_ = Place::kEscape;
    return false;
  }
  if (c == '\n' && !pasting_) return true;
  text_ += c;
  return false;
}

void PlainLine::end_sequence(char last) {
  place_ = Place::kText;
  sequence_ += last;
  if (sequence_ == "200~") {
    pasting_ = true;
  } else if (sequence_ == "201~") {
    pasting_ = false;
    text_ = tidied_paste(text_);
  }
}

std::string tidied_paste(const std::string& text) {
  std::string tidy;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\r') {
      if (i + 1 == text.size() || text[i + 1] != '\n') tidy += '\n';
    } else if (c >= 0x20 ? c != 0x7F : c == '\n' || c == '\t') {
      tidy += text[i];
    }
  }
  while (!tidy.empty() && tidy.back() == '\n') tidy.pop_back();
  return tidy;
}

}  // namespace cli
