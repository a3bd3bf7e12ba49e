package dev.h123.jetty;

import dev.h123.java.Identity;
import dev.h123.java.Options;
import dev.h123.java.Program;
import dev.h123.java.Udp;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.DatagramChannel;
import java.nio.file.Path;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http2.RateControl;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.http3.server.HTTP3ServerConnectionFactory;
import org.eclipse.jetty.http3.server.HTTP3ServerQuicConfiguration;
import org.eclipse.jetty.quic.quiche.Quiche;
import org.eclipse.jetty.quic.quiche.server.QuicheServerConnector;
import org.eclipse.jetty.quic.quiche.server.QuicheServerQuicConfiguration;
import org.eclipse.jetty.server.AbstractConnector;
import org.eclipse.jetty.server.AbstractNetworkConnector;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/** What listens, by protocol. Flow control and concurrency are alike for HTTP/2 and HTTP/3, where Jetty has few limits. */
final class Connectors {
    private static final int STREAM_WINDOW = 6 << 20;
    private static final int CONNECTION_WINDOW = 15 << 20;
    private static final int STREAMS = 1000;
    private static final int ACCEPT_QUEUE = 1024;
    private static final long STREAM_IDLE_MILLISECONDS = 120_000;

    private Connectors() {}

    static AbstractConnector make(Server server, Options options) throws Exception {
        AbstractNetworkConnector connector = switch (options.protocol()) {
            case "h1" -> tcp(server, tls(options), new HttpConnectionFactory(http()));
            case "h2" -> tcp(server, tls(options), http2());
            case "h3" -> quic(server, tls(options));
            default -> throw Program.unsupported(options.protocol());
        };
        InetSocketAddress endpoint = options.endpoint();
        connector.setHost(endpoint.getHostString());
        connector.setPort(endpoint.getPort());
        return connector;
    }

    private static SslContextFactory.Server tls(Options options) throws Exception {
        SslContextFactory.Server tls = new SslContextFactory.Server();
        tls.setKeyStore(Identity.keyStore(options));
        tls.setKeyStorePassword(Identity.PASSWORD);
        tls.setIncludeProtocols("TLSv1.3");
        tls.setIncludeCipherSuites("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"); // the first, as quiche does
        return tls;
    }

    private static HttpConfiguration http() {
        HttpConfiguration configuration = new HttpConfiguration();
        configuration.setSendServerVersion(false);
        // Jetty would add one that refuses requests by address.
        configuration.addCustomizer(new SecureRequestCustomizer(false));
        return configuration;
    }

    private static ServerConnector tcp(Server server, SslContextFactory.Server tls, ConnectionFactory protocol) {
        ALPNServerConnectionFactory alpn = new ALPNServerConnectionFactory(); // negotiates what stands beside it
        SslConnectionFactory secure = new SslConnectionFactory(tls, alpn.getProtocol());
        ServerConnector connector = new ServerConnector(server, secure, alpn, protocol);
        connector.setAcceptQueueSize(ACCEPT_QUEUE);
        return connector;
    }

    private static HTTP2ServerConnectionFactory http2() {
        HTTP2ServerConnectionFactory http2 = new HTTP2ServerConnectionFactory(http());
        http2.setInitialStreamRecvWindow(STREAM_WINDOW);
        http2.setInitialSessionRecvWindow(CONNECTION_WINDOW);
        http2.setMaxConcurrentStreams(STREAMS);
        http2.setStreamIdleTimeout(STREAM_IDLE_MILLISECONDS);
        // By default it hangs up on clients whose windows move more than 128 times a second, as a fast one's do.
        http2.setRateControlFactory(new RateControl.Factory() {});
        return http2;
    }

    private static QuicheServerConnector quic(Server server, SslContextFactory.Server tls) throws Exception {
        Class.forName(Quiche.class.getName()); // loads the library now, not while the first client waits
        Path keys = Path.of(System.getProperty("java.io.tmpdir")); // files for quiche, which Jetty deletes when it stops
        QuicheServerQuicConfiguration quic =
            HTTP3ServerQuicConfiguration.configure(new QuicheServerQuicConfiguration(keys));
        quic.setSessionMaxData(CONNECTION_WINDOW);
        quic.setLocalBidirectionalStreamMaxData(STREAM_WINDOW);
        quic.setRemoteBidirectionalStreamMaxData(STREAM_WINDOW);
        quic.setBidirectionalMaxStreams(STREAMS);
        quic.setStreamIdleTimeout(STREAM_IDLE_MILLISECONDS);
        HTTP3ServerConnectionFactory http3 = new HTTP3ServerConnectionFactory(http());
        http3.getHTTP3Configuration().setStreamIdleTimeout(STREAM_IDLE_MILLISECONDS);
        return new QuicheServerConnector(server, tls, quic, http3) {
            @Override
            protected DatagramChannel openDatagramChannel() throws IOException {
                return super.openDatagramChannel()
                    .setOption(StandardSocketOptions.SO_RCVBUF, Udp.BUFFER)
                    .setOption(StandardSocketOptions.SO_SNDBUF, Udp.BUFFER);
            }
        };
    }
}
