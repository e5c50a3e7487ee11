// Embedding rows of sessions through the C functions.
#include <algorithm>
#include <cstring>
#include <vector>

#include "tensor/dtype.h"
#include "tensor_util.h"

namespace rc::test {
namespace {

constexpr int64_t kWidth = 64;  // of the small model

class SessionEmbeddings : public testing::Test {
 protected:
  static Model load(const Backend& backend, int32_t takes) {
    rc_model_options options = RC_MODEL_OPTIONS_INIT;
    options.context_length = 64;
    options.takes_embeddings = takes;
    rc_model* model = nullptr;
    EXPECT_OK(
        rc_model_load(backend.get(), model_path().c_str(), &options, &model));
    return Model(model);
  }
  Tensor rows(rc_dtype dtype, const std::vector<int64_t>& shape) {
    size_t count = 1;
    for (const int64_t size : shape) count *= static_cast<size_t>(size);
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i) {
      values[i] = static_cast<float>(i % 17) / 16 - 0.5f;
    }
    std::vector<std::byte> bytes(
        *row_bytes(dtype, static_cast<int64_t>(count)));
    encode_row(dtype, values.data(), bytes.data(), static_cast<int64_t>(count));
    rc_tensor* tensor = nullptr;
    EXPECT_OK(rc_tensor_from_data(backend_.get(), dtype, shape.data(),
                                  static_cast<int32_t>(shape.size()),
                                  bytes.data(), bytes.size(), &tensor));
    return Tensor(tensor);
  }
  std::vector<float> logits_after(rc_tensor* added) {
    const Session session = create_session(model_.get());
    EXPECT_OK(rc_session_append(session.get(), kTokens, 3));
    EXPECT_OK(rc_session_append_embeddings(session.get(), added));
    EXPECT_OK(rc_session_decode(session.get(), 0));
    const float* logits = nullptr;
    size_t count = 0, vocabulary = 0;
    EXPECT_OK(rc_session_logits(session.get(), &logits, &count, &vocabulary));
    return {logits, logits + vocabulary};
  }

