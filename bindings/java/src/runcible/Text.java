package runcible;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Converts between texts of Java and UTF-8 of the library. */
final class Text {
  private Text() {}

  /** Decodes UTF-8; invalid bytes become U+FFFD. */
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
          "a text holds half of a surrogate pair, which is invalid", lone);
    }
  }

  /** Encodes a text for C, where a NUL ends it: it must not contain one. */
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
