package dev.h123.flupke;

import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Kwik 0.10 can forget a stream: it counts a request to send after making it, and if the request is served in between
 * the count is wrong just when more ought to be asked for. Whoever writes then waits for room for ever. So a body that
 * has not got on for a while is sent an empty DATA frame, which means nothing to the client and makes Kwik look again.
 */
final class Reminder implements AutoCloseable {
    private static final long MILLISECONDS = 250;
    private static final byte[] NOTHING = {};
    private static final ScheduledExecutorService CLOCK = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "reminder");
        thread.setDaemon(true);
        return thread;
    });

    private final OutputStream body;
    private final ScheduledFuture<?> watching;
    private volatile long pieces;
    private long seen;

    Reminder(OutputStream body) {
        this.body = body;
        watching = CLOCK.scheduleWithFixedDelay(this::remind, MILLISECONDS, MILLISECONDS, TimeUnit.MILLISECONDS);
    }

    /** Another piece of the body has been written. */
    void gotOn() {
        pieces++;
    }

    private synchronized void remind() {
        if (pieces == seen && !watching.isCancelled()) {
            try {
                body.write(NOTHING);
            } catch (IOException over) {
                watching.cancel(false);
            }
        }
        seen = pieces;
    }

    @Override
    public synchronized void close() {
        watching.cancel(false);
    }
}
