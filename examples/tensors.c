/* Computes with tensors, without a model: draws a ring, finds its edges with a
 * convolution, and prints both. Everything stays on the device until it is
 * read.
 *
 *     cc tensors.c -o tensors \
 *       $(pkg-config --cflags --libs runcible)
 *
 *     ./tensors [BACKEND]
 */
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>

enum { kHeight = 16, kWidth = 32 };

static void check(rc_status status) {
  if (status == RC_OK) return;
  fprintf(stderr, "%s\n", rc_error_message());
  exit(EXIT_FAILURE);
}

static void print(rc_tensor* picture) {
  static float pixels[kHeight * kWidth];
  int i, j;
  check(rc_tensor_read(picture, pixels, sizeof(pixels)));
  for (i = 0; i < kHeight; ++i) {
    for (j = 0; j < kWidth; ++j) {
      putchar(" .:+#"[(int)(4.99f * pixels[i * kWidth + j])]);
    }
    putchar('\n');
  }
}

int main(int argc, char** argv) {
  /* The Laplace operator: how much a pixel differs from its neighbours. */
  static const float kEdges[9] = {-1, -1, -1, -1, 8, -1, -1, -1, -1};
  static const float kEighth = 1.0f / 8;
  static const int64_t kScalar[1] = {1}, kWindow[4] = {1, 1, 3, 3};
  static const int64_t kPicture[4] = {1, 1, kHeight, kWidth};
  static float pixels[kHeight * kWidth];
  rc_backend* backend = NULL;
  rc_tensor *ring = NULL, *window = NULL, *differences = NULL;
  rc_tensor *rising = NULL, *eighth = NULL, *edges = NULL;
  rc_conv2d_options options = RC_CONV2D_OPTIONS_INIT;
  int i, j;

  for (i = 0; i < kHeight; ++i) {
    for (j = 0; j < kWidth; ++j) {
      const float y = (float)(i - kHeight / 2), x = (float)(j - kWidth / 2) / 2;
      const float square = x * x + y * y;
      pixels[i * kWidth + j] = square > 12 && square < 50 ? 1.0f : 0.0f;
    }
  }

  check(RC_ABI_CHECK());
  check(rc_backend_open(argc > 1 ? argv[1] : NULL, NULL, &backend));
  check(rc_tensor_from_data(backend, RC_DTYPE_F32, kPicture, 4, pixels,
                            sizeof(pixels), &ring));
  check(rc_tensor_from_data(backend, RC_DTYPE_F32, kWindow, 4, kEdges,
                            sizeof(kEdges), &window));
  check(rc_tensor_from_data(backend, RC_DTYPE_F32, kScalar, 1, &kEighth,
                            sizeof(kEighth), &eighth));

  options.padding[0] = options.padding[1] = 1; /* the size stays */
  check(rc_op_conv2d(ring, window, NULL, &options, &differences));
  check(rc_op_relu(differences, &rising));
  check(rc_op_mul(rising, eighth, &edges)); /* one number for all pixels */
  print(ring);
  print(edges);

  rc_tensor_release(edges);
  rc_tensor_release(eighth);
  rc_tensor_release(rising);
  rc_tensor_release(differences);
  rc_tensor_release(window);
  rc_tensor_release(ring);
  rc_backend_release(backend);
  return EXIT_SUCCESS;
}
