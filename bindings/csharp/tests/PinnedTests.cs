using System;
using System.Buffers;
using System.Linq;
using Runcible;

/// Memory that devices copy from and to directly.
class PinnedTests {
  private readonly Backend backend = new Backend("cpu");

  public void TestPinnedMemory() {
    foreach (string spec in new[] { "cpu", "reference", "opencl", "vulkan" }) {
      Backend device;
      try {
        device = new Backend(spec);
      } catch (BackendUnavailableException) {
        continue;
      }
      var from = new Pinned<double>(device, 100);
      var to = new Pinned<double>(device, 100);
      double[] numbers = Enumerable.Range(0, 100).Select(i => (double)i).ToArray();
      numbers.CopyTo(from.Memory);
      Tensor moved = Tensor.From(device, from.GetSpan(), 10, 10);
      from.GetSpan().Clear(); // does not change the tensor, a copy
      moved.Neg().Read(to.GetSpan());
      Check.Same(numbers.Select(each => -each), to.Memory.ToArray());
      from.Dispose();
      to.Dispose();
      to.Dispose();
    }
  }

  public unsafe void TestClosedPinnedMemoryThrows() {
    var memory = new Pinned<int>(backend, 4);
    Memory<int> kept = memory.Memory;
    new[] { 5 }.CopyTo(kept.Slice(2));
    MemoryHandle held = kept.Pin();
    memory.Dispose();
    Check.That(memory.IsClosed);
    Check.Equal(5, ((int*)held.Pointer)[2]);
    held.Dispose();
    Check.Throws<ClosedException>(() => kept.Span.Clear());
    Check.Throws<ClosedException>(() => kept.Pin());
    Check.Throws<ClosedException>(() => memory.GetSpan());
    Check.Throws<ClosedException>(() => Tensor.Borrow(backend, memory, 4));
  }

  public void TestInvalidArgumentsOfPinnedThrow() {
    Check.Throws<ArgumentOutOfRangeException>(
        () => new Pinned<float>(backend, 0));
    Check.Throws<ArgumentException>(() => new Pinned<char>(backend, 1));
    Tensor x = Tensor.From(backend, new float[] { 1, 2, 3 }, 3);
    Check.Throws<ArgumentException>(() => x.Read<int>(new int[3]));
    var bytes = new byte[12];
    x.Read<byte>(bytes);
    Check.Equal(3f, BitConverter.ToSingle(bytes, 8));
  }
}
