/* Exercises the ops of tensor.h: every function once, on a backend that is
 * given or on each of reference and cpu; errors and their messages. */
#include "tensor_numbers.h"

static void check_creation(void) {
  const int64_t shape[2] = {2, 3};
  const int64_t long_shape[2] = {200, 300}, blocks[2] = {1, 256};
  const float numbers[6] = {1, 2, 3, 4, 5, 6};
  rc_tensor *t = NULL, *other = NULL;
  rc_dtype dtype = -1;
  static float random[60000], again[60000];
  double sum = 0, squares = 0;
  int i;
  rc_random_options options = RC_RANDOM_OPTIONS_INIT;

  REQUIRE_OK(rc_tensor_create(backend, RC_DTYPE_F32, shape, 2, &t));
  check_shape(__LINE__, t, 2, 2, 3);
  REQUIRE_OK(rc_tensor_dtype(t, &dtype));
  CHECK(dtype == RC_DTYPE_F32);
  EXPECT(t, 0, 0, 0, 0, 0, 0);
  REQUIRE_OK(rc_tensor_ones(backend, RC_DTYPE_F32, shape, 2, &t));
  CHECK(rc_tensor_retain(t) == t);
  rc_tensor_release(t);
  EXPECT(t, 1, 1, 1, 1, 1, 1);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_tensor_dtype(t, &dtype));

  rc_random_options_init(&options, sizeof(options));
  options.seed = 7;
  options.mean = 3;
  options.deviation = 2;
  REQUIRE_OK(rc_tensor_random(backend, long_shape, 2, &options, &t));
  REQUIRE_OK(rc_tensor_random(backend, long_shape, 2, &options, &other));
  REQUIRE_OK(rc_tensor_read(t, random, sizeof(random)));
  REQUIRE_OK(rc_tensor_read(other, again, sizeof(again)));
  CHECK(memcmp(random, again, sizeof(random)) == 0);
  rc_tensor_release(t);
  rc_tensor_release(other);
  for (i = 0; i < 60000; ++i) {
    sum += random[i];
    squares += (random[i] - 3.0) * (random[i] - 3.0);
  }
  CHECK(fabs(sum / 60000 - 3) < 0.05 && fabs(squares / 60000 - 4) < 0.1);
  options.distribution = RC_RANDOM_UNIFORM;
  options.low = -1;
  options.high = 3;
  REQUIRE_OK(rc_tensor_random(backend, long_shape, 2, &options, &t));
  REQUIRE_OK(rc_tensor_read(t, random, sizeof(random)));
  rc_tensor_release(t);
  sum = 0;
  for (i = 0; i < 60000; ++i) {
    CHECK(random[i] >= -1 && random[i] < 3);
    sum += random[i];
  }
  CHECK(fabs(sum / 60000 - 1) < 0.05);

  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_tensor_create(backend, RC_DTYPE_F32, shape, 0, &t));
  CHECK(t == NULL);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_tensor_create(backend, RC_DTYPE_F32, shape, 5, &t));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_tensor_create(backend, 4, shape, 2, &t));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_tensor_create(NULL, RC_DTYPE_F32, shape, 2, &t));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_tensor_create(backend, RC_DTYPE_F32, shape, 2, NULL));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_tensor_create(backend, RC_DTYPE_Q4_0, shape, 2, &t));
  CHECK(strstr(rc_error_message(), "Q4_0 [2, 3]") != NULL);
  CHECK_STATUS(
      RC_E_INVALID_ARGUMENT,
      rc_tensor_from_data(backend, RC_DTYPE_F32, shape, 2, numbers, 20, &t));
  CHECK(strstr(rc_error_message(), "takes 24") != NULL);
  CHECK_STATUS(RC_E_UNSUPPORTED,
               rc_tensor_ones(backend, RC_DTYPE_IQ1_S, blocks, 2, &t));
  options.deviation = -1;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_tensor_random(backend, shape, 2, &options, &t));
}

