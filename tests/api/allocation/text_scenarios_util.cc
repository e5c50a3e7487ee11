// Grammars, embedding, scoring and measuring of texts.
#include <cstring>

#include "runcible/embed.h"
#include "runcible/evaluate.h"
#include "scenarios.h"
#include "test_data.h"

namespace rc::test {
namespace {

using Grammar = std::unique_ptr<rc_grammar, Release<rc_grammar_release>>;
using Matcher =
    std::unique_ptr<rc_grammar_matcher, Release<rc_grammar_matcher_release>>;

rc_status matchers(rc_grammar* grammar) {
  rc_grammar_matcher* made = nullptr;
  RC_TRY(RC_CALL(rc_grammar_matcher_create)(grammar, &made));
  const Matcher matcher(made);
  RC_CALL(rc_grammar_matcher_release)
  (RC_CALL(rc_grammar_matcher_retain)(made));
  int32_t accepted = 0;
  RC_TRY(RC_CALL(rc_grammar_matcher_accept_text)(made, "{", 1, &accepted));
  uint32_t mask[16];
  RC_TRY(RC_CALL(rc_grammar_matcher_mask)(made, mask, 16));
  int32_t* forced = nullptr;
  size_t count = 0;
  RC_TRY(RC_CALL(rc_grammar_matcher_forced)(made, &forced, &count));
  size_t taken = 0;
  const rc_status status = RC_CALL(rc_grammar_matcher_accept)(
      made, forced, count > 0 ? 1 : 0, &taken);
  rc_free(forced);
  RC_TRY(status);
  int32_t accepting = 0;
  RC_TRY(RC_CALL(rc_grammar_matcher_is_accepting)(made, &accepting));
  rc_grammar_matcher* fork = nullptr;
  RC_TRY(RC_CALL(rc_grammar_matcher_fork)(made, &fork));
  rc_grammar_matcher_release(fork);
  RC_TRY(RC_CALL(rc_grammar_matcher_rollback)(made, taken));
  return RC_CALL(rc_grammar_matcher_reset)(made);
}

rc_status grammars(World& world) {
  constexpr char kSchema[] =
      R"({"type": "object", "required": ["a"], "properties": {
          "a": {"enum": [1, "b"]}}, "additionalProperties": false})";
  rc_grammar* made = nullptr;
  RC_TRY(RC_CALL(rc_grammar_create)(world.tokenizer.get(),
                                    RC_GRAMMAR_JSON_SCHEMA, kSchema,
                                    sizeof kSchema - 1, nullptr, &made));
  const Grammar grammar(made);
  RC_CALL(rc_grammar_release)(RC_CALL(rc_grammar_retain)(made));
  return matchers(made);
}

rc_status other_grammars(World& world) {
  const auto one = [&](rc_grammar_kind kind, const char* text) {
    rc_grammar* made = nullptr;
    const rc_status status = RC_CALL(rc_grammar_create)(
        world.tokenizer.get(), kind, text, std::strlen(text), nullptr, &made);
    rc_grammar_release(made);
    return status;
  };
  RC_TRY(one(RC_GRAMMAR_REGEX, "[a-c]+(d|e){2,3}"));
  RC_TRY(one(RC_GRAMMAR_GBNF, "root ::= \"a\" b\nb ::= [0-9]+ | \"c\""));
  RC_TRY(one(RC_GRAMMAR_LARK, "start: \"a\" B\nB: /[0-9]+/"));
  const char* const choices[] = {"yes", "no"};
  rc_grammar* made = nullptr;
  RC_TRY(RC_CALL(rc_grammar_create_choices)(world.tokenizer.get(), choices, 2,
                                            &made));
  rc_grammar_release(made);
  return RC_OK;
}

// A model of tests/golden/embeddings, which stays loaded.
rc_model* golden_model(const World& world, const char* name, rc_output output) {
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.output = output;
  rc_model* model = nullptr;
  EXPECT_OK(rc_model_load(
      world.cpu.get(),
      source_path(std::string("tests/golden/embeddings/") + name).c_str(),
      &options, &model));
  return model;
}

