// The items of a session: adding some, and making room where there is none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/page_keeper.h"
#include "engine/session_state.h"
#include "model/model_file.h"

namespace rc::engine {

// Throws RC_E_UNSUPPORTED if the model has no tokenizer. Any thread.
const text::Tokenizer& tokenizer_of(const model::ModelFile& file);

// Throws RC_E_CONTEXT_FULL if a text of so many bytes can never fit into a
// session with `room` more tokens, whatever it says. Any thread.
void check_length(const text::Tokenizer& tokenizer, size_t bytes,
                  const SessionOptions& session, int64_t room);

// `flags` are RC_TOKENIZE_*. Without the special tokens, which belong to the
// start of a session. Any thread. Throws RC_E_CANCELLED if should_stop says so.
std::vector<TokenId> tokenize(const text::Tokenizer& tokenizer,
                              std::string_view text, uint32_t flags,
                              std::function<bool()> should_stop = {});
// Adds the special tokens, if the flags ask for it.
void add_special(const text::Tokenizer& tokenizer, uint32_t flags,
                 std::vector<TokenId>* tokens);

// Throws RC_E_INVALID_ARGUMENT with the place and value of a token that is not
// in the vocabulary. `what` names the list. Any thread.
void check_tokens(const char* what, std::span<const TokenId> tokens,
                  int64_t vocabulary);

// Appends tokens, leaving room for `room` more. If they do not fit, throws
// RC_E_CONTEXT_FULL and changes nothing, or drops the oldest where the session
// shifts. Where the model reads a source the first tokens are it, whole, and
// the token that generation begins with follows them. Engine thread.
void add_tokens(PageKeeper& pages, SessionState& session,
                std::span<const TokenId> tokens, int64_t room);

// The same with embedding rows, where the model reads no source. Engine thread.
void add_embeddings(PageKeeper& pages, SessionState& session,
                    const std::shared_ptr<const EmbeddingRows>& rows);

// Throws RC_E_UNSUPPORTED if the engine was made to take no embedding rows;
// `what` has some. Any thread.
void check_takes_embeddings(const Engine& engine, std::string_view what);

// Drops all tokens from `position` on, which is 0 to the session's size and not
// within a source. Engine thread.
void truncate_tokens(PageKeeper& pages, SessionState& session,
                     int64_t position);

// Throws RC_E_CONTEXT_FULL for a source that no step can read.
void check_source(const PageKeeper& pages, int64_t tokens);

// Drops the oldest tokens after the first `keep_tokens`, half of the rest at a
// time, until at most `limit` are left. At least one is left to evaluate.
// Engine thread.
void drop_oldest(PageKeeper& pages, SessionState& session, int64_t limit);

}  // namespace rc::engine
