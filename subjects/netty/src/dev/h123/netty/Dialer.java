package dev.h123.netty;

import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Makes connections, and keeps account of all it made. */
abstract class Dialer {
    final Workload workload;
    final Loops loops;
    final InetSocketAddress server;
    private final List<Link> links = new ArrayList<>();

    Dialer(Workload workload, Loops loops) {
        this.workload = workload;
        this.loops = loops;
        server = new InetSocketAddress(workload.address(), workload.port());
    }

    static Dialer of(Workload workload, Loops loops, Sending sending) throws Exception {
        return workload.protocol().equals("h3")
            ? new QuicDialer(workload, loops, sending) : new TcpDialer(workload, loops);
    }

    /** Establishes a connection to a host of the server's, or gives up at the deadline. */
    Link dial(String host, long deadline) throws Exception {
        Established made = establish(host, deadline);
        synchronized (links) {
            Link link = new Link(links.size(), workload.protocol(), made.channel, made.ready, made.cipher);
            links.add(link);
            return link;
        }
    }

    abstract Established establish(String host, long deadline) throws Exception;

    record Established(Channel channel, long ready, String cipher) {}

    static <T> T within(long deadline, Future<T> future) throws Exception {
        if (!future.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            throw new TimeoutException();
        }
        if (!future.isSuccess()) {
            throw new ExecutionException(future.cause());
        }
        return future.getNow();
    }

    /** All connections that were made. */
    List<Link> made() {
        synchronized (links) {
            return List.copyOf(links);
        }
    }
}
