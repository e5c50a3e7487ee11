--- Calls within which the library calls functions of Lua.
local served = {}

-- What a function raised within the call that is under way.
local problem

--- What a function gives, as a list; an error of it is kept for `call`.
function served.keeping(f, ...)
  local results = table.pack(pcall(f, ...))
  if not results[1] then
    problem = {results[2]}
    error(results[2], 0)
  end
  return table.move(results, 2, results.n, 1, {})
end

--- Does a call; if a function has raised an error, and the call failed, that is
-- raised again.
function served.call(f, ...)
  local before = problem
  problem = nil
  local going, failure = pcall(f, ...)
  local raised = problem
  problem = before
  if going then return end
  if raised then error(raised[1], 0) end
  error(failure, 0)
end

return served
