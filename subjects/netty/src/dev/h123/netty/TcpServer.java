package dev.h123.netty;

import dev.h123.java.Options;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerExpectContinueHandler;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.OpenSslSessionContext;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import javax.net.ssl.SSLException;

/** HTTP/1.1 or HTTP/2 over TLS 1.3. */
final class TcpServer {
    private static final int BACKLOG = 1024;

    private TcpServer() {}

    static Loops start(Options options) throws Exception {
        boolean h2 = options.protocol().equals("h2");
        String alpn = h2 ? ApplicationProtocolNames.HTTP_2 : ApplicationProtocolNames.HTTP_1_1;
        SslContext tls = tls(options, alpn);
        Loops loops = new Loops();
        ServerBootstrap server = new ServerBootstrap()
            .group(loops.group)
            .channel(EpollServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .childHandler(new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel connection) {
                    connection.pipeline().addLast(tls.newHandler(connection.alloc()), new Negotiated(alpn));
                }
            });
        loops.await(server.bind(options.endpoint()));
        return loops;
    }

    private static SslContext tls(Options options, String alpn) throws SSLException {
        SslContext tls = SslContextBuilder
            .forServer(options.file("cert").toFile(), options.file("key").toFile())
            .sslProvider(SslProvider.OPENSSL)
            .protocols("TLSv1.3")
            .option(OpenSslContextOption.GROUPS, Terms.keyExchange())
            .applicationProtocolConfig(new ApplicationProtocolConfig(Protocol.ALPN,
                SelectorFailureBehavior.NO_ADVERTISE, SelectedListenerFailureBehavior.ACCEPT, alpn))
            .build();
        ((OpenSslSessionContext) tls.sessionContext()).setTicketKeys(); // BoringSSL's own: Netty sends no tickets else
        return tls;
    }

    /** Makes the pipeline once TLS has chosen the protocol, which must be the one asked for. */
    private static final class Negotiated extends ApplicationProtocolNegotiationHandler {
        private final String wanted;

        Negotiated(String wanted) {
            super(ApplicationProtocolNames.HTTP_1_1); // what a client speaks that names none
            this.wanted = wanted;
        }

        @Override
        protected void configurePipeline(ChannelHandlerContext context, String protocol) throws Http2Exception {
            if (!protocol.equals(wanted)) {
                context.close();
            } else if (protocol.equals(ApplicationProtocolNames.HTTP_2)) {
                http2(context);
            } else {
                http1(context.pipeline());
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }

    private static void http1(ChannelPipeline pipeline) {
        pipeline.addLast(new HttpServerCodec(), new HttpServerExpectContinueHandler(),
            new HttpServerKeepAliveHandler(), new FlowControlHandler(), new OneAtATime(), new Answers());
    }

    private static void http2(ChannelHandlerContext context) throws Http2Exception {
        Http2Settings settings = Terms.http2().maxConcurrentStreams(Terms.STREAMS);
        Http2FrameCodec codec = Http2FrameCodecBuilder.forServer().initialSettings(settings).build();
        context.pipeline().addLast(codec, new Http2MultiplexHandler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel stream) {
                stream.pipeline().addLast(new Http2StreamFrameToHttpObjectCodec(true), new Answers());
            }
        }));
        Terms.widen(codec.connection());
        context.flush();
    }
}
