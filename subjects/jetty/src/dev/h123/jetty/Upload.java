package dev.h123.jetty;

import java.util.function.LongConsumer;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.Callback;

/** Reads the body of a request to its end and tells how many bytes it had. */
final class Upload implements Runnable {
    private final Request request;
    private final LongConsumer whole;
    private final Callback failed;
    private long count;

    Upload(Request request, LongConsumer whole, Callback failed) {
        this.request = request;
        this.whole = whole;
        this.failed = failed;
    }

    @Override
    public void run() {
        while (true) {
            Content.Chunk chunk = request.read();
            if (chunk == null) {
                request.demand(this); // runs again when there is more
                return;
            }
            if (Content.Chunk.isFailure(chunk)) {
                failed.failed(chunk.getFailure());
                return;
            }
            count += chunk.remaining();
            chunk.release();
            if (chunk.isLast()) {
                whole.accept(count);
                return;
            }
        }
    }
}
