package runcible;

import java.util.List;

/**
 * A whole answer.
 *
 * @param text what the model said
 * @param reasoning what it thought before
 * @param toolCalls the tools that it calls
 * @param report how it ended: by {@link EndReason#TOOL_CALLS} after some
 */
public record Reply(
    String text, String reasoning, List<ToolCall> toolCalls, Report report) {}
