package dev.h123.netty;

import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.quic.QuicCodecBuilder;
import java.util.concurrent.TimeUnit;

/** What is alike for all protocols, so that it is not what a comparison finds: Netty's defaults differ. */
final class Terms {
    static final int STREAM_WINDOW = 6 << 20;
    static final int CONNECTION_WINDOW = 15 << 20;
    static final int STREAMS = 1000;
    static final int SEGMENTS = 10; // packets handed to the kernel at once (GSO), Netty's own advice
    private static final long IDLE_SECONDS = 120;

    /** RFC 9114's name alone: Netty's own list begins with h3-29, which lsquic takes, and then refuses (alert 120). */
    static final String ALPN = "h3";
    static final String FIRST_KEY_EXCHANGE = "x25519";

    private Terms() {}

    /** What a server takes, the first if the client has it. Left out: the post-quantum one, which only Netty's TCP side knows. */
    static String[] keyExchange() {
        return new String[] {FIRST_KEY_EXCHANGE, "secp256r1"};
    }

    static Http2Settings http2() {
        return Http2Settings.defaultSettings().initialWindowSize(STREAM_WINDOW);
    }

    /** Widens the receive window of an HTTP/2 connection, which no setting of HTTP/2 names. */
    static void widen(Http2Connection connection) throws Http2Exception {
        var receiving = connection.local().flowController();
        int more = CONNECTION_WINDOW - receiving.windowSize(connection.connectionStream());
        receiving.incrementWindowSize(connection.connectionStream(), more);
    }

    /** What both ends of a QUIC connection say of themselves. */
    static <B extends QuicCodecBuilder<B>> B quic(B codec, Sending sending) {
        return sending.apply(codec)
            .maxIdleTimeout(IDLE_SECONDS, TimeUnit.SECONDS)
            .initialMaxData(CONNECTION_WINDOW)
            .initialMaxStreamDataBidirectionalLocal(STREAM_WINDOW)
            .initialMaxStreamDataBidirectionalRemote(STREAM_WINDOW);
    }
}
