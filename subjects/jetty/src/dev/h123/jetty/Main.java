package dev.h123.jetty;

import dev.h123.java.Options;
import dev.h123.java.Program;
import java.util.List;
import org.eclipse.jetty.server.AbstractConnector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** An HTTP server on Jetty: HTTP/1.1 and HTTP/2 over Java's own TLS, HTTP/3 over Cloudflare's quiche. */
public final class Main {
    /** A thread a processor, as the handler never blocks. Below this Jetty has no room for acceptors and selectors. */
    private static final int FEWEST_THREADS = 8;
    private static final long IDLE_MILLISECONDS = 120_000;

    private Main() {}

    public static void main(String[] arguments) {
        Program.run(arguments, List.of(), Main::start);
    }

    private static AutoCloseable start(Options options) throws Exception {
        int threads = Math.max(FEWEST_THREADS, Runtime.getRuntime().availableProcessors());
        Server server = new Server(new QueuedThreadPool(threads));
        AbstractConnector connector = Connectors.make(server, options);
        connector.setIdleTimeout(IDLE_MILLISECONDS);
        server.addConnector(connector);
        server.setHandler(new Answers());
        server.start();
        return server::stop;
    }
}
