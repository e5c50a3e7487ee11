package runcible;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Finds and loads the library and its parts: backends, model, and libraries of
 * other projects that may be missing on a machine.
 *
 * <p>Uses the folder in the system property {@code runcible.home} if that is
 * set. Otherwise uses the jar's own files, unpacked to the user's cache once
 * for each content: the loader of the system needs files, and files that stay
 * make the second start quick and leave nothing behind when a process is
 * killed. If the cache cannot be written, uses a temporary folder, which the
 * process deletes.
 */
final class Library {
  /** Within the jar: a folder for each platform, with a list of its files. */
  private static final String ROOT = "/runcible/native/" + platform() + "/";

  private Library() {}

  static void load() {
    try {
      String given = System.getProperty("runcible.home");
      Path home = given != null ? Path.of(given).toAbsolutePath() : unpacked();
      // Each library comes after the libraries that it needs.
      for (String name : Files.readAllLines(home.resolve("load"))) {
        System.load(home.resolve(name).toString());
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static String platform() {
    String system = System.getProperty("os.name").toLowerCase();
    return system + "-" + System.getProperty("os.arch");
  }

  private static InputStream open(String name) throws IOException {
    InputStream found = Library.class.getResourceAsStream(ROOT + name);
    if (found == null) {
      throw new IOException(
          "this jar of runcible has no " + ROOT + name
              + ": it was built for another platform");
    }
    return found;
  }

  private static String read(String name) throws IOException {
    try (InputStream stream = open(name)) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static Path unpacked() throws IOException {
    // The list ends with a checksum of all the files.
    List<String> files = read("files").lines().toList();
    String content = files.get(files.size() - 1);
    files = files.subList(0, files.size() - 1);
    Path folder = cache();
    if (folder == null) {
      Path made = Files.createTempDirectory("runcible");
      Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(made)));
      unpack(files, made);
      return made;
    }
    Path home = folder.resolve("java-" + content);
    if (Files.isRegularFile(home.resolve("load"))) {
      return home;
    }
    // The folder appears whole or not at all, also if several processes unpack.
    Path made = Files.createTempDirectory(folder, "unpacking");
    try {
      unpack(files, made);
      Files.move(made, home);
    } catch (IOException failure) {
      if (!Files.isRegularFile(home.resolve("load"))) {
        throw failure;
      }
    } finally {
      delete(made);
    }
    return home;
  }

  private static void unpack(List<String> files, Path to) throws IOException {
    for (String name : files) {
      Path file = to.resolve(name);
      Files.createDirectories(file.getParent());
      try (InputStream stream = open(name)) {
        Files.copy(stream, file);
      }
      Files.setPosixFilePermissions(
          file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
  }

  /** Returns a folder that only this user writes to; null if there is none. */
  private static Path cache() {
    String given = System.getenv("XDG_CACHE_HOME");
    Path cache = given != null && given.startsWith("/")
        ? Path.of(given)
        : Path.of(System.getProperty("user.home"), ".cache");
    try {
      Path folder = cache.resolve("runcible");
      if (!Files.isDirectory(folder)) {
        Files.createDirectories(folder);
        Files.setPosixFilePermissions(
            folder, PosixFilePermissions.fromString("rwx------"));
      }
      return Files.isWritable(folder) ? folder : null;
    } catch (IOException | UnsupportedOperationException refused) {
      return null;
    }
  }

  private static void delete(Path folder) {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      files.sorted(Comparator.reverseOrder()).forEach(
          file -> file.toFile().delete());
    } catch (IOException left) {
      // Files that cannot be deleted stay in a temporary folder.
    }
  }
}
