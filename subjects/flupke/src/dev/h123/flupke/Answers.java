package dev.h123.flupke;

import dev.h123.java.Block;
import dev.h123.java.Wanted;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import tech.kwik.flupke.server.HttpRequestHandler;
import tech.kwik.flupke.server.HttpServerRequest;
import tech.kwik.flupke.server.HttpServerResponse;

/** What the contract of a server asks for. Flupke gives each request a thread, so this may wait. */
final class Answers implements HttpRequestHandler {
    private static final int OK = 200;
    private static final int NOT_FOUND = 404;
    private static final byte[] BLOCK = Block.bytes();
    /** Half a block: Kwik's buffer takes it whole, so that a reminder comes between pieces, not into one. */
    private static final int PIECE = Block.SIZE / 2;

    @Override
    public void handleRequest(HttpServerRequest request, HttpServerResponse response) throws IOException {
        Wanted wanted = Wanted.of(request.method(), request.path());
        switch (wanted.kind()) {
            case BYTES -> bytes(request, response, wanted.count());
            case UPLOAD -> text(request, response, OK, Long.toString(count(request.body())));
            case HEALTH -> text(request, response, OK, "ok");
            default -> text(request, response, NOT_FOUND, "not found");
        }
    }

    private static void bytes(HttpServerRequest request, HttpServerResponse response, long count) throws IOException {
        begin(response, OK, count);
        if (bodiless(request)) {
            return;
        }
        OutputStream body = response.getOutputStream();
        try (Reminder reminder = new Reminder(body)) {
            for (long sent = 0; sent < count; sent += PIECE) {
                body.write(BLOCK, (int) (sent % Block.SIZE), (int) Math.min(count - sent, PIECE));
                reminder.gotOn();
            }
        }
    }

    private static void text(HttpServerRequest request, HttpServerResponse response, int status, String text)
            throws IOException {
        begin(response, status, text.length());
        if (!bodiless(request)) {
            response.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        }
    }

    private static void begin(HttpServerResponse response, int status, long length) {
        response.setStatus(status);
        response.addHeader("content-length", Long.toString(length));
    }

    private static boolean bodiless(HttpServerRequest request) {
        return request.method().equals("HEAD");
    }

    private static long count(InputStream body) throws IOException {
        byte[] buffer = new byte[Block.SIZE];
        long count = 0;
        for (int n = body.read(buffer); n >= 0; n = body.read(buffer)) {
            count += n;
        }
        return count;
    }
}
