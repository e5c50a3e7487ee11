package runcible;

/**
 * A part of an answer: a {@link Piece} of text, {@link Reasoning} or a
 * {@link ToolCall}.
 */
public sealed interface Part permits Piece, Reasoning, ToolCall {}
