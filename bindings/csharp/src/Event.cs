using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using Runcible.Native;

namespace Runcible {
  /// <summary>A token and how probable it was.</summary>
  public struct Logprob {
    internal Logprob(int token, float number) {
      Token = token;
      Number = number;
    }

    /// <summary>The token.</summary>
    public int Token { get; }

    /// <summary>The natural logarithm of its probability.</summary>
    public float Number { get; }
  }

  /// <summary>Text that became certain. All pieces in order make the whole
  /// text.</summary>
  public sealed class Piece : Part {
    internal Piece(
        string text, int[] tokens, IReadOnlyList<Logprob> logprobs,
        IReadOnlyList<IReadOnlyList<Logprob>> top) {
      Text = text;
      Tokens = tokens;
      Logprobs = logprobs;
      TopLogprobs = top;
    }

    /// <summary>The text, possibly empty.</summary>
    public string Text { get; }

    /// <summary>The tokens generated since the last piece.</summary>
    public IReadOnlyList<int> Tokens { get; }

    /// <summary>The logarithm of the probability of each token, with the option
    /// Logprobs; else null.</summary>
    public IReadOnlyList<Logprob> Logprobs { get; }

    /// <summary>For each token the most probable tokens in its place, by
    /// falling probability; or null.</summary>
    public IReadOnlyList<IReadOnlyList<Logprob>> TopLogprobs { get; }

    /// <summary>Returns the text.</summary>
    public override string ToString() => Text;
  }

  /// An event of a request: a part, or the end.
  internal sealed class Event {
    /// runcible_event of values.h, which must have the same members.
    [StructLayout(LayoutKind.Sequential)]
    internal struct Raw {
      internal ulong Key;
      internal long Type;
      internal IntPtr Text;
      internal ulong TextLength;
      internal IntPtr Tokens;
      internal ulong TokenCount;
      internal IntPtr Logprobs;
      internal IntPtr TopTokens;
      internal IntPtr TopLogprobs;
      internal ulong TopCount;
      internal IntPtr CallName;
      internal IntPtr CallId;
      internal IntPtr Message;
      internal long Status;
      internal long Reason;
      internal ulong Seed;
      // :api: end_numbers
    }

    /// Returns null if there is none.
    internal static Event Read(Raw raw) => raw.Type < 0 ? null : new Event(raw);

    private Event(Raw raw) {
      Key = raw.Key;
      if (raw.Type != native.EVENT_END) {
        Part = PartOf(raw);
        return;
      }
      Report = new Report(raw);
      if (raw.Status != native.OK) {
        string message = Memory.Text(raw.Message);
        Error = Errors.Of(
            (int)raw.Status,
            message.Length > 0
                ? message : "the generation ended: " + Report.Reason,
            Report);
      }
    }

    internal ulong Key { get; }

    /// The part; null for an end.
    internal Part Part { get; }

    internal Report Report { get; }

    /// The error of an end without success.
    internal Exception Error { get; }

    internal bool IsEnd => Part == null;

    private static Part PartOf(Raw raw) {
      if (raw.Type == native.EVENT_CALL) {
        return new ToolCall(
            Memory.Text(raw.CallId), Memory.Text(raw.CallName),
            Memory.Text(raw.Text, raw.TextLength));
      }
      int[] tokens = Memory.Ints(raw.Tokens, raw.TokenCount);
      var piece = new Piece(
          Memory.Text(raw.Text, raw.TextLength), tokens,
          raw.Logprobs == IntPtr.Zero
              ? null
              : Logprobs(
                  tokens, Memory.Floats(raw.Logprobs, raw.TokenCount), 0,
                  tokens.Length),
          raw.Logprobs == IntPtr.Zero ? null : Top(raw));
      return raw.Type == native.EVENT_REASONING
          ? (Part)new Reasoning(piece) : piece;
    }

    private static IReadOnlyList<IReadOnlyList<Logprob>> Top(Raw raw) {
      ulong all = raw.TokenCount * raw.TopCount;
      int[] tokens = Memory.Ints(raw.TopTokens, all);
      float[] numbers = Memory.Floats(raw.TopLogprobs, all);
      int count = (int)raw.TopCount;
      var top = new List<IReadOnlyList<Logprob>>();
      for (int i = 0; i < (int)raw.TokenCount; ++i) {
        top.Add(Logprobs(tokens, numbers, i * count, count));
      }
      return top;
    }

    private static IReadOnlyList<Logprob> Logprobs(
        int[] tokens, float[] numbers, int first, int count) {
      var logprobs = new Logprob[count];
      for (int i = 0; i < count; ++i) {
        logprobs[i] = new Logprob(tokens[first + i], numbers[first + i]);
      }
      return logprobs;
    }
  }
}
