package dev.h123.flupke;

import dev.h123.java.Identity;
import dev.h123.java.Options;
import dev.h123.java.Program;
import dev.h123.java.Udp;
import java.net.DatagramSocket;
import java.net.SocketException;
import java.util.List;
import tech.kwik.core.log.SysOutLogger;
import tech.kwik.core.server.ServerConnectionConfig;
import tech.kwik.core.server.ServerConnector;
import tech.kwik.flupke.server.Http3ApplicationProtocolFactory;

/** An HTTP/3 server on Flupke and Kwik: QUIC, TLS and HTTP/3 in Java alone. */
public final class Main {
    private static final int STREAM_WINDOW = 6 << 20;
    private static final int CONNECTION_WINDOW = 15 << 20;
    private static final int STREAMS = 1000;
    private static final int CONTROL_STREAMS = 3;
    private static final int IDLE_SECONDS = 120;

    private Main() {}

    public static void main(String[] arguments) {
        Program.run(arguments, List.of(), Main::start);
    }

    private static AutoCloseable start(Options options) throws Exception {
        if (!options.protocol().equals("h3")) {
            throw Program.unsupported(options.protocol());
        }
        ServerConnector connector = ServerConnector.builder()
            .withSocket(socket(options))
            // Not withCertificate: it reads PEM files as they are, but takes every key for one of RSA.
            .withKeyStore(Identity.keyStore(options), Identity.ALIAS, Identity.PASSWORD.toCharArray(), "secp256r1")
            .withConfiguration(configuration())
            .withLogger(new SysOutLogger()) // errors only, if it is told no more
            .build();
        Http3ApplicationProtocolFactory http3 = new Http3ApplicationProtocolFactory(new Answers());
        http3.setMaxDataSize(Long.MAX_VALUE);
        connector.registerApplicationProtocol(Http3ApplicationProtocolFactory.HTTP3_PROTOCOL_ID, http3);
        connector.start();
        return connector::close;
    }

    private static DatagramSocket socket(Options options) throws SocketException {
        DatagramSocket socket = new DatagramSocket(options.endpoint());
        socket.setReceiveBufferSize(Udp.BUFFER);
        socket.setSendBufferSize(Udp.BUFFER);
        return socket;
    }

    private static ServerConnectionConfig configuration() {
        return ServerConnectionConfig.builder()
            .retryRequired(false)
            .maxIdleTimeoutInSeconds(IDLE_SECONDS)
            .maxConnectionBufferSize(CONNECTION_WINDOW)
            .maxBidirectionalStreamBufferSize(STREAM_WINDOW)
            .maxUnidirectionalStreamBufferSize(STREAM_WINDOW)
            .maxOpenPeerInitiatedBidirectionalStreams(STREAMS)
            .maxOpenPeerInitiatedUnidirectionalStreams(CONTROL_STREAMS)
            .build();
    }
}
