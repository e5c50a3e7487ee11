package runcible;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The settings of an options object; others have the default of the library.
 *
 * @param <T> the class that SWIG generates for the options struct
 */
final class Settings<T extends AutoCloseable> {
  private final Supplier<T> maker;
  private final List<Consumer<T>> settings;

  Settings(Supplier<T> maker) {
    this(maker, new ArrayList<>());
  }

  private Settings(Supplier<T> maker, List<Consumer<T>> settings) {
    this.maker = maker;
    this.settings = settings;
  }

  void add(Consumer<T> setting) {
    settings.add(setting);
  }

  Settings<T> copy() {
    return new Settings<>(maker, new ArrayList<>(settings));
  }

  /** Makes options for the library; the caller closes them. */
  T make() {
    T made = maker.get();
    try {
      settings.forEach(setting -> setting.accept(made));
      return made;
    } catch (Throwable failure) {
      try {
        made.close();
      } catch (Exception never) {
        failure.addSuppressed(never);
      }
      throw failure;
    }
  }
}
