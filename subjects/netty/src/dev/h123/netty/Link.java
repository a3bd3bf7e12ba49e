package dev.h123.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.codec.http3.Http3;
import io.netty.handler.codec.http3.Http3FrameToHttpObjectCodec;
import io.netty.handler.codec.quic.QuicChannel;
import io.netty.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** An established connection to the server. */
final class Link {
    final int index;
    final String protocol;
    final Channel channel;
    final long ready; // when the handshake was complete
    final String cipher;
    private final AtomicInteger requests = new AtomicInteger();

    Link(int index, String protocol, Channel channel, long ready, String cipher) {
        this.index = index;
        this.protocol = protocol;
        this.channel = channel;
        this.ready = ready;
        this.cipher = cipher;
    }

    boolean usable() {
        return channel.isActive();
    }

    /** Starts a request of the sample's on this connection. */
    void start(Exchange exchange, Sample sample) {
        sample.link = this;
        sample.reused = requests.getAndIncrement() > 0;
        switch (protocol) {
            case "h1" -> channel.eventLoop().execute(() -> {
                channel.pipeline().addLast(exchange);
                exchange.begin();
            });
            case "h2" -> opened(new Http2StreamChannelBootstrap(channel)
                .handler(stream(() -> new Http2StreamFrameToHttpObjectCodec(false), exchange)).open(), exchange);
            default -> opened(Http3.newRequestStream((QuicChannel) channel,
                stream(() -> new Http3FrameToHttpObjectCodec(false), exchange)), exchange);
        }
    }

    private static void opened(Future<? extends Channel> stream, Exchange exchange) {
        stream.addListener(done -> {
            if (done.isSuccess()) {
                ((Channel) done.getNow()).eventLoop().execute(exchange::begin);
            } else {
                exchange.fail(done.cause());
            }
        });
    }

    private static ChannelHandler stream(Supplier<ChannelHandler> codec, Exchange exchange) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel stream) {
                stream.pipeline().addLast(codec.get(), exchange);
            }
        };
    }
}
