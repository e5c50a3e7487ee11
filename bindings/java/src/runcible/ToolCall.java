package runcible;

/**
 * A call of a tool, as a whole.
 *
 * @param id which its result names; see {@link Message#toolResult}
 * @param name the name of the tool
 * @param arguments a JSON object
 */
public record ToolCall(String id, String name, String arguments)
    implements Part {}
