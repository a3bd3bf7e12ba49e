package dev.h123.netty;

import dev.h123.java.Block;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.util.concurrent.Future;
import java.util.function.Consumer;

/** A body on its way out: the block, repeated. */
final class Body {
    private static final ByteBuf BLOCK =
        Unpooled.unreleasableBuffer(Unpooled.directBuffer(Block.SIZE).writeBytes(Block.bytes()));

    private final long count;
    private final Consumer<Future<?>> heed;
    private long left;
    private long written;

    /** One of which nobody asks how it gets on. */
    Body(long count) {
        this(count, write -> {});
    }

    /** Tells `heed` the outcome of each write. */
    Body(long count, Consumer<Future<?>> heed) {
        this.count = count;
        this.heed = heed;
        left = count;
    }

    /** Makes the block now, so that no request has to wait for it. */
    static void load() {
        // The class has it by now.
    }

    /** Sends what is left of it, as far as the connection takes it now. To be called again when it takes more. */
    void send(ChannelHandlerContext context) {
        while (left > 0 && context.channel().isWritable()) {
            int size = (int) Math.min(left, Block.SIZE);
            left -= size;
            ByteBuf part = BLOCK.retainedSlice(0, size);
            context.write(left == 0 ? new DefaultLastHttpContent(part) : new DefaultHttpContent(part))
                .addListener(write -> taken(size, write));
        }
        context.flush();
    }

    private void taken(int size, Future<?> write) {
        if (write.isSuccess()) {
            written += size;
        }
        heed.accept(write);
    }

    boolean whole() {
        return written == count;
    }

    /** How many bytes of it have been written. */
    long written() {
        return written;
    }
}
