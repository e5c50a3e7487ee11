// The post-processors of a tokenizer.json: which tokens are put around a text.
#pragma once

#include <vector>

#include "text/tokenizer_json/json_node.h"

namespace rc::text {

struct PostTemplate {
  std::vector<TokenId> before;
  std::vector<TokenId> after;
};

// For one text. Throws RC_E_FORMAT or RC_E_UNSUPPORTED with file, pointer and
// value.
PostTemplate read_post_template(const JsonNode& node);

}  // namespace rc::text
