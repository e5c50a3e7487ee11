// CONV2D: a group gives a tile of the product of the weights [outputs, k] of a
// group of channels with the k numbers of x that the window covers at each place
// of the output. See product.cl.

#define FUNCTION 0
#include "product.cl"
#include "tile.cl"

#define column_at(place) (place)

// The right factor [k, n]: column p is what the window covers at place p.
typedef struct {
  Floats x;
  int n, k;
  int height, width, window_height, window_width, out_width;
  int stride_down, stride_across, padding_down, padding_across;
  int dilation_down, dilation_across;
} Right;

INLINE void bring_b(local float* tile, const Right* b, int column0, int begin,
                    int item) {
  for (int i = item; i < DEPTH * (TILE_COLUMNS / LANES); i += GROUP_ITEMS) {
    const int line = i / (TILE_COLUMNS / LANES);
    const int column = i % (TILE_COLUMNS / LANES) * LANES;
    local float* to = tile + line * B_LINE + column;
    const int place = begin + line;
    const int v =
        place % b->window_width * b->dilation_across - b->padding_across;
    const int u = place / b->window_width % b->window_height * b->dilation_down -
                  b->padding_down;
    Floats plane = b->x + (ulong)(place / b->window_width / b->window_height) *
                              b->height * b->width;
    int down = (column0 + column) / b->out_width;
    int across = (column0 + column) % b->out_width;
    const int count =
        place < b->k ? clamp(b->n - column0 - column, 0, LANES) : 0;
    for (int j = 0; j < LANES; ++j) {
      const int row = down * b->stride_down + u;
      const int at = across * b->stride_across + v;
      const bool inside = j < count && row >= 0 && row < b->height &&
                          at >= 0 && at < b->width;
      to[j] = inside ? plane[(ulong)row * b->width + at] : 0.0f;
      if (++across == b->out_width) {
        across = 0;
        ++down;
      }
    }
  }
}

#include "tiled.cl"

// group_channels and group_outputs: those of a group of channels; channels,
// outputs: of all; places: of a plane of the output. All channels of a group,
// from `begin` to before `end`, are summed at once.
#define BUFFERS(INPUT, OUTPUT)                                          \
  COUNTS(INPUT) INPUT(float, x) INPUT(float, weight) INPUT(float, bias) \
  OUTPUT(float, y)
#define PARAMETERS(P)                                                         \
  GROUP_PARAMETERS(P) P(uint, x_base) P(uint, weight_base) P(uint, bias_base) \
  P(uint, y_base) P(uint, channels) P(uint, group_channels) P(uint, height)   \
  P(uint, width) P(uint, outputs) P(uint, group_outputs)                      \
  P(uint, window_height) P(uint, window_width) P(uint, places)                \
  P(uint, y_width) P(uint, place_blocks) P(uint, output_blocks)               \
  P(uint, stride_down) P(uint, stride_across) P(uint, padding_down)           \
  P(uint, padding_across) P(uint, dilation_down) P(uint, dilation_across)     \
  P(uint, has_bias) P(uint, begin) P(uint, end)
KERNEL(conv2d) {
  OPEN
  TILES
  const uint group = GROUP_NUMBER;
  if (NOTHING_TO_DO(group)) return;
  const int column0 = group % place_blocks * TILE_COLUMNS;
  const int row0 = group / place_blocks % output_blocks * TILE_ROWS;
  const uint channel_groups = outputs / group_outputs;
  const uint rest = group / place_blocks / output_blocks;
  const uint image = rest / channel_groups;
  const uint channel_group = rest % channel_groups;
  const uint output = channel_group * group_outputs;
  const int k = group_channels * window_height * window_width;
  const Right right = {
      x + x_base +
          ((ulong)image * channels + channel_group * group_channels) * height *
              width,
      places, k, height, width, window_height, window_width, y_width,
      stride_down, stride_across, padding_down, padding_across, dilation_down,
      dilation_across};
  tiled(weight + weight_base + (ulong)output * k, &right, row0, column0,
        group_outputs, places, k, 0, has_bias ? bias + bias_base + output : 0,
        y + y_base + ((ulong)image * outputs + output) * places, a_tile, b_tile,
        get_local_id(0));
}
