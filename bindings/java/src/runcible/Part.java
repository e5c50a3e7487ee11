package runcible;

/**
 * What an answer consists of: a {@link Piece} of text, {@link Reasoning} or a
 * {@link ToolCall}.
 */
public sealed interface Part permits Piece, Reasoning, ToolCall {}