  static constexpr int32_t kTokens[] = {1, 5, 7};
  const Backend backend_ = open_backend("cpu");
  const Model model_ = load(backend_, 1);
};

TEST_F(SessionEmbeddings, TakeOnePositionEachAndAreNotTokens) {
  const Session session = create_session(model_.get());
  ASSERT_OK(rc_session_append(session.get(), kTokens, 3));
  ASSERT_OK(rc_session_append_embeddings(
      session.get(), rows(RC_DTYPE_F32, {4, kWidth}).get()));
  ASSERT_OK(rc_session_append(session.get(), kTokens, 1));
  int64_t position = 0;
  ASSERT_OK(rc_session_position(session.get(), &position));
  EXPECT_EQ(position, 8);
  int32_t* tokens = nullptr;
  size_t count = 0;
  ASSERT_OK(rc_session_tokens(session.get(), &tokens, &count));
  const std::vector<int32_t> expected = {1, 5, 7, -1, -1, -1, -1, 1};
  EXPECT_EQ(std::vector<int32_t>(tokens, tokens + count), expected);
  rc_free(tokens);
  EXPECT_NE(generate(session.get()), "");
}

// The numbers of the rows are exact in each type.
TEST_F(SessionEmbeddings, GiveTheSameLogitsInEveryTypeAndFromViews) {
  const Tensor exact = rows(RC_DTYPE_F32, {4, kWidth});
  const std::vector<float> expected = logits_after(exact.get());
  EXPECT_EQ(logits_after(rows(RC_DTYPE_F16, {4, kWidth}).get()), expected);
  EXPECT_EQ(logits_after(rows(RC_DTYPE_BF16, {4, kWidth}).get()), expected);
  rc_tensor* turned = nullptr;
  ASSERT_OK(rc_tensor_transpose(exact.get(), 0, 1, &turned));
  const Tensor columns(turned);
  rc_tensor* dense = nullptr;
  rc_tensor* const all[] = {columns.get()};
  ASSERT_OK(rc_op_concat(all, 1, 0, &dense));
  const Tensor other(dense);
  rc_tensor* back = nullptr;
  ASSERT_OK(rc_tensor_transpose(other.get(), 0, 1, &back));
  EXPECT_EQ(logits_after(Tensor(back).get()), expected);
}

TEST_F(SessionEmbeddings, RefusedRowsAreNamedAndNotAppended) {
  const Session session = create_session(model_.get());
  ASSERT_OK(rc_session_append(session.get(), kTokens, 3));
  const auto refuse = [&](rc_status status, rc_tensor* added,
                          const char* part) {
    EXPECT_EQ(rc_session_append_embeddings(session.get(), added), status);
    EXPECT_NE(std::strstr(rc_error_message(), part), nullptr)
        << rc_error_message();
    int64_t position = 0;
    EXPECT_OK(rc_session_position(session.get(), &position));
    EXPECT_EQ(position, 3);
  };
  refuse(RC_E_INVALID_ARGUMENT, nullptr, "rows: NULL");
  refuse(RC_E_INVALID_ARGUMENT, rows(RC_DTYPE_F32, {4, 32}).get(),
         "rows: F32 [4, 32], but embedding rows of ");
  refuse(RC_E_INVALID_ARGUMENT, rows(RC_DTYPE_F32, {kWidth}).get(),
         " are F32, F16 or BF16 [count, 64]");
  refuse(RC_E_INVALID_ARGUMENT, rows(RC_DTYPE_F32, {1, 4, kWidth}).get(),
         "rows: F32 [1, 4, 64]");
  refuse(RC_E_INVALID_ARGUMENT, rows(RC_DTYPE_I32, {4, kWidth}).get(),
         "rows: I32 [4, 64]");
  refuse(RC_E_CONTEXT_FULL, rows(RC_DTYPE_F32, {65, kWidth}).get(),
         "65 embedding rows, but the session's context holds 64");
  refuse(RC_E_CONTEXT_FULL, rows(RC_DTYPE_F32, {62, kWidth}).get(),
         "the session has 3 tokens and cannot take 62 more");
  std::vector<float> values(2 * kWidth, 0.5f);
  values[kWidth + 3] = kNan;
  const int64_t shape[] = {2, kWidth};
  refuse(RC_E_INVALID_ARGUMENT, make(backend_.get(), {2, kWidth}, values).get(),
         "rows: number 3 of row 1 is nan");
  rc_tensor* outline = nullptr;
  ASSERT_OK(
      rc_tensor_outline(backend_.get(), RC_DTYPE_F32, shape, 2, &outline));
  refuse(RC_E_INVALID_ARGUMENT, Tensor(outline).get(), "outline");
  // An empty tensor of rows is accepted.
  EXPECT_OK(rc_session_append_embeddings(
      session.get(), rows(RC_DTYPE_F32, {0, kWidth}).get()));
  refuse(RC_E_INVALID_ARGUMENT, nullptr, "rows: NULL");
}

TEST_F(SessionEmbeddings, NeedAModelLoadedWithTakesEmbeddings) {
  const Model plain = load(backend_, 0);
  const Session session = create_session(plain.get());
  EXPECT_EQ(rc_session_append_embeddings(session.get(),
                                         rows(RC_DTYPE_F32, {4, kWidth}).get()),
            RC_E_UNSUPPORTED);
  EXPECT_NE(std::strstr(rc_error_message(), "load it with takes_embeddings"),
            nullptr)
      << rc_error_message();
}

TEST_F(SessionEmbeddings, AreTakenFromAnotherBackend) {
  const Tensor here = rows(RC_DTYPE_F32, {4, kWidth});
  const std::vector<float> expected = logits_after(here.get());
  const Backend reference = open_backend("reference");
  rc_tensor* moved = nullptr;
  ASSERT_OK(rc_tensor_to(here.get(), reference.get(), nullptr, &moved));
  EXPECT_EQ(logits_after(Tensor(moved).get()), expected);
}

}  // namespace
}  // namespace rc::test