static void check_views(void) {
  const float numbers[6] = {1, 2, 3, 4, 5, 6};
  const int64_t back[1] = {-1}, wrong[2] = {4, 2};
  rc_tensor *x = make(numbers, 2, 2, 3, 0, 0), *t = NULL, *u = NULL;
  REQUIRE_OK(rc_tensor_transpose(x, 0, -1, &t));
  check_shape(__LINE__, t, 2, 3, 2);
  REQUIRE_OK(rc_tensor_reshape(t, back, 1, &u));
  check_shape(__LINE__, u, 1, 6, 0);
  EXPECT(u, 1, 4, 2, 5, 3, 6);
  EXPECT(t, 1, 4, 2, 5, 3, 6);
  REQUIRE_OK(rc_tensor_slice(x, 1, 0, 3, 2, &t));
  EXPECT(t, 1, 3, 4, 6);
  REQUIRE_OK(rc_tensor_slice(x, -2, 1, 2, 1, &t));
  EXPECT(t, 4, 5, 6);
  REQUIRE_OK(rc_tensor_slice(x, 0, 1, 1, 1, &t));
  check_shape(__LINE__, t, 2, 0, 3);
  rc_tensor_release(t);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_tensor_slice(x, 0, 0, 3, 1, &t));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_tensor_slice(x, 2, 0, 1, 1, &t));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_tensor_slice(x, 0, 0, 1, 0, &t));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_tensor_reshape(x, wrong, 2, &t));
  CHECK(strstr(rc_error_message(), "[2, 3]") != NULL &&
        strstr(rc_error_message(), "[4, 2]") != NULL);
  rc_tensor_release(x);
}

static void check_elements(void) {
  const float numbers[6] = {-2, -1, 0, 0.5f, 1, 2}, row[3] = {10, 20, 30};
  const float column[2] = {100, 200};
  rc_tensor *x = make(numbers, 2, 2, 3, 0, 0), *t = NULL;
  rc_tensor *r = make(row, 1, 3, 0, 0, 0), *c = make(column, 2, 2, 1, 0, 0);
  REQUIRE_OK(rc_op_add(x, r, &t));
  EXPECT(t, 8, 19, 30, 10.5f, 21, 32);
  REQUIRE_OK(rc_op_add(c, r, &t));
  check_shape(__LINE__, t, 2, 2, 3);
  EXPECT(t, 110, 120, 130, 210, 220, 230);
  REQUIRE_OK(rc_op_mul(x, c, &t));
  EXPECT(t, -200, -100, 0, 100, 200, 400);
  rc_tensor_release(c);
  c = make(column, 1, 2, 0, 0, 0);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_add(x, c, &t));
  CHECK(t == NULL && strstr(rc_error_message(), "F32 [2, 3]") != NULL &&
        strstr(rc_error_message(), "F32 [2];") != NULL);
  REQUIRE_OK(rc_op_relu(x, &t));
  EXPECT(t, 0, 0, 0, 0.5f, 1, 2);
  REQUIRE_OK(rc_op_sigmoid(x, &t));
  EXPECT(t, 0.1192029f, 0.2689414f, 0.5f, 0.6224593f, 0.7310586f, 0.8807971f);
  REQUIRE_OK(rc_op_silu(x, &t));
  EXPECT(t, -0.2384058f, -0.2689414f, 0, 0.3112297f, 0.7310586f, 1.7615942f);
  REQUIRE_OK(rc_op_gelu(x, &t));
  EXPECT(t, -0.0455003f, -0.1586553f, 0, 0.3457312f, 0.8413447f, 1.9544997f);
  REQUIRE_OK(rc_op_gelu_tanh(x, &t));
  EXPECT(t, -0.0454023f, -0.1588080f, 0, 0.3457140f, 0.8411920f, 1.9545977f);
  REQUIRE_OK(rc_op_tanh(x, &t));
  EXPECT(t, -0.9640276f, -0.7615942f, 0, 0.4621172f, 0.7615942f, 0.9640276f);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_relu(NULL, &t));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_relu((rc_tensor*)backend, &t));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_relu(x, NULL));
  rc_tensor_release(x);
  rc_tensor_release(r);
  rc_tensor_release(c);
}

