package dev.h123.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.concurrent.Promise;
import java.io.File;
import javax.net.ssl.SSLException;

/** Connections of HTTP/1.1 and HTTP/2, over TLS 1.3. */
final class TcpDialer extends Dialer {
    private final boolean http2;
    private final String alpn;
    private final SslContext tls;

    TcpDialer(Workload workload, Loops loops) throws SSLException {
        super(workload, loops);
        http2 = workload.protocol().equals("h2");
        alpn = http2 ? ApplicationProtocolNames.HTTP_2 : ApplicationProtocolNames.HTTP_1_1;
        tls = SslContextBuilder.forClient()
            .trustManager(new File(workload.ca()))
            .sslProvider(SslProvider.OPENSSL)
            .protocols("TLSv1.3")
            .option(OpenSslContextOption.GROUPS, new String[] {Terms.FIRST_KEY_EXCHANGE})
            .applicationProtocolConfig(new ApplicationProtocolConfig(Protocol.ALPN,
                SelectorFailureBehavior.NO_ADVERTISE, SelectedListenerFailureBehavior.ACCEPT, alpn))
            .build();
    }

    @Override
    Established establish(String host, long deadline) throws Exception {
        Promise<Long> ready = loops.group.next().newPromise();
        ChannelFuture connecting = new Bootstrap()
            .group(loops.group)
            .channel(EpollSocketChannel.class)
            .handler(secured(host, ready))
            .connect(server);
        try {
            within(deadline, connecting);
            long at = within(deadline, ready);
            SslHandler secure = connecting.channel().pipeline().get(SslHandler.class);
            return new Established(connecting.channel(), at, secure.engine().getSession().getCipherSuite());
        } catch (Exception failed) {
            connecting.channel().close();
            throw failed;
        }
    }

    /** TLS, and behind it HTTP before the first byte comes out. Tells when the handshake was complete. */
    private ChannelInitializer<Channel> secured(String host, Promise<Long> ready) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                SslHandler secure = tls.newHandler(channel.alloc(), host, workload.port());
                secure.setHandshakeTimeoutMillis(0); // the request's own limit counts
                channel.pipeline().addLast(secure);
                secure.handshakeFuture().addListener(shaken -> {
                    long at = System.nanoTime();
                    if (shaken.isSuccess()) {
                        addHttp(channel, secure.applicationProtocol());
                        ready.setSuccess(at);
                    } else {
                        ready.setFailure(shaken.cause());
                    }
                });
            }
        };
    }

    private void addHttp(Channel channel, String negotiated) throws Http2Exception {
        ChannelPipeline pipeline = channel.pipeline();
        if (!http2) {
            pipeline.addLast(new HttpClientCodec());
        } else if (alpn.equals(negotiated)) {
            Http2FrameCodec codec = Http2FrameCodecBuilder.forClient()
                .initialSettings(Terms.http2().pushEnabled(false)).build();
            pipeline.addLast(codec, new Http2MultiplexHandler(new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel pushed) {
                    pushed.close(); // none is allowed
                }
            }));
            Terms.widen(codec.connection());
            channel.flush();
        } else {
            channel.close(); // the first request will hear of it
        }
    }
}
