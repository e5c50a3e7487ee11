--- Numbers of tensors, as lists and as strings of bytes.
local numbers = {}

-- The formats of string.pack. They are native: the library's numbers are the
-- machine's.
local FORMATS = {f32 = "f", f64 = "d", i8 = "i1", i16 = "i2", i32 = "i4", i64 = "i8"}

-- The most numbers that one call of string.pack takes without much stack.
local CHUNK = 128

function numbers.known(dtype)
  return FORMATS[dtype] ~= nil
end

--- Returns the number of bytes of one number.
function numbers.size(dtype)
  if not FORMATS[dtype] then error(("lists of numbers cannot be %s"):format(dtype), 0) end
  return string.packsize(FORMATS[dtype])
end

--- Packs a list into bytes.
function numbers.pack(list, dtype)
  local format, count = FORMATS[dtype], #list
  local chunks, whole = {}, format:rep(CHUNK)
  for begin = 1, count, CHUNK do
    local size = math.min(CHUNK, count - begin + 1)
    chunks[#chunks + 1] =
      string.pack(size == CHUNK and whole or format:rep(size), table.unpack(list, begin, begin + size - 1))
  end
  return table.concat(chunks)
end

--- Returns a list of `count` numbers from the `from`-th on, which is counted from
-- 0.
function numbers.unpack(bytes, dtype, from, count)
  local format = FORMATS[dtype]
  local width, whole = string.packsize(format), format:rep(CHUNK)
  local list = {}
  for begin = 0, count - 1, CHUNK do
    local size = math.min(CHUNK, count - begin)
    local chunk = table.pack(string.unpack(size == CHUNK and whole or format:rep(size), bytes, (from + begin) * width + 1))
    table.move(chunk, 1, size, begin + 1, list)
  end
  return list
end

return numbers