static void check_lines(void) {
  const float numbers[6] = {1, 2, 3, 4, 5, 9}, w[3] = {1, 2, 3};
  rc_tensor *x = make(numbers, 2, 2, 3, 0, 0), *t = NULL;
  rc_tensor* weight = make(w, 1, 3, 0, 0, 0);
  int32_t places[2] = {-1, -1};
  REQUIRE_OK(rc_op_softmax(x, 0, &t));
  EXPECT(t, 0.0474259f, 0.0474259f, 0.0024726f, 0.9525741f, 0.9525741f,
         0.9975274f);
  REQUIRE_OK(rc_op_rms_norm(x, weight, 0, &t));
  EXPECT(t, 0.4629100f, 1.8516402f, 4.1662f, 0.6272502f, 1.5681255f,
         4.2339388f);
  REQUIRE_OK(rc_op_layer_norm(x, NULL, weight, 0, &t));
  EXPECT(t, -0.2247449f, 2, 4.2247449f, 0.0741799f, 1.5370900f, 4.3887301f);
  REQUIRE_OK(rc_op_reduce_sum(x, -1, 0, &t));
  check_shape(__LINE__, t, 1, 2, 0);
  EXPECT(t, 6, 18);
  REQUIRE_OK(rc_op_reduce_mean(x, 0, 1, &t));
  check_shape(__LINE__, t, 2, 1, 3);
  EXPECT(t, 2.5f, 3.5f, 6);
  REQUIRE_OK(rc_op_reduce_max(x, RC_ALL_DIMENSIONS, 0, &t));
  EXPECT(t, 9);
  REQUIRE_OK(rc_op_argmax(x, 1, 0, &t));
  REQUIRE_OK(rc_tensor_read(t, places, sizeof(places)));
  CHECK(places[0] == 2 && places[1] == 2);
  rc_tensor_release(t);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_softmax(x, 2, &t));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_reduce_sum(x, 0, 2, &t));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_rms_norm(x, weight, -1, &t));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_rms_norm(x, x, 0, &t));
  CHECK(strstr(rc_error_message(), "weight is F32 [2, 3]") != NULL);
  rc_tensor_release(x);
  rc_tensor_release(weight);
}

static void check_products(void) {
  const float numbers[6] = {1, 2, 3, 4, 5, 6}, other[6] = {1, 0, 2, 1, 0, 3};
  const float biases[2] = {10, -100};
  const float image[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, window[4] = {1, 0, 0, -1};
  rc_conv2d_options convolution = RC_CONV2D_OPTIONS_INIT;
  rc_tensor *a = make(numbers, 2, 2, 3, 0, 0), *b = make(other, 2, 3, 2, 0, 0);
  rc_tensor *bias = make(biases, 1, 2, 0, 0, 0), *w = NULL, *x = NULL,
            *t = NULL;
  rc_tensor *q = NULL, *long_row = NULL;
  const int64_t row[2] = {1, 64};
  float sum = 0;
  REQUIRE_OK(rc_op_matmul(a, b, &t));
  EXPECT(t, 5, 11, 14, 23);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_matmul(a, a, &t));
  CHECK(strstr(rc_error_message(), "a is F32 [2, 3], b is F32 [2, 3]") != NULL);
  REQUIRE_OK(rc_op_matmul_transposed(a, a, &t));
  EXPECT(t, 14, 32, 32, 77);
  REQUIRE_OK(rc_op_fused_linear(a, a, bias, RC_FUNCTION_RELU, &t));
  EXPECT(t, 24, 0, 42, 0);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_fused_linear(a, a, bias, 99, &t));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_matmul_quantized(a, a, &t));

  REQUIRE_OK(rc_tensor_ones(backend, RC_DTYPE_F32, row, 2, &long_row));
  REQUIRE_OK(rc_op_quantize(long_row, RC_DTYPE_Q8_0, &q));
  REQUIRE_OK(rc_op_matmul_quantized(long_row, q, &t));
  REQUIRE_OK(rc_tensor_read(t, &sum, sizeof(sum)));
  CHECK(fabs(sum - 64) < 0.1);
  rc_tensor_release(t);
  REQUIRE_OK(rc_op_dequantize(q, &t));
  rc_tensor_release(t);
  CHECK_STATUS(RC_E_UNSUPPORTED, rc_op_quantize(long_row, RC_DTYPE_MXFP4, &t));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_quantize(a, RC_DTYPE_Q8_0, &t));
  rc_tensor_release(q);
  rc_tensor_release(long_row);

  x = make(image, 4, 1, 1, 3, 3);
  w = make(window, 4, 1, 1, 2, 2);
  REQUIRE_OK(rc_op_conv2d(x, w, NULL, NULL, &t));
  EXPECT(t, -4, -4, -4, -4);
  rc_conv2d_options_init(&convolution, sizeof(convolution));
  convolution.padding[0] = convolution.padding[1] = 1;
  convolution.stride[0] = convolution.stride[1] = 3;
  REQUIRE_OK(rc_op_conv2d(x, w, NULL, &convolution, &t));
  EXPECT(t, -1, 0, 0, 9);
  convolution.groups = 0;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_op_conv2d(x, w, NULL, &convolution, &t));
  rc_tensor_release(a);
  rc_tensor_release(b);
  rc_tensor_release(bias);
  rc_tensor_release(x);
  rc_tensor_release(w);
}

