import java.nio.file.Files;
import java.nio.file.Path;
import runcible.Backend;
import runcible.GenerateOptions;
import runcible.Model;
import runcible.Session;
import runcible.SessionOptions;
import runcible.WhenFull;

/** The child processes of ProcessTest. */
class Children {
  public static void main(String[] arguments) throws Exception {
    switch (arguments[0]) {
      case "returns" -> inFlight();
      case "exits" -> {
        inFlight();
        System.exit(0);
      }
      case "temporary" -> {
        // A file is in the place of the cache.
        Path home = Files.createTempFile("runcible", "home");
        home.toFile().deleteOnExit();
        System.setProperty("user.home", home.toString());
        System.out.println("done " + libraryOf(Backend.open("cpu")));
      }
      default -> System.out.println(Backend.open("cpu").device().id());
    }
  }

  private static void inFlight() throws Exception {
    Model model = Model.load("builtin:fable", Backend.open("cpu"));
    SessionOptions shift = new SessionOptions().whenFull(WhenFull.SHIFT);
    GenerateOptions endless = new GenerateOptions().ignoreEos(true);
    for (int i = 0; i < 3; ++i) {
      model.session(shift).generate("A", endless).next();
      model.session(shift).generateAsync("A", endless);
      model.session(shift).stream("A", endless).subscribe(new Collector());
    }
    // One thread waits within the library when the process ends.
    Session session = model.session(shift);
    Thread reader = new Thread(
        () -> session.generate("A", endless).text());
    reader.setDaemon(true);
    reader.start();
    Thread.sleep(20);
    System.out.println("done");
  }

  /** Returns the file that the library was loaded from. */
  private static String libraryOf(Backend opened) throws Exception {
    try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains("libruncible.so"))
          .map(line -> line.substring(line.indexOf('/'))).findFirst()
          .orElseThrow();
    }
  }
}
