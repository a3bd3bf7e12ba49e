package dev.h123.netty;

import dev.h123.java.Block;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultLastHttpContent;

/** A body on its way out: the block, repeated. */
final class Body {
    private static final ByteBuf BLOCK =
        Unpooled.unreleasableBuffer(Unpooled.directBuffer(Block.SIZE).writeBytes(Block.bytes()));

    private final long count;
    private final Runnable whole;
    private long left;
    private long written;

    /** Tells `whole` when all of it has been written. */
    Body(long count, Runnable whole) {
        this.count = count;
        this.whole = whole;
        left = count;
    }

    /** Sends what is left of it, as far as the connection takes it now. To be called again when it takes more. */
    void send(ChannelHandlerContext context) {
        while (left > 0 && context.channel().isWritable()) {
            int size = (int) Math.min(left, Block.SIZE);
            left -= size;
            ByteBuf part = BLOCK.retainedSlice(0, size);
            context.write(left == 0 ? new DefaultLastHttpContent(part) : new DefaultHttpContent(part))
                .addListener(done -> taken(done.isSuccess() ? size : 0));
        }
        context.flush();
    }

    private void taken(int size) {
        written += size;
        if (size > 0 && written == count) {
            whole.run();
        }
    }

    /** How many bytes of it have been written. */
    long written() {
        return written;
    }
}
