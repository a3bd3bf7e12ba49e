package dev.h123.java;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** What every body is made of, repeated: the same for all subjects, and nothing can compress it. */
public final class Block {
    public static final int SIZE = 64 << 10;

    private Block() {}

    /** The SHA-256 digests of "h123" and a counter, one after another. */
    public static byte[] bytes() {
        ByteBuffer counted = ByteBuffer.wrap("h123....".getBytes(StandardCharsets.US_ASCII));
        ByteBuffer block = ByteBuffer.allocate(SIZE);
        MessageDigest digest = sha256();
        for (int i = 0; block.hasRemaining(); i++) {
            block.put(digest.digest(counted.putInt(4, i).array()));
        }
        return block.array();
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("every Java has SHA-256", missing);
        }
    }
}
