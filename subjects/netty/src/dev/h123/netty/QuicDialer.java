package dev.h123.netty;

import dev.h123.java.Udp;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.handler.codec.http3.Http3;
import io.netty.handler.codec.http3.Http3ClientConnectionHandler;
import io.netty.handler.codec.quic.BoringSSLContextOption;
import io.netty.handler.codec.quic.EpollQuicUtils;
import io.netty.handler.codec.quic.QuicChannel;
import io.netty.handler.codec.quic.QuicChannelOption;
import io.netty.handler.codec.quic.QuicSslContext;
import io.netty.handler.codec.quic.QuicSslContextBuilder;
import io.netty.util.concurrent.Future;
import java.io.File;
import java.util.concurrent.CompletableFuture;

/** Connections of HTTP/3, each from a socket of its own. */
final class QuicDialer extends Dialer {
    private final Sending sending;
    private final QuicSslContext tls;

    QuicDialer(Workload workload, Loops loops, Sending sending) {
        super(workload, loops);
        this.sending = sending;
        tls = QuicSslContextBuilder.forClient()
            .trustManager(new File(workload.ca()))
            .applicationProtocols(Terms.ALPN)
            .option(BoringSSLContextOption.GROUPS, new String[] {Terms.FIRST_KEY_EXCHANGE})
            .build();
    }

    @Override
    Established establish(String host, long deadline) throws Exception {
        Channel socket = new Bootstrap()
            .group(loops.group)
            .channel(EpollDatagramChannel.class)
            .option(ChannelOption.SO_RCVBUF, Udp.BUFFER)
            .option(ChannelOption.SO_SNDBUF, Udp.BUFFER)
            .handler(codec(host))
            .bind(0).sync().channel();
        CompletableFuture<Long> ready = new CompletableFuture<>();
        Future<QuicChannel> connecting = QuicChannel.newBootstrap(socket)
            .option(QuicChannelOption.SEGMENTED_DATAGRAM_PACKET_ALLOCATOR,
                EpollQuicUtils.newSegmentedAllocator(Terms.SEGMENTS))
            .handler(new Http3ClientConnectionHandler())
            .remoteAddress(server)
            .connect()
            .addListener(shaken -> ready.complete(System.nanoTime()));
        try {
            QuicChannel channel = within(deadline, connecting);
            channel.closeFuture().addListener(closed -> socket.close());
            return new Established(channel, ready.get(), channel.sslEngine().getSession().getCipherSuite());
        } catch (Exception failed) {
            socket.close();
            throw failed;
        }
    }

    private ChannelHandler codec(String host) {
        return Terms.quic(Http3.newQuicClientCodecBuilder(), sending)
            .sslEngineProvider(connection -> tls.newEngine(connection.alloc(), host, workload.port()))
            .build();
    }
}
