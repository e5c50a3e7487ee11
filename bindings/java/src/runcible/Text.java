package runcible;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Texts of Java and UTF-8 of the library. */
final class Text {
  private Text() {}

  /** What is no UTF-8 becomes U+FFFD. */
  static String decode(byte[] text) {
    return text == null ? null : new String(text, StandardCharsets.UTF_8);
  }

  static byte[] encode(String text) {
    try {
      ByteBuffer bytes =
          StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      byte[] made = new byte[bytes.remaining()];
      bytes.get(made);
      return made;
    } catch (CharacterCodingException lone) {
      throw new IllegalArgumentException(
          "a text holds half of a surrogate pair, which UTF-8 lacks", lone);
    }
  }

  /** A text that ends in C where a zero is, which must not be within. */
  static byte[] name(String text) {
    int zero = text.indexOf('\0');
    if (zero >= 0) {
      throw new IllegalArgumentException(
          "there is a NUL character at " + zero + " of a name or path");
    }
    return encode(text);
  }

  static byte[] path(Path path) {
    return name(path.toString());
  }
}
