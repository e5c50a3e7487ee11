// Arcee: Llama with a squared rectifier and no gate.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

void describe_arcee(Description& model) {
  expect_text(model.config(), "hidden_act", {"relu2"});
  add_decoder(model);
}

}  // namespace

constexpr Architecture kArcee = {
    .model_type = "arcee",
    .name = "arcee",
    .defaults = R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 4096,
                    "hidden_act": "relu2", "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kPairedAttentionRules, kNormRules},
    .describe = describe_arcee,
};

}  // namespace rc::folder