static void check_orders(void) {
  const float numbers[6] = {3, 1, 2, 5, 6, 4};
  const int32_t wanted[4] = {1, 1, 0, 2};
  rc_tensor *x = make(numbers, 2, 2, 3, 0, 0), *t = NULL, *places = NULL;
  rc_tensor* pair[2];
  const int64_t shape[2] = {2, 2};
  int32_t found[6] = {-1, -1, -1, -1, -1, -1};
  int64_t big[3] = {0, 0, 0};
  pair[0] = pair[1] = x;
  REQUIRE_OK(rc_op_sort(x, -1, 0, &t));
  EXPECT(t, 1, 2, 3, 4, 5, 6);
  REQUIRE_OK(rc_op_sort(x, 0, 1, &t));
  EXPECT(t, 5, 6, 4, 3, 1, 2);
  REQUIRE_OK(rc_op_argsort(x, 1, 0, &t));
  REQUIRE_OK(rc_tensor_read(t, found, sizeof(found)));
  rc_tensor_release(t);
  CHECK(found[0] == 1 && found[1] == 2 && found[2] == 0 && found[3] == 2 &&
        found[4] == 0 && found[5] == 1);
  REQUIRE_OK(rc_op_topk(x, 2, 1, &t));
  check_shape(__LINE__, t, 2, 2, 2);
  EXPECT(t, 3, 2, 6, 5);
  REQUIRE_OK(rc_op_argtopk(x, 1, 0, &t));
  check_shape(__LINE__, t, 2, 1, 3);
  REQUIRE_OK(rc_op_take_along(x, t, 0, &places));
  EXPECT(places, 5, 6, 4);
  rc_tensor_release(t);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_topk(x, 4, 1, &t));
  CHECK(strstr(rc_error_message(), "topk: k is 4") != NULL);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_topk(x, -1, 1, &t));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_argtopk(x, 1, 2, &t));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_sort(x, 0, 2, &t));
  REQUIRE_OK(rc_tensor_from_data(backend, RC_DTYPE_I32, shape, 2, wanted,
                                 sizeof(wanted), &places));
  REQUIRE_OK(rc_op_take_along(x, places, 1, &t));
  EXPECT(t, 1, 1, 5, 4);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_take_along(x, places, 0, &t));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_take_along(x, x, 0, &t));
  rc_tensor_release(places);
  REQUIRE_OK(rc_op_cumsum(x, 1, &t));
  EXPECT(t, 3, 4, 6, 5, 11, 15);
  REQUIRE_OK(rc_op_pad(x, 1, 1, 2, -1, &t));
  EXPECT(t, -1, 3, 1, 2, -1, -1, -1, 5, 6, 4, -1, -1);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_pad(x, 1, -1, 2, 0, &t));
  REQUIRE_OK(rc_op_concat(pair, 2, 1, &t));
  check_shape(__LINE__, t, 2, 2, 6);
  EXPECT(t, 3, 1, 2, 3, 1, 2, 5, 6, 4, 5, 6, 4);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_concat(pair, 0, 0, &t));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_concat(NULL, 2, 0, &t));
  pair[1] = NULL;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_concat(pair, 2, 0, &t));
  CHECK(strstr(rc_error_message(), "tensors[1]") != NULL);
  rc_tensor_release(x);
  REQUIRE_OK(rc_tensor_arange(backend, RC_DTYPE_F32, 1, 2, 0.25, &t));
  EXPECT(t, 1, 1.25f, 1.5f, 1.75f);
  REQUIRE_OK(rc_tensor_arange(backend, RC_DTYPE_I64, 9007199254740990.0,
                              9007199254740993.0, 1, &t));
  check_shape(__LINE__, t, 1, 2, 0);
  REQUIRE_OK(rc_tensor_read(t, big, 2 * sizeof(int64_t)));
  CHECK(big[0] == 9007199254740990 && big[1] == 9007199254740991);
  rc_tensor_release(t);
  REQUIRE_OK(rc_tensor_arange(backend, RC_DTYPE_I8, 0, -3, 1, &t));
  check_shape(__LINE__, t, 1, 0, 0);
  rc_tensor_release(t);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_tensor_arange(backend, RC_DTYPE_F32, 0, 1, 0, &t));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_tensor_arange(backend, RC_DTYPE_F32, 0, 1e300, 1, &t));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_tensor_arange(backend, RC_DTYPE_F32, 0, NAN, 1, &t));
  CHECK_STATUS(RC_E_UNSUPPORTED,
               rc_tensor_arange(backend, RC_DTYPE_Q8_0, 0, 32, 1, &t));
}

