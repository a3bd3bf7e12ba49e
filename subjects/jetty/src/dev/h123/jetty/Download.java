package dev.h123.jetty;

import dev.h123.java.Block;
import java.nio.ByteBuffer;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.IteratingNestedCallback;

/** The body of an answer: the block repeated, each piece when the last has been taken. */
final class Download extends IteratingNestedCallback {
    private static final ByteBuffer BLOCK = ByteBuffer.allocateDirect(Block.SIZE).put(Block.bytes()).flip();

    private final Response response;
    private long left;

    Download(Response response, long count, Callback callback) {
        super(callback);
        this.response = response;
        this.left = count;
    }

    @Override
    protected Action process() {
        if (left == 0) {
            return Action.SUCCEEDED;
        }
        int size = (int) Math.min(left, Block.SIZE);
        left -= size;
        response.write(left == 0, BLOCK.slice(0, size), this);
        return Action.SCHEDULED;
    }
}
