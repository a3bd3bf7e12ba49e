"""What holds for all tests.

- Property tests are judged by what they find, never by how long the machine took.
- Ctrl-C and a lost terminal are heard, though whoever started the tests may ignore them (a shell does so for what it
  puts into the background): tests send them, to themselves and to what they start.
"""

import signal

from hypothesis import HealthCheck, settings

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("any-machine")
