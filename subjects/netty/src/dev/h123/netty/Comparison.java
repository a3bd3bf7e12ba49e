package dev.h123.netty;

import dev.h123.java.Block;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.regex.Pattern;

/** A body on its way in, held against the block. What differs from it, repeated, shows in the body's end. */
final class Comparison {
    private static final Pattern PATH = Pattern.compile("/bytes/[0-9]+");
    private static final ByteBuffer BLOCK = ByteBuffer.allocateDirect(Block.SIZE).put(Block.bytes()).flip();

    private int at; // in the block
    private boolean wrong;

    /** Makes the block now, so that no request has to wait for it. */
    static void load() {
        // The class has it by now.
    }

    /** Whether the answer to a request is the block, repeated and cut. */
    static boolean isFor(String method, String path) {
        return method.equals("GET") && PATH.matcher(path).matches();
    }

    /** The next piece of the body, which is not read by this. */
    void take(ByteBuf piece) {
        int from = piece.readerIndex();
        while (from < piece.writerIndex() && !wrong) {
            int size = Math.min(piece.writerIndex() - from, Block.SIZE - at);
            wrong = BLOCK.slice(at, size).mismatch(piece.nioBuffer(from, size)) >= 0;
            at = (at + size) % Block.SIZE;
            from += size;
        }
    }

    boolean isWrong() {
        return wrong;
    }
}
