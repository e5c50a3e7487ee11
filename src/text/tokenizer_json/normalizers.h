// The normalizers of a tokenizer.json: what is done to a text before it is cut.
#pragma once

#include <memory>
#include <string>

#include "text/stop_check.h"
#include "text/tokenizer_json/json_node.h"

namespace rc::text {

// A part of a text on its way to the model.
struct NormalText {
  std::string text;
  // The number of first bytes that come from the first character of the
  // original text. Metaspace checks whether there are any.
  size_t first = 0;
};

// Never changes after it was made.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  // The text is well-formed UTF-8. `continues`: other text is before it, so
  // that no space is put there.
  virtual void apply(NormalText* text, bool continues,
                     StopCheck* stop) const = 0;
  // Whether every text is left as it is.
  virtual bool changes_nothing() const { return false; }
  // The most bytes of a text that become one; 0: any number.
  virtual size_t most_bytes_per_byte() const {
    return changes_nothing() ? 1 : 0;
  }
};

// Throws RC_E_FORMAT or RC_E_UNSUPPORTED with file, pointer and value.
std::unique_ptr<const Normalizer> make_normalizer(const JsonNode& node);

}  // namespace rc::text
