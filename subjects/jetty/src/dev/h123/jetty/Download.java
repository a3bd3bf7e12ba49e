package dev.h123.jetty;

import java.nio.ByteBuffer;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.IteratingNestedCallback;

/** The body of an answer: the block repeated, each piece when the last has been taken. */
final class Download extends IteratingNestedCallback {
    private final ByteBuffer block;
    private final Response response;
    private long left;

    Download(ByteBuffer block, Response response, long count, Callback callback) {
        super(callback);
        this.block = block;
        this.response = response;
        this.left = count;
    }

    @Override
    protected Action process() {
        if (left == 0) {
            return Action.SUCCEEDED;
        }
        int size = (int) Math.min(left, block.remaining());
        left -= size;
        response.write(left == 0, block.slice(0, size), this);
        return Action.SCHEDULED;
    }
}
