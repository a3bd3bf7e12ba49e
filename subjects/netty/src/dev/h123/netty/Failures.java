package dev.h123.netty;

import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.codec.CodecException;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http3.Http3Exception;
import io.netty.handler.codec.quic.QuicStreamResetException;
import io.netty.handler.ssl.SslClosedEngineException;
import java.io.IOException;
import java.net.ConnectException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;

/** What ended a request, in the contract's words. */
final class Failures {
    static final String TIMEOUT = "timeout";
    static final String RESET = "reset";
    static final String PROTOCOL = "protocol";
    static final String WRONG_BYTES = "wrong-bytes";

    private Failures() {}

    static String word(Throwable cause) {
        if ((cause instanceof ExecutionException || cause instanceof CodecException) && cause.getCause() != null) {
            return word(cause.getCause());
        }
        if (cause instanceof TimeoutException || cause instanceof ConnectTimeoutException) {
            return TIMEOUT;
        }
        if (cause instanceof ConnectException) {
            return "refused";
        }
        if (cause instanceof SslClosedEngineException) {
            return RESET;
        }
        if (cause instanceof SSLException) {
            return "tls";
        }
        if (cause instanceof Http2Exception || cause instanceof Http3Exception || cause instanceof CodecException) {
            return PROTOCOL;
        }
        if (cause instanceof IOException || cause instanceof QuicStreamResetException) {
            return RESET;
        }
        return "other: " + cause;
    }
}
