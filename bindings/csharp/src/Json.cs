using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Reflection;
using System.Text;

namespace Runcible {
  /// Converts objects of programs to JSON: dictionaries and lists, objects with
  /// properties (anonymous ones, too), and values of JSON libraries.
  internal sealed class Json {
    private const int DeepestValue = 200;
    /// Methods that return the JSON of values of System.Text.Json.
    private static readonly string[] writers = {"ToJsonString", "GetRawText"};

    private readonly StringBuilder text = new StringBuilder();
    private readonly string name;

    private Json(string name) {
      this.name = name;
    }

    /// Returns the JSON of the argument `name`; a string is JSON already.
    /// Throws ArgumentException if a part of it has no JSON.
    internal static string Text(object value, string name) {
      if (value is string given) {
        return given;
      }
      var json = new Json(name);
      json.Write(value, 0);
      return json.text.ToString();
    }

    /// Returns a text as a JSON string.
    internal static string Quote(string text) {
      var quoted = new StringBuilder("\"");
      foreach (char each in text) {
        if (each == '"' || each == '\\') {
          quoted.Append('\\').Append(each);
        } else if (each < ' ') {
          quoted.Append("\\u").Append(((int)each).ToString("x4"));
        } else {
          quoted.Append(each);
        }
      }
      return quoted.Append('"').ToString();
    }

    private Exception Refusal(string what) =>
        new ArgumentException(name + ": " + what);

    private void Write(object value, int depth) {
      if (depth > DeepestValue) {
        throw Refusal(
            "values nest more than " + DeepestValue
            + " deep, or are within themselves");
      }
      if (value == null) {
        text.Append("null");
      } else if (!WriteSimple(value) && !WriteOfLibrary(value)) {
        WriteMembers(value, depth + 1);
      }
    }

    private bool WriteSimple(object value) {
      if (value is string || value is char || value is Enum) {
        text.Append(Quote(value.ToString()));
        return true;
      }
      switch (Convert.GetTypeCode(value)) {
        case TypeCode.Boolean:
          text.Append(Convert.ToBoolean(value) ? "true" : "false");
          return true;
        case TypeCode.String:
          text.Append(Quote(Convert.ToString(value)));
          return true;
        case TypeCode.Single:
        case TypeCode.Double:
          double number = Convert.ToDouble(value);
          if (double.IsNaN(number) || double.IsInfinity(number)) {
            throw Refusal("JSON has no number for " + number);
          }
          text.Append(((IFormattable)value)
              .ToString("R", CultureInfo.InvariantCulture));
          return true;
        case TypeCode.SByte:
        case TypeCode.Byte:
        case TypeCode.Int16:
        case TypeCode.UInt16:
        case TypeCode.Int32:
        case TypeCode.UInt32:
        case TypeCode.Int64:
        case TypeCode.UInt64:
        case TypeCode.Decimal:
          text.Append(Convert.ToString(value, CultureInfo.InvariantCulture));
          return true;
        case TypeCode.DateTime:
          text.Append(Quote(((DateTime)value).ToString(
              "o", CultureInfo.InvariantCulture)));
          return true;
        default:
          return false;
      }
    }

    /// Writes a value of System.Text.Json or System.Json; false if it is
    /// another.
    private bool WriteOfLibrary(object value) {
      foreach (string writer in writers) {
        MethodInfo method = value.GetType().GetMethod(writer, Type.EmptyTypes);
        if (method != null && method.ReturnType == typeof(string)) {
          text.Append((string)method.Invoke(value, null));
          return true;
        }
      }
      if (value.GetType().FullName != "System.Json.JsonPrimitive") {
        return false;
      }
      text.Append(value);
      return true;
    }

    private void WriteMembers(object value, int depth) {
      Type entry = EntryOf(value.GetType());
      if (entry != null) {
        WriteObject(Entries((IEnumerable)value, entry), depth);
      } else if (value is IDictionary dictionary) {
        WriteObject(Entries(dictionary), depth);
      } else if (value is IEnumerable list) {
        WriteArray(list, depth);
      } else if (value is Type || value is Delegate) {
        throw Refusal(
            "JSON has nothing for " + value + "; give its schema as an object");
      } else {
        WriteObject(Properties(value), depth);
      }
    }

    /// Returns the entry type of a dictionary type whose keys are texts.
    private static Type EntryOf(Type type) {
      foreach (Type each in type.GetInterfaces()) {
        if (!each.IsGenericType
            || each.GetGenericTypeDefinition() != typeof(IEnumerable<>)) {
          continue;
        }
        Type entry = each.GetGenericArguments()[0];
        if (entry.IsGenericType
            && entry.GetGenericTypeDefinition() == typeof(KeyValuePair<, >)
            && entry.GetGenericArguments()[0] == typeof(string)) {
          return entry;
        }
      }
      return null;
    }

    private static IEnumerable<KeyValuePair<string, object>> Entries(
        IEnumerable given, Type entry) {
      PropertyInfo key = entry.GetProperty("Key");
      PropertyInfo value = entry.GetProperty("Value");
      foreach (object each in given) {
        yield return new KeyValuePair<string, object>(
            (string)key.GetValue(each), value.GetValue(each));
      }
    }

    private IEnumerable<KeyValuePair<string, object>> Entries(
        IDictionary given) {
      foreach (DictionaryEntry each in given) {
        if (!(each.Key is string key)) {
          throw Refusal("the key " + each.Key + " is no string");
        }
        yield return new KeyValuePair<string, object>(key, each.Value);
      }
    }

    private static IEnumerable<KeyValuePair<string, object>> Properties(
        object given) {
      foreach (PropertyInfo each in given.GetType().GetProperties(
                   BindingFlags.Public | BindingFlags.Instance)) {
        if (each.CanRead && each.GetIndexParameters().Length == 0) {
          yield return new KeyValuePair<string, object>(
              each.Name, each.GetValue(given));
        }
      }
    }

    private void WriteObject(
        IEnumerable<KeyValuePair<string, object>> members, int depth) {
      string before = "{";
      foreach (KeyValuePair<string, object> each in members) {
        text.Append(before).Append(Quote(each.Key)).Append(':');
        Write(each.Value, depth);
        before = ",";
      }
      text.Append(before == "{" ? "{}" : "}");
    }

    private void WriteArray(IEnumerable items, int depth) {
      string before = "[";
      foreach (object each in items) {
        text.Append(before);
        Write(each, depth);
        before = ",";
      }
      text.Append(before == "[" ? "[]" : "]");
    }
  }
}
