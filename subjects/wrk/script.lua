-- What each of wrk's threads does: it is a user with one connection and makes the requests asked for. When wrk ends, a row
-- for each is printed. A request's beginning is taken just before wrk writes it, the first one's before wrk dials; its end
-- when wrk has read the answer.
local ffi = require "ffi"
ffi.cdef [[
typedef struct { long seconds, nanoseconds; } moment;
int clock_gettime(int clock, moment *at);
]]
local MONOTONIC = 1
local at = ffi.new "moment"

-- Connections go where the workload says, whatever the name resolves to.
function wrk.resolve()
   wrk.addrs = {}
   local address = wrk.lookup(os.getenv "H123_ADDRESS", os.getenv "H123_PORT")[1]
   if wrk.connect(address) then
      wrk.addrs[1] = address
   end
end

-- In wrk's main state.
local threads = {}

function setup(thread)
   thread:set("user", #threads)
   threads[#threads + 1] = thread
end

local columns = {"begun", "begun_ns", "ended", "ended_ns", "status", "length"}

local function say(word)
   io.write(word, "\n")
   io.flush()
end

function done()
   say "rows"
   for user, thread in ipairs(threads) do
      local values = {}
      for i, name in ipairs(columns) do
         values[i] = thread:get(name)
      end
      for request = 1, thread:get "made" do
         local row = {"row", user - 1}
         for _, value in ipairs(values) do
            row[#row + 1] = string.format("%d", value[request] or -1)
         end
         print(table.concat(row, " "))
      end
   end
end

-- In each thread's own state: of each request, seconds and nanoseconds, which one number could not hold.
begun, begun_ns, ended, ended_ns, status, length = {}, {}, {}, {}, {}, {}
made = 0
local wanted = tonumber(os.getenv "H123_REQUESTS")
local text, tried

local function take(seconds, nanoseconds, index)
   ffi.C.clock_gettime(MONOTONIC, at)
   seconds[index], nanoseconds[index] = tonumber(at.seconds), tonumber(at.nanoseconds)
end

function init()
   wrk.headers["User-Agent"] = "h123"
   text = wrk.format()
   take(begun, begun_ns, 1)
   tried = user > 0 -- wrk asks the first thread once for a request that it does not send
end

local function finish()
   say "done"
   wrk.thread:stop()
end

-- If an answer never comes, wrk makes the next request on a new connection.
function request()
   if tried and made == wanted then
      finish()
   elseif tried then
      made = made + 1
      if made > 1 then
         take(begun, begun_ns, made)
      end
   end
   tried = true
   return text
end

function response(code, _, body)
   take(ended, ended_ns, made)
   status[made], length[made] = code, #body
   if made == wanted then
      finish()
   end
end
