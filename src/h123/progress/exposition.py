"""Publishes a campaign's progress over the network, as OpenMetrics over HTTP, for Prometheus and similar tools."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Info, make_wsgi_app

from h123.base.errors import UserError
from h123.measures import EndedTrial, server_counts
from h123.progress.display import AttemptOutcome, Display, Standing
from h123.progress.listener import Listener

LOOPBACK = "127.0.0.1"
_LAST_PORT = 65535
_OWN_LABELS = {"requests": ["outcome"], "stream_resets": ["by"], "packets": ["way"], "packets_dropped": ["way"]}
"""Labels of server metrics, apart from `server` and `protocol`."""


@dataclass(frozen=True)
class Listening:
    """The address to listen on. Port 0 means any free port."""

    host: str
    port: int

    @classmethod
    def read(cls, text: str) -> "Listening":
        """Parse an address: `:9464` accepts connections from this machine only, `0.0.0.0:9464` also from other
        machines. Raises UserError."""
        host, colon, port = text.rpartition(":")
        if not (colon and re.fullmatch("[0-9]{1,5}", port, re.ASCII) and int(port) <= _LAST_PORT):
            raise UserError(
                f"--metrics-listen {text[:100]}: not an address to listen on",
                remedy=f"write :9464 for this machine only, or HOST:9464; a port is 0 to {_LAST_PORT}",
            )
        return cls(host.strip("[]") or LOOPBACK, int(port))


class Exposition:
    """The metrics, and the server that publishes them while a campaign runs."""

    def __init__(self, listening: Listening) -> None:
        self._listening = listening
        self._registry = own = CollectorRegistry()
        gauge, counter = partial(Gauge, registry=own), partial(Counter, registry=own)
        self._campaign = Info("h123_campaign", "The campaign that runs.", registry=own)
        self._planned = gauge("h123_trials_planned", "Trials of the campaign.")
        self._trials_done = gauge("h123_trials_done", "Trials that are done.")
        self._running = gauge("h123_trials_running", "Trials that run now.")
        self._blocks = gauge("h123_blocks_planned", "Blocks of the campaign.")
        self._whole = gauge("h123_blocks_done", "Blocks whose trials are all done.")
        self._time_left = gauge("h123_time_left_seconds", "Estimated time until the last trial ends.")
        self._attempts = counter("h123_attempts", "Finished attempts, by outcome.", ["outcome"])
        self._reasons = counter("h123_failures", "Failed attempts, by the reason's code.", ["reason"])
        self._seconds = counter("h123_attempt_seconds", "Time that all attempts took.")
        self._disturbance = gauge(
            "h123_disturbance_ratio", "Largest share of a time that may be due to the machine, in the last attempt."
        )
        self._late = gauge("h123_link_lateness_seconds", "99 % of the last attempt's packets were at most this late.")
        self._estimate = gauge(
            "h123_estimate_ratio", "Estimated ratio over the blocks so far, not final.", ["pair", "metric", "cell"]
        )
        self._servers: dict[str, Counter | Gauge] = {}
        self.url = ""
        """The URL of the metrics while the server runs."""

    @contextmanager
    def of(self, study: str, folder: Path) -> Iterator[None]:
        """Publish the metrics while the context is open. Raises UserError if h123 cannot listen at the address."""
        self._campaign.info({"study": study, "folder": str(folder)})
        server, thread = self._listen()
        host = f"[{self._listening.host}]" if ":" in self._listening.host else self._listening.host
        self.url = f"http://{host}:{server.server_port}/metrics"
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def _listen(self) -> tuple[Listener, threading.Thread]:
        at = self._listening
        try:
            server = Listener(at.host, at.port, make_wsgi_app(self._registry))
        except (OSError, UnicodeError) as error:  # UnicodeError: for text that cannot be a host name
            why = getattr(error, "strerror", None) or "that is not a valid host name"
            raise UserError(
                f"--metrics-listen: cannot listen at {at.host[:100]}:{at.port}: {why}",
                remedy="choose another address, or port 0 for any free port",
            ) from None
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        return server, thread

    def display_with(self, display: Display) -> "Exposed":
        """Return a display that also updates the metrics."""
        return Exposed(display, self)

    def stands(self, standing: Standing) -> None:
        self._planned.set(standing.total)
        self._trials_done.set(standing.done)
        self._running.set(len(standing.running))
        self._blocks.set(standing.blocks)
        self._whole.set(standing.blocks_done)
        self._time_left.set(standing.left_s)
        for estimate in standing.so_far:
            self._estimate.labels(estimate.pair, estimate.metric, estimate.cell).set(estimate.ratio)

    def count_attempt(self, event: AttemptOutcome, ended: EndedTrial | None) -> None:
        outcome = "failed" if event["reasons"] else "disturbed" if event.get("disturbed") else "ok"
        self._attempts.labels(outcome).inc()
        for reason in event["reasons"]:
            self._reasons.labels(reason["code"]).inc()
        self._seconds.inc(event["seconds"] or 0.0)
        self._disturbance.set(event.get("disturbance") or 0.0)
        if ended is None:
            return
        if late := [way.lateness_ns.p99 for link in ended.report.links for way in link.ways()]:
            self._late.set(max(late) * 1e-9)
        for (name, *own), number in server_counts(ended).items() if not event["reasons"] else ():
            if name not in self._servers:
                labels = ["server", "protocol", *_OWN_LABELS.get(name, [])]
                kind = Gauge if name == "connections_active" else Counter
                self._servers[name] = kind(
                    f"h123_server_{name}", "See docs/watching.md.", labels, registry=self._registry
                )
            metric = self._servers[name].labels(ended.parameters["server"], ended.parameters["protocol"], *own)
            (metric.set if isinstance(metric, Gauge) else metric.inc)(number)


class Exposed:
    """A display that also updates the exposition of the same campaign."""

    def __init__(self, display: Display, exposition: Exposition) -> None:
        self._display, self._exposition = display, exposition

    def __enter__(self) -> "Exposed":
        self._display.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._display.__exit__(*exc)

    def show(self, standing: Standing) -> None:
        self._exposition.stands(standing)
        self._display.show(standing)

    def end(self, event: AttemptOutcome, standing: Standing) -> None:
        self._exposition.count_attempt(event, standing.ended)
        self._exposition.stands(standing)
        self._display.end(event, standing)

    def say(self, text: str, standing: Standing) -> None:
        self._exposition.stands(standing)
        self._display.say(text, standing)