static void check_sequences(void) {
  const float heads[4] = {1, 0, 0, 1}, table[6] = {1, 2, 3, 4, 5, 6};
  const int32_t numbers[2] = {2, 0}, beyond[2] = {0, 3}, place[2] = {0, 1};
  const float one[1] = {1};
  rc_attention_options attention = RC_ATTENTION_OPTIONS_INIT;
  rc_rope_options rope = RC_ROPE_OPTIONS_INIT;
  rc_tensor *x = make(heads, 3, 2, 1, 2, 0), *t = NULL;
  rc_tensor *rows = make(table, 2, 3, 2, 0, 0), *ids = make_numbers(numbers, 2);
  rc_tensor *bad = make_numbers(beyond, 2), *places = make_numbers(place, 2);
  rc_tensor* frequencies = make(one, 1, 1, 0, 0, 0);
  rc_attention_options_init(&attention, sizeof(attention));
  attention.causal = 1;
  attention.scale = 1;
  REQUIRE_OK(rc_op_attention(x, x, x, &attention, &t));
  EXPECT(t, 1, 0, 0.2689414f, 0.7310586f);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_attention(x, rows, x, NULL, &t));
  CHECK(strstr(rc_error_message(), "q is F32 [2, 1, 2], k is F32 [3, 2]") !=
        NULL);
  rc_rope_options_init(&rope, sizeof(rope));
  REQUIRE_OK(rc_op_rope(x, places, NULL, &rope, &t));
  EXPECT(t, 1, 0, -0.8414710f, 0.5403023f);
  REQUIRE_OK(rc_op_rope(x, places, frequencies, NULL, &t));
  EXPECT(t, 1, 0, -0.8414710f, 0.5403023f);
  rope.dimensions = 3;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_rope(x, places, NULL, &rope, &t));
  REQUIRE_OK(rc_op_gather_rows(rows, ids, &t));
  EXPECT(t, 5, 6, 1, 2);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_gather_rows(rows, bad, &t));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_gather_rows(rows, rows, &t));
  rc_tensor_release(x);
  rc_tensor_release(rows);
  rc_tensor_release(ids);
  rc_tensor_release(bad);
  rc_tensor_release(places);
  rc_tensor_release(frequencies);
}

/* Whatever the device has, F64 and F16 are what they are. */
static void check_types(void) {
  static const double wide[3] = {1e300, 1.0 + 0x1p-52, -3};
  static const uint16_t halves[3] = {0x3C00, 0x3C01, 0xC000};
  const int64_t shape[1] = {3};
  double sums[3] = {0, 0, 0};
  uint16_t products[3] = {0, 0, 0};
  rc_dtype dtype = -1;
  rc_tensor *x = NULL, *y = NULL;
  REQUIRE_OK(rc_tensor_from_data(backend, RC_DTYPE_F64, shape, 1, wide,
                                 sizeof wide, &x));
  REQUIRE_OK(rc_op_neg(x, &y));
  CHECK_STATUS(RC_OK, rc_tensor_dtype(y, &dtype));
  CHECK(dtype == RC_DTYPE_F64);
  CHECK_STATUS(RC_OK, rc_tensor_read(y, sums, sizeof sums));
  CHECK(sums[0] == -wide[0] && sums[1] == -wide[1] && sums[2] == 3);
  rc_tensor_release(x);
  rc_tensor_release(y);
  REQUIRE_OK(rc_tensor_from_data(backend, RC_DTYPE_F16, shape, 1, halves,
                                 sizeof halves, &x));
  /* 1, (1 + 2^-10)^2, whose last digit is lost, and 4. */
  REQUIRE_OK(rc_op_mul(x, x, &y));
  CHECK_STATUS(RC_OK, rc_tensor_dtype(y, &dtype));
  CHECK(dtype == RC_DTYPE_F16);
  CHECK_STATUS(RC_OK, rc_tensor_read(y, products, sizeof products));
  CHECK(products[0] == 0x3C00 && products[1] == 0x3C02 &&
        products[2] == 0x4400);
  rc_tensor_release(x);
  rc_tensor_release(y);
}

int main(int argc, char** argv) {
  static const char* const kSpecs[] = {"reference", "cpu"};
  int i;
  for (i = 0; i < (argc > 1 ? 1 : 2); ++i) {
    REQUIRE_OK(rc_backend_open(argc > 1 ? argv[1] : kSpecs[i], NULL, &backend));
    check_creation();
    check_views();
    check_elements();
    check_lines();
    check_products();
    check_sequences();
    check_orders();
    check_types();
    rc_backend_release(backend);
  }
  return CHECK_RESULT();
}
