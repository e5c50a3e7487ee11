#include "engine/session_tokens.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace rc::engine {

const text::Tokenizer& tokenizer_of(const model::ModelFile& file) {
  if (file.tokenizer() == nullptr) {
    fail(RC_E_UNSUPPORTED, file.file().name(),
         " has no tokenizer; give tokens instead of text");
  }
  return *file.tokenizer();
}

void check_length(const text::Tokenizer& tokenizer, size_t bytes,
                  const SessionOptions& session, int64_t room) {
  if (session.shift_when_full) return;
  const size_t least = tokenizer.least_tokens(bytes);
  if (least <= static_cast<size_t>(session.context_length - room)) return;
  fail(RC_E_CONTEXT_FULL, "a text of ", bytes, " bytes has at least ", least,
       " tokens and does not fit into the session",
       room > 0 ? cat(" with ", room, " to generate") : std::string(),
       ": its context holds ", session.context_length,
       "; shorten it, let the session shift, or load the model with a larger "
       "context_length");
}

std::vector<TokenId> tokenize(const text::Tokenizer& tokenizer,
                              std::string_view text, uint32_t flags,
                              std::function<bool()> should_stop) {
  text::TokenizeOptions options;
  options.add_special = false;
  options.parse_special = (flags & RC_TOKENIZE_PARSE_SPECIAL) != 0;
  options.should_stop = std::move(should_stop);
  return tokenizer.tokenize(text, options);
}

void add_special(const text::Tokenizer& tokenizer, uint32_t flags,
                 std::vector<TokenId>* tokens) {
  if ((flags & RC_TOKENIZE_ADD_SPECIAL) != 0) tokenizer.add_special(tokens);
}

void check_tokens(const char* what, std::span<const TokenId> tokens,
                  int64_t vocabulary) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < 0 || tokens[i] >= vocabulary) {
      fail(RC_E_INVALID_ARGUMENT, what, "[", i, "] is ", tokens[i],
           "; the vocabulary has ", vocabulary, " tokens");
    }
  }
}

namespace {

// Appends tokens, or embedding rows.
template <class Added>
void append(PageKeeper& pages, SessionState& session, const Added& items,
            int64_t count, int64_t room) {
  const int64_t limit = session.options.context_length - room;
  const bool fits = session.size() + count <= limit;
  if (!fits && !session.options.shift_when_full) {
    fail(RC_E_CONTEXT_FULL, "the session has ", session.size(),
         " tokens and cannot take ", count, " more",
         room > 0 ? cat(" and generate ", room) : std::string(),
         ": its context holds ", session.options.context_length,
         "; truncate it, let it shift, or load the model with a larger "
         "context_length");
  }
  session.items.append(items);
  if (!fits) drop_oldest(pages, session, limit);
  session.changed();
}

}  // namespace

void check_source(const PageKeeper& pages, int64_t tokens) {
  const int64_t longest = pages.longest_source();
  if (tokens <= longest) return;
  fail(RC_E_CONTEXT_FULL, "the source has ", tokens,
       " tokens, but it is read in one step, of at most ", longest,
       "; shorten it, or load the model with a larger context_length");
}

void add_tokens(PageKeeper& pages, SessionState& session,
                std::span<const TokenId> tokens, int64_t room) {
  if (session.first_token >= 0 && session.source == 0) {
    if (tokens.empty()) return;
    check_source(pages, static_cast<int64_t>(tokens.size()));
    std::vector<TokenId> all(tokens.begin(), tokens.end());
    all.push_back(session.first_token);
    append(pages, session, std::span<const TokenId>(all),
           static_cast<int64_t>(all.size()), room);
    session.source = static_cast<int64_t>(tokens.size());
    return;
  }
  append(pages, session, tokens, static_cast<int64_t>(tokens.size()), room);
}

void add_embeddings(PageKeeper& pages, SessionState& session,
                    const std::shared_ptr<const EmbeddingRows>& rows) {
  append(pages, session, rows, rows->count(), 0);
}

void check_takes_embeddings(const Engine& engine, std::string_view what) {
  if (engine.options().takes_embeddings) return;
  fail(RC_E_UNSUPPORTED, what, ": embedding rows, but ",
       engine.file().file().name(),
       " was loaded to take tokens alone; load it with takes_embeddings");
}

void truncate_tokens(PageKeeper& pages, SessionState& session,
                     int64_t position) {
  session.items.truncate(position);
  if (position == 0) session.source = 0;
  session.metered = std::min(session.metered, position);
  pages.truncate(session, position);
  session.changed();
}

void drop_oldest(PageKeeper& pages, SessionState& session, int64_t limit) {
  const int64_t keep = session.options.keep_tokens;
  while (session.size() > limit) {
    session.items.erase(keep, (session.size() - keep) / 2);
  }
  pages.truncate(session, keep);
  session.metered = std::min(session.metered, session.size());
  session.changed();
}

}  // namespace rc::engine
