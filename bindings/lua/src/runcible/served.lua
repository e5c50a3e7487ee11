--- Calls within which the library calls Lua functions.
local served = {}

-- The error that a function raised within the call in progress.
local problem

--- Returns the results of a function as a list; keeps an error of it for `call`.
function served.keeping(f, ...)
  local results = table.pack(pcall(f, ...))
  if not results[1] then
    problem = {results[2]}
    error(results[2], 0)
  end
  return table.move(results, 2, results.n, 1, {})
end

--- Makes a call; if a function has raised an error and the call failed, raises
-- that error again.
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