void embed_end(void* user, rc_status status, const char*,
               rc_embedding* embedding) {
  rc_embedding_release(embedding);
  static_cast<End*>(user)->receive(status);
}

using Embedding = std::unique_ptr<rc_embedding, Release<rc_embedding_release>>;

rc_status embedding(World& world) {
  static rc_model* const model =
      golden_model(world, "bert-mean", RC_OUTPUT_AUTO);
  const char* const texts[] = {"dog", "spoon fork runs"};
  rc_embedding* made = nullptr;
  RC_TRY(RC_CALL(rc_embed)(model, texts, nullptr, 2, nullptr, &made));
  const Embedding embedding(made);
  RC_CALL(rc_embedding_release)(RC_CALL(rc_embedding_retain)(made));
  RC_TRY(RC_CALL(rc_embedding_wait)(made, -1));
  const float* rows = nullptr;
  size_t count = 0, columns = 0;
  RC_TRY(RC_CALL(rc_embedding_rows)(made, &rows, &count, &columns));
  End end;
  rc_embedding* running = nullptr;
  RC_TRY(RC_CALL(rc_embed_async)(model, texts, nullptr, 2, nullptr,
                                 world.loop.get(), embed_end, &end, &running));
  const Embedding second(running);
  const rc_status cancelled = RC_CALL(rc_embedding_cancel)(running);
  const rc_status status = await(world.loop.get(), end);
  RC_TRY(cancelled);
  return status == RC_E_CANCELLED ? RC_OK : status;
}

rc_status scoring(World& world) {
  static rc_model* const model =
      golden_model(world, "bert-cross", RC_OUTPUT_AUTO);
  const char* const texts[] = {"dog", "spoon fork runs"};
  rc_embedding* made = nullptr;
  RC_TRY(
      RC_CALL(rc_rerank)(model, "dog", 3, texts, nullptr, 2, nullptr, &made));
  rc_embedding_release(made);
  End end;
  return await(
      RC_CALL(rc_rerank_async)(model, "dog", 3, texts, nullptr, 2, nullptr,
                               world.loop.get(), embed_end, &end, nullptr),
      world.loop.get(), end);
}

constexpr char kText[] =
    "The fox saw the grapes, and the grapes saw the fox. So they parted.";

rc_status evaluating(World& world) {
  rc_evaluate_options options = RC_EVALUATE_OPTIONS_INIT;
  options.text = kText;
  options.text_length = sizeof kText - 1;
  options.context = 32;
  options.against = world.reference_model.get();
  rc_evaluate_report report = RC_EVALUATE_REPORT_INIT;
  RC_TRY(RC_CALL(rc_model_evaluate)(world.model.get(), &options, &report));
  options.against = nullptr;
  End end;
  return await(RC_CALL(rc_model_evaluate_async)(
                   world.model.get(), &options, world.loop.get(),
                   [](void* user, rc_status status, const char*,
                      const rc_evaluate_report*) {
                     static_cast<End*>(user)->receive(status);
                   },
                   &end),
               world.loop.get(), end);
}

rc_status importance(World& world) {
  const std::string to = world.path("importance.gguf");
  rc_importance_options options = RC_IMPORTANCE_OPTIONS_INIT;
  options.text = kText;
  options.text_length = sizeof kText - 1;
  options.context = 32;
  rc_importance_report report = RC_IMPORTANCE_REPORT_INIT;
  RC_TRY(RC_CALL(rc_model_importance)(world.model.get(), to.c_str(), &options,
                                      &report));
  End end;
  return await(RC_CALL(rc_model_importance_async)(
                   world.model.get(), to.c_str(), &options, world.loop.get(),
                   [](void* user, rc_status status, const char*,
                      const rc_importance_report*) {
                     static_cast<End*>(user)->receive(status);
                   },
                   &end),
               world.loop.get(), end);
}

}  // namespace

std::vector<Scenario> text_scenarios() {
  return {{"grammars", grammars, 100},
          {"other_grammars", other_grammars, 100},
          {"embedding", embedding, 100},
          {"scoring", scoring, 100}};
}

std::vector<Scenario> measuring_scenarios() {
  return {{"evaluating", evaluating, 50}, {"importance", importance, 50}};
}

}  // namespace rc::test
