using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Reflection;
using System.Runtime.ExceptionServices;
using Runcible;

using Map = System.Collections.Generic.Dictionary<string, object>;
using List = System.Collections.Generic.List<object>;

/// Calls the package by the names in the cases, with JSON values.
static class Calls {
  private static readonly object none = new object();

  /// Converts "top_k" to "TopK".
  public static string Pascal(string name) => string.Concat(
      name.Split('_', ' ').Where(word => word != "").Select(word =>
          char.ToUpperInvariant(word[0]) + word.Substring(1).ToLowerInvariant()));

  /// Converts a list or an array to a List.
  public static List ListOf(object value) =>
      value as List ?? ((IEnumerable)value).Cast<object>().ToList();

  /// Calls a method of an object, or a static one or the constructor of a class.
  public static object Call(object target, string name, List given, Map options) {
    var kind = target as Type ?? target.GetType();
    var all = new List(given);
    var positional = new List(given);
    if (options != null) {
      all.Add(options);
      positional.AddRange(options.Values);
    }
    IEnumerable<MethodBase> methods = kind.GetMethods().Where(each => each.Name == Pascal(name));
    if (target is Type && !methods.Any()) {
      methods = kind.GetConstructors();
    }
    methods = methods.OrderBy(each => each.GetParameters().Length);
    foreach (List arguments in new[] { all, positional }) {
      foreach (MethodBase method in methods) {
        object[] made = Arguments(arguments, method.GetParameters());
        if (made != null) {
          return Invoke(method, target, made);
        }
      }
    }
    PropertyInfo property = kind.GetProperty(Pascal(name));
    if (property != null) {
      return Invoke(property.GetGetMethod(), target, new object[0]);
    }
    throw new CheckFailed(
        "no " + kind + "." + Pascal(name) + " takes " + string.Join(", ", all));
  }

  private static object Invoke(MethodBase method, object target, object[] given) {
    try {
      return method is ConstructorInfo maker ? maker.Invoke(given)
                                             : method.Invoke(target, given);
    } catch (TargetInvocationException failed) {
      ExceptionDispatchInfo.Capture(failed.InnerException).Throw();
      throw;
    }
  }

  /// Returns the arguments for parameters, or null if they do not fit.
  private static object[] Arguments(List given, ParameterInfo[] parameters) {
    int count = parameters.Length;
    List all = given;
    if (count > 0 && parameters[count - 1].IsDefined(typeof(ParamArrayAttribute), false)
        && given.Count >= count && !(given[count - 1] is List)) {
      all = given.Take(count - 1).ToList();
      all.Add(given.Skip(count - 1).ToList());
    }
    if (all.Count > count || parameters.Any(each => each.ParameterType.IsByRef)) {
      return null;
    }
    var made = new object[count];
    for (int i = 0; i < count; ++i) {
      made[i] = i < all.Count ? Converted(all[i], parameters[i].ParameterType)
          : parameters[i].HasDefaultValue ? parameters[i].DefaultValue
          : none;
      if (made[i] == none) {
        return null;
      }
    }
    return made;
  }

  /// Converts a value to an argument or property of a type; none: it does not fit.
  private static object Converted(object value, Type type) {
    Type kind = Nullable.GetUnderlyingType(type) ?? type;
    if (value == null) {
      return type.IsValueType && kind == type ? none : null;
    }
    if ((value is long || value is double) && kind != typeof(object)) {
      if (kind == typeof(TimeSpan)) {
        return TimeSpan.FromSeconds(Convert.ToDouble(value));
      }
      bool fits = kind == typeof(double) || kind == typeof(float)
          || value is long && kind.IsPrimitive && kind != typeof(bool);
      return fits ? Convert.ChangeType(value, kind, CultureInfo.InvariantCulture) : none;
    }
    if (kind.IsInstanceOfType(value)) {
      return value;
    }
    if (value is string text && kind.IsEnum) {
      string found = Enum.GetNames(kind).FirstOrDefault(each => string.Equals(
          each.Replace("_", ""), text.Replace("_", ""), StringComparison.OrdinalIgnoreCase));
      return found == null ? none : Enum.Parse(kind, found);
    }
    if (value is Model model && kind == typeof(Tokenizer)) {
      return model.Tokenizer();
    }
    if (value is Map map && kind.Name.EndsWith("Options")) {
      return OptionsOf(kind, map);
    }
    if (kind == typeof(Pair)) {
      return new Pair(Convert.ToInt32(((List)value)[0]), Convert.ToInt32(((List)value)[1]));
    }
    Type item = kind.IsArray ? kind.GetElementType()
        : kind.IsGenericType ? kind.GetGenericArguments()[0]
        : null;
    if (value is string && item == typeof(string)) {
      value = new List { value };
    }
    if (!(value is List list) || item == null || item.IsGenericParameter) {
      return none;
    }
    Array made = Array.CreateInstance(item, list.Count);
    for (int i = 0; i < list.Count; ++i) {
      object each = Converted(list[i], item);
      if (each == none) {
        return none;
      }
      made.SetValue(each, i);
    }
    return kind.IsInstanceOfType(made) ? made : none;
  }

  public static T Options<T>(Map given) => (T)OptionsOf(typeof(T), given ?? new Map());

  /// Makes options with these properties.
  private static object OptionsOf(Type kind, Map given) {
    object made = Activator.CreateInstance(kind);
    foreach (KeyValuePair<string, object> each in given) {
      PropertyInfo property = kind.GetProperty(Pascal(each.Key));
      object value = each.Key == "logit_bias"
          ? Biases((List)each.Value) : Converted(each.Value, property.PropertyType);
      Check.That(value != none, each.Key + " takes no " + each.Value);
      property.SetValue(made, value);
    }
    return made;
  }

  private static Dictionary<int, float> Biases(List pairs) => pairs.Cast<List>().ToDictionary(
      pair => Convert.ToInt32(pair[0]),
      pair => pair[1] == null ? float.NegativeInfinity : Convert.ToSingle(pair[1]));
}
