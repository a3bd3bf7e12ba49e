package dev.h123.java;

/** What a request asks for. `count` is the n of /bytes/n, else 0. */
public record Wanted(Kind kind, long count) {
    public enum Kind { BYTES, UPLOAD, HEALTH, UNKNOWN }

    private static final String BYTES = "/bytes/";
    private static final int LONGEST_NUMBER = 12;

    public static Wanted of(String method, String path) {
        boolean get = method.equals("GET") || method.equals("HEAD");
        if (get && path.startsWith(BYTES)) {
            return bytes(path.substring(BYTES.length()));
        }
        if (get && path.equals("/health")) {
            return new Wanted(Kind.HEALTH, 0);
        }
        if (method.equals("POST") && path.equals("/upload")) {
            return new Wanted(Kind.UPLOAD, 0);
        }
        return new Wanted(Kind.UNKNOWN, 0);
    }

    private static Wanted bytes(String count) {
        boolean number = !count.isEmpty() && count.length() <= LONGEST_NUMBER
            && count.chars().allMatch(digit -> digit >= '0' && digit <= '9');
        return number ? new Wanted(Kind.BYTES, Long.parseLong(count)) : new Wanted(Kind.UNKNOWN, 0);
    }
}
