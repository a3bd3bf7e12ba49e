package dev.h123.netty;

import dev.h123.java.Options;
import dev.h123.java.Udp;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.unix.UnixChannelOption;
import io.netty.handler.codec.http3.Http3;
import io.netty.handler.codec.http3.Http3FrameToHttpObjectCodec;
import io.netty.handler.codec.http3.Http3ServerConnectionHandler;
import io.netty.handler.codec.quic.BoringSSLContextOption;
import io.netty.handler.codec.quic.EpollQuicUtils;
import io.netty.handler.codec.quic.QLogConfiguration;
import io.netty.handler.codec.quic.QuicChannelOption;
import io.netty.handler.codec.quic.QuicCodecDispatcher;
import io.netty.handler.codec.quic.QuicConnectionIdGenerator;
import io.netty.handler.codec.quic.QuicServerCodecBuilder;
import io.netty.handler.codec.quic.QuicSslContext;
import io.netty.handler.codec.quic.QuicSslContextBuilder;
import java.util.ArrayList;
import java.util.List;

/** HTTP/3: a UDP socket for each event loop, all on one port, connections spread over them by the kernel. */
final class QuicServer {
    private QuicServer() {}

    static Loops start(Options options) throws InterruptedException {
        QuicServerCodecBuilder codec = codec(options);
        Loops loops = new Loops();
        Bootstrap socket = new Bootstrap()
            .group(loops.group)
            .channel(EpollDatagramChannel.class)
            .option(UnixChannelOption.SO_REUSEPORT, true)
            .option(ChannelOption.SO_RCVBUF, Udp.BUFFER)
            .option(ChannelOption.SO_SNDBUF, Udp.BUFFER)
            .handler(new QuicCodecDispatcher() {
                @Override
                protected void initChannel(Channel channel, int idLength, QuicConnectionIdGenerator ids) {
                    channel.pipeline().addLast(codec.clone()
                        .localConnectionIdLength(idLength)
                        .connectionIdAddressGenerator(ids)
                        .build());
                }
            });
        // All are made before the first is bound: a client that comes in between would be heard by another socket once
        // there are more of them, and Netty passes on what belongs elsewhere only after the handshake.
        List<Channel> sockets = new ArrayList<>();
        for (int i = 0; i < loops.count; i++) {
            sockets.add(socket.register().sync().channel());
        }
        List<ChannelFuture> bound = sockets.stream().map(one -> one.bind(options.endpoint())).toList();
        for (ChannelFuture one : bound) {
            loops.await(one);
        }
        return loops;
    }

    private static QuicServerCodecBuilder codec(Options options) {
        QuicServerCodecBuilder codec = Terms.quic(Http3.newQuicServerCodecBuilder(), Sending.of(options))
            .sslContext(tls(options))
            .initialMaxStreamsBidirectional(Terms.STREAMS)
            .option(QuicChannelOption.SEGMENTED_DATAGRAM_PACKET_ALLOCATOR,
                EpollQuicUtils.newSegmentedAllocator(Terms.SEGMENTS))
            .handler(connection());
        String folder = options.get("qlog");
        if (!folder.isEmpty()) {
            codec.option(QuicChannelOption.QLOG, new QLogConfiguration(folder, "h123", "a connection, as the server saw it"));
        }
        return codec;
    }

    private static QuicSslContext tls(Options options) {
        return QuicSslContextBuilder
            .forServer(options.file("key").toFile(), null, options.file("cert").toFile())
            .applicationProtocols(Terms.ALPN)
            .option(BoringSSLContextOption.GROUPS, Terms.keyExchange())
            .earlyData(true)
            .build();
    }

    private static ChannelHandler connection() {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel connection) {
                connection.pipeline().addLast(new Http3ServerConnectionHandler(stream()));
            }
        };
    }

    private static ChannelHandler stream() {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel stream) {
                stream.pipeline().addLast(new Http3FrameToHttpObjectCodec(true), new Answers());
            }
        };
    }
}
