# frozen_string_literal: true

module Runcible
  # Types of elements, by their names in lower case: "f32", "q4_k".
  DTYPES = Native.constants.grep(/\ADTYPE_/).to_h do |name|
    [name.to_s.delete_prefix("DTYPE_").downcase.freeze, Native.const_get(name)]
  end.freeze

  DTYPE_NAMES = DTYPES.invert.freeze
  # The directives of Array#pack and String#unpack for numbers of these types.
  DIRECTIVES = {
    "f32" => "f*", "f64" => "d*", "i8" => "c*", "i16" => "s*", "i32" => "l*",
    "i64" => "q*"
  }.freeze
  private_constant :DIRECTIVES, :DTYPES, :DTYPE_NAMES
end
