package dev.h123.netty;

import dev.h123.java.Options;
import dev.h123.java.Program;
import java.util.List;

/** An HTTP server on Netty: HTTP/1.1 and HTTP/2 over its BoringSSL, HTTP/3 over Cloudflare's quiche. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        Program.run(arguments, List.of("congestion", "initial-window", "pacing", "max-datagram", "qlog"), Main::start);
    }

    private static AutoCloseable start(Options options) throws Exception {
        Body.load();
        return switch (options.protocol()) {
            case "h1", "h2" -> TcpServer.start(options);
            case "h3" -> QuicServer.start(options);
            default -> throw Program.unsupported(options.protocol());
        };
    }
}
