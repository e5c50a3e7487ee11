using System;
using System.Runtime.InteropServices;
using System.Text;
using Runcible.Native;

namespace Runcible {
  /// Converts between memory of the library and objects of C#. Functions whose
  /// name begins with Take free the memory that they read.
  internal static class Memory {
    private static readonly UTF8Encoding utf8 = new UTF8Encoding(false, true);

    /// Encodes a text; throws ArgumentException for half of a surrogate pair.
    internal static byte[] Encode(string text) => utf8.GetBytes(text);

    /// Encodes a text for C, where a NUL ends it: it must not contain one.
    internal static byte[] Name(string text) {
      int zero = text.IndexOf((char)0);
      if (zero >= 0) {
        throw new ArgumentException(
            "there is a NUL character at " + zero + " of a name or path");
      }
      return utf8.GetBytes(text + (char)0);
    }

    /// Decodes UTF-8; invalid bytes become U+FFFD.
    internal static string Text(IntPtr text) {
      if (text == IntPtr.Zero) {
        return null;
      }
      int length = 0;
      while (Marshal.ReadByte(text, length) != 0) {
        ++length;
      }
      return Text(text, (ulong)length);
    }

    internal static string Text(IntPtr text, ulong length) =>
        Encoding.UTF8.GetString(Bytes(text, length));

    internal static byte[] Bytes(IntPtr data, ulong size) {
      byte[] made = new byte[size];
      if (size > 0) {
        Marshal.Copy(data, made, 0, made.Length);
      }
      return made;
    }

    internal static int[] Ints(IntPtr data, ulong count) {
      int[] made = new int[count];
      if (count > 0) {
        Marshal.Copy(data, made, 0, made.Length);
      }
      return made;
    }

    internal static float[] Floats(IntPtr data, ulong count) {
      float[] made = new float[count];
      if (count > 0) {
        Marshal.Copy(data, made, 0, made.Length);
      }
      return made;
    }

    /// Copies numbers to an array of [rows, columns].
    internal static float[,] Rows(IntPtr data, ulong rows, ulong columns) {
      float[,] made = new float[rows, columns];
      float[] row = new float[columns];
      for (int i = 0; i < (int)rows; ++i) {
        Marshal.Copy(
            new IntPtr(data.ToInt64() + (long)i * row.Length * sizeof(float)),
            row, 0, row.Length);
        Buffer.BlockCopy(
            row, 0, made, i * row.Length * sizeof(float),
            row.Length * sizeof(float));
      }
      return made;
    }

    internal static string TakeText(IntPtr text) {
      try {
        return Text(text);
      } finally {
        native.free_memory(text);
      }
    }

    internal static byte[] TakeBytes(IntPtr data, ulong size) {
      try {
        return Bytes(data, size);
      } finally {
        native.free_memory(data);
      }
    }

    internal static int[] TakeInts(IntPtr data, ulong count) {
      try {
        return Ints(data, count);
      } finally {
        native.free_memory(data);
      }
    }
  }
}
