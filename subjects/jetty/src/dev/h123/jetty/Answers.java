package dev.h123.jetty;

import dev.h123.java.Block;
import dev.h123.java.Wanted;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** What the contract of a server asks for, without ever blocking a thread. */
final class Answers extends Handler.Abstract.NonBlocking {
    private final ByteBuffer block = ByteBuffer.allocateDirect(Block.SIZE).put(Block.bytes()).flip();

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        Wanted wanted = Wanted.of(request.getMethod(), Request.getPathInContext(request));
        switch (wanted.kind()) {
            case BYTES -> bytes(request, response, wanted.count(), callback);
            case UPLOAD -> new Upload(request, count -> text(response, Long.toString(count), callback), callback).run();
            case HEALTH -> text(response, "ok", callback);
            default -> Response.writeError(request, response, callback, HttpStatus.NOT_FOUND_404);
        }
        return true;
    }

    private void bytes(Request request, Response response, long count, Callback callback) {
        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, count);
        if (count == 0 || HttpMethod.HEAD.is(request.getMethod())) {
            response.write(true, null, callback);
        } else {
            new Download(block, response, count, callback).iterate();
        }
    }

    private static void text(Response response, String text, Callback callback) {
        ByteBuffer body = StandardCharsets.US_ASCII.encode(text);
        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.remaining());
        response.write(true, body, callback);
    }
}
