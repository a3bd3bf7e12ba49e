package dev.h123.netty;

import dev.h123.java.Options;
import io.netty.handler.codec.quic.QuicCodecBuilder;
import io.netty.handler.codec.quic.QuicCongestionControlAlgorithm;
import java.util.Locale;

/**
 * How QUIC sends, as far as the command line says; what is empty is quiche's own. The option `pacing` is not asked for:
 * Netty never paces, whether it is told not to or not, since it does not read the times that quiche's pacer names.
 */
record Sending(String congestion, String window, String datagram) {
    static Sending of(Options options) {
        return new Sending(options.get("congestion"), options.get("initial-window"), options.get("max-datagram"));
    }

    <B extends QuicCodecBuilder<B>> B apply(B codec) {
        codec.congestionControlAlgorithm(algorithm());
        if (!datagram.isEmpty()) {
            codec.maxSendUdpPayloadSize(Long.parseLong(datagram));
        }
        return window.isEmpty() ? codec : codec.initialCongestionWindowPackets(Integer.parseInt(window));
    }

    private QuicCongestionControlAlgorithm algorithm() {
        try {
            return QuicCongestionControlAlgorithm.valueOf(congestion.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException unknown) {
            throw new UnsupportedOperationException("congestion control " + congestion + " is not supported", unknown);
        }
    }
}
