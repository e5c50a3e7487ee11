package runcible;

import java.util.List;

/**
 * A whole answer.
 *
 * @param text the text of the answer
 * @param reasoning the text that the model thought before it
 * @param toolCalls the calls of tools
 * @param report how it ended: by {@link EndReason#TOOL_CALLS} if there are
 *     calls
 */
public record Reply(
    String text, String reasoning, List<ToolCall> toolCalls, Report report) {}
