package dev.h123.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The event loops of a server, one for each processor, and what listens on them. */
final class Loops implements AutoCloseable {
    private static final long QUIET_MILLISECONDS = 0;
    private static final long STOP_MILLISECONDS = 1000;
    /** Netty tells of every frame that it ignores. Held here: a logger that nobody holds forgets its level. */
    private static final Logger NETTY = Logger.getLogger("io.netty");

    static {
        NETTY.setLevel(Level.WARNING);
    }

    final int count = Runtime.getRuntime().availableProcessors();
    final EventLoopGroup group = new MultiThreadIoEventLoopGroup(count, EpollIoHandler.newFactory());
    private final ChannelGroup listeners = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);

    /** Waits until a listener is bound. */
    void await(ChannelFuture bound) throws InterruptedException {
        Channel listener = bound.sync().channel();
        listeners.add(listener);
    }

    @Override
    public void close() {
        listeners.close().awaitUninterruptibly(STOP_MILLISECONDS);
        group.shutdownGracefully(QUIET_MILLISECONDS, STOP_MILLISECONDS, TimeUnit.MILLISECONDS).awaitUninterruptibly();
    }
}
