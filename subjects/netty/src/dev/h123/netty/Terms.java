package dev.h123.netty;

/** What is alike for all protocols, so that it is not what a comparison finds: Netty's defaults differ. */
final class Terms {
    static final int STREAM_WINDOW = 6 << 20;
    static final int CONNECTION_WINDOW = 15 << 20;
    static final int STREAMS = 1000;

    private static final String[] KEY_EXCHANGE = {"x25519", "secp256r1"};

    private Terms() {}

    /** The first is taken if the client has it. Left out: the post-quantum one, which only Netty's TCP side knows. */
    static String[] keyExchange() {
        return KEY_EXCHANGE.clone();
    }
}
