import runcible.GenerateOptions;
import runcible.Model;
import runcible.Piece;

/**
 * The smallest program: loads a model and prints a text that it generates.
 *
 * <pre>java -cp runcible.jar Hello.java [MODEL.gguf [PROMPT]]</pre>
 */
class Hello {
  public static void main(String[] arguments) {
    String path = arguments.length > 0 ? arguments[0] : "builtin:fable";
    String prompt = arguments.length > 1 ? arguments[1] : "Once upon a time";
    try (var model = Model.load(path); var session = model.session()) {
      var options = new GenerateOptions().echo(true).maxTokens(200);
      for (Piece piece : session.generate(prompt, options)) {
        System.out.print(piece);
        System.out.flush();
      }
      System.out.println();
    }
  }
}
