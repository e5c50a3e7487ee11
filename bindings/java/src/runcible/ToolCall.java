package runcible;

/**
 * A complete call of a tool.
 *
 * @param id the id, which its result repeats; see {@link Message#toolResult}
 * @param name the name of the tool
 * @param arguments a JSON object
 */
public record ToolCall(String id, String name, String arguments)
    implements Part {}
