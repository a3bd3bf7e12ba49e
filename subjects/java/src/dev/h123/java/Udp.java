package dev.h123.java;

/** How large a UDP socket's buffers are, the same as of the subjects in other languages. */
public final class Udp {
    /** What the lab's hosts allow; the kernel gives less where less is allowed. */
    public static final int BUFFER = 7_500_000;

    private Udp() {}
}
