package dev.h123.netty;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;

/** The place for one connection: empty at first, and after its connection has died. */
final class Seat {
    final String host;
    private final Dialer dialer;
    private final boolean exclusive;
    private final ReentrantLock turn = new ReentrantLock(true);
    private Link link;

    Seat(Dialer dialer, String host, boolean exclusive) {
        this.host = host;
        this.dialer = dialer;
        this.exclusive = exclusive;
    }

    /** The seat's connection, dialled if need be. If exclusive, it is the caller's until `leave`. */
    Link take(long deadline) throws Exception {
        if (!turn.tryLock(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            throw new TimeoutException();
        }
        try {
            if (link == null || !link.usable()) {
                link = null;
                link = dialer.dial(host, deadline);
            }
            return link;
        } finally {
            if (!exclusive || link == null) {
                turn.unlock();
            }
        }
    }

    /** Closes its connection: nobody asks it any more. */
    void close() {
        if (link != null) {
            link.channel.close();
        }
    }

    void leave() {
        if (turn.isHeldByCurrentThread()) {
            turn.unlock();
        }
    }
}
