-- What each of wrk's threads does: it is a user with one connection, makes the requests asked for, and then prints a row for
-- each. A request's beginning is taken just before wrk writes it, its end when wrk has read the answer.
local ffi = require "ffi"
ffi.cdef [[
typedef struct { long seconds, nanoseconds; } moment;
int clock_gettime(int clock, moment *at);
]]
local MONOTONIC = 1

local function now()
   local at = ffi.new "moment"
   ffi.C.clock_gettime(MONOTONIC, at)
   return at
end

-- Connections go where the workload says, whatever the name resolves to.
function wrk.resolve()
   wrk.addrs = wrk.lookup(os.getenv "H123_ADDRESS", os.getenv "H123_PORT")
end

local threads = 0

-- In wrk's main state, of each thread.
function setup(thread)
   thread:set("user", threads)
   threads = threads + 1
end

-- From here on in each thread's own state.
local wanted, made = tonumber(os.getenv "H123_REQUESTS"), 0
local begun, ended, statuses, lengths = {}, {}, {}, {}
local text, tried

function init()
   wrk.headers["User-Agent"] = "h123"
   text = wrk.format()
   tried = user > 0 -- wrk asks the first thread once for a request that it does not send
end

-- If an answer never comes, wrk makes the next request on a new connection.
function request()
   if tried then
      made = made + 1
      begun[made] = now()
   end
   tried = true
   return text
end

local function row(i)
   local from, to = begun[i], ended[i]
   return string.format("row %d %d %d %d %d %d %d", user, tonumber(from.seconds), tonumber(from.nanoseconds),
      to and tonumber(to.seconds) or 0, to and tonumber(to.nanoseconds) or 0, statuses[i] or 0, lengths[i] or 0)
end

function response(status, _, body)
   ended[made], statuses[made], lengths[made] = now(), status, #body
   if made == wanted then
      for i = 1, made do
         io.write(row(i), "\n")
      end
      io.write("done\n")
      io.flush()
      wrk.thread:stop()
   end
end
