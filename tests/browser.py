"""A browser for tests of pages: Chromium, which asks nothing of a network."""

import shutil

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LOOK = ("headless", "no-sandbox", "disable-gpu", "no-first-run", "hide-scrollbars")
SILENT = (
    "disable-background-networking",
    "disable-component-update",
    "disable-sync",
    "host-resolver-rules=MAP * ~NOTFOUND",
)
"""The browser is not to speak to anybody."""
