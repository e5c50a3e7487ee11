#include "text/tokenizer_json/post_template.h"

#include <string>

#include "base/quote.h"

namespace rc::text {
namespace {

// Of BERT and of RoBERTa: a pair of a token and its id.
TokenId id_of_pair(const JsonNode& node) {
  const std::vector<JsonNode> pair = node.items(2);
  if (pair.size() != 2) node.refuse("must be a token and its id");
  return pair[1].id();
}

void wrap(const PostTemplate& outer, PostTemplate* inner) {
  inner->before.insert(inner->before.begin(), outer.before.begin(),
                       outer.before.end());
  inner->after.insert(inner->after.end(), outer.after.begin(),
                      outer.after.end());
}

PostTemplate read_pieces(const JsonNode& node) {
  PostTemplate result;
  bool after_text = false;
  const JsonNode single = node.at("single");
  for (const JsonNode& piece : single.items(kMaxComponents)) {
    if (piece.find("Sequence")) {
      if (after_text) single.not_supported("has the text twice");
      after_text = true;
      continue;
    }
    const std::string name = piece.at("SpecialToken").at("id").text();
    const JsonNode token = node.at("special_tokens").at(name);
    for (const JsonNode& id : token.at("ids").items(kMaxComponents)) {
      (after_text ? result.after : result.before).push_back(id.id());
    }
  }
  if (!after_text) single.not_supported("does not have the text");
  return result;
}

}  // namespace

PostTemplate read_post_template(const JsonNode& node) {
  const std::string type = node.type();
  if (type == "ByteLevel") return {};  // changes places alone
  if (type == "TemplateProcessing") return read_pieces(node);
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    return {{id_of_pair(node.at("cls"))}, {id_of_pair(node.at("sep"))}};
  }
  if (type == "Sequence") {
    PostTemplate all;
    for (const JsonNode& one : node.at("processors").items(kMaxComponents)) {
      wrap(read_post_template(one), &all);
    }
    return all;
  }
  node.at("type").not_supported(
      "is ", quote(type),
      "; known post-processors are TemplateProcessing, BertProcessing, "
      "RobertaProcessing, ByteLevel, Sequence");
}

}  // namespace rc::text
