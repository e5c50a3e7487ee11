package runcible;

import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;

/**
 * {@rc tensor.h}
 */
public final class Tensor extends Handle {
  private static final int ALL = Integer.MIN_VALUE;

  final tensor handle;

  Tensor(Object address) {
    this(new tensor((Long) address));
  }

  private Tensor(tensor handle) {
    super(handle);
    this.handle = handle;
  }

  /** Makes a tensor of F32 numbers, row-major, which are copied. */
  public static Tensor of(Backend backend, float[] numbers, long... shape) {
    ByteBuffer bytes = room(numbers.length, Float.BYTES);
    bytes.asFloatBuffer().put(numbers);
    return of(backend, Dtype.F32, bytes.array(), shape);
  }

  /** Makes a tensor of I32 numbers, row-major, which are copied. */
  public static Tensor of(Backend backend, int[] numbers, long... shape) {
    ByteBuffer bytes = room(numbers.length, Integer.BYTES);
    bytes.asIntBuffer().put(numbers);
    return of(backend, Dtype.I32, bytes.array(), shape);
  }

  /**
   * Makes a tensor of memory that is not copied: from the position to the limit
   * of a direct buffer, in the byte order of the machine. The library keeps the
   * buffer as long as it needs it. Writing to the buffer changes the tensor,
   * and ops that go {@link #into} the tensor change the buffer. Do not write
   * while a call uses it.
   *
   * @throws IllegalArgumentException the buffer is not direct, or read-only
   */
  public static Tensor borrow(
      Backend backend, Dtype dtype, ByteBuffer numbers, long... shape) {
    needDirect(numbers);
    if (numbers.isReadOnly()) {
      throw new IllegalArgumentException(
          "a buffer that is read-only cannot be borrowed");
    }
    return new Tensor(
        Native.tensor_borrow(
            backend.handle, dtype.number(), shape, numbers.slice()));
  }

  /**
   * Makes a tensor of the numbers from the position to the limit of a direct
   * buffer, in the byte order of the machine, which are copied.
   *
   * @throws IllegalArgumentException the buffer is not direct
   */
  public static Tensor of(
      Backend backend, Dtype dtype, ByteBuffer numbers, long... shape) {
    needDirect(numbers);
    return new Tensor(
        Native.tensor_of_buffer(
            backend.handle, dtype.number(), shape, numbers.slice()));
  }

  // :api: makers

  /** Returns the type of the elements. */
  public Dtype dtype() {
    return Dtype.of(((Long) Native.tensor_dtype(handle)).intValue());
  }

  /** Returns the dimensions, slowest first. */
  public long[] shape() {
    return (long[]) Native.tensor_shape(handle);
  }

  /** Returns the number of elements. */
  public long size() {
    return (Long) ((Object[]) Native.tensor_size(handle))[0];
  }

  /** Returns the size of the numbers in bytes, in their type. */
  public long byteSize() {
    return (Long) ((Object[]) Native.tensor_size(handle))[1];
  }

  /** {@rc rc_tensor_device} */
  public String device() {
    return Text.decode((byte[]) Native.tensor_device(handle));
  }

  /** {@rc rc_tensor_to} */
  public Tensor to(String device) {
    return new Tensor(Native.tensor_to(handle, null, Text.name(device)));
  }

  /** {@rc rc_tensor_to} */
  public Tensor to(String device, Backend backend) {
    return new Tensor(
        Native.tensor_to(handle, backend.handle, Text.name(device)));
  }

  /** {@rc rc_op_choose} */
  public String choice() {
    return Text.decode((byte[]) Native.op_choose(handle));
  }

  /** Returns the numbers, row-major and dense in the layout of the type. */
  public byte[] read() {
    byte[] made = room(byteSize(), 1).array();
    Native.tensor_read(handle, made);
    return made;
  }

  /**
   * Writes the numbers, row-major and dense in the layout of the type, to a
   * direct buffer from its position on, and advances the position.
   *
   * @throws IllegalArgumentException the buffer is not direct
   * @throws java.nio.BufferOverflowException the buffer is too small
   */
  public void read(ByteBuffer into) {
    needDirect(into);
    if (into.isReadOnly()) {
      throw new ReadOnlyBufferException();
    }
    long size = byteSize();
    if (size > into.remaining()) {
      throw new BufferOverflowException();
    }
    Native.tensor_read_into(handle, into.slice(into.position(), (int) size));
    into.position(into.position() + (int) size);
  }

  /** Returns the numbers as F32, whatever their type; row-major. */
  public float[] toFloats() {
    if (dtype() != Dtype.F32) {
      try (Tensor decoded = dequantize()) {
        return decoded.toFloats();
      }
    }
    ByteBuffer bytes = ByteBuffer.wrap(read()).order(ByteOrder.nativeOrder());
    float[] made = new float[bytes.remaining() / Float.BYTES];
    bytes.asFloatBuffer().get(made);
    return made;
  }

  // Views and ops. Operands may be null only where their comment says so.

  // :api: ops

  /** Adds an input like this tensor to a graph, and returns its stand-in. */
  Tensor standIn(graph recorded) {
    int dtype = ((Long) Native.tensor_dtype(handle)).intValue();
    return new Tensor(
        Native.graph_input(
            recorded, dtype, (long[]) Native.tensor_shape(handle)));
  }

  void addTo(tensor_list list) {
    list.add(handle);
  }

  private static tensor optional(Tensor given) {
    return given == null ? null : given.handle;
  }

  private static void needDirect(ByteBuffer buffer) {
    if (!buffer.isDirect()) {
      throw new IllegalArgumentException(
          "the buffer is not direct; see ByteBuffer.allocateDirect and Pinned");
    }
  }

  private static ByteBuffer room(long count, int size) {
    if (count > Integer.MAX_VALUE / size) {
      throw new IllegalArgumentException(
          count + " elements of " + size
              + " bytes are more than an array of Java holds");
    }
    return ByteBuffer.allocate((int) count * size)
        .order(ByteOrder.nativeOrder());
  }
}
