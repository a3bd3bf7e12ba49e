package dev.h123.netty;

import dev.h123.java.Wanted;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;

/**
 * Answers requests, one after another: those of an HTTP/1.1 connection, or the one of a stream. Netty translates
 * the messages of all three versions to the same objects, so this is the only handler.
 */
final class Answers extends SimpleChannelInboundHandler<HttpObject> {
    private HttpMethod method;
    private String path;
    private long received;
    private Body body = new Body(0);

    @Override
    protected void channelRead0(ChannelHandlerContext context, HttpObject message) {
        if (message.decoderResult().isFailure()) {
            context.close();
            return;
        }
        if (message instanceof HttpRequest request) {
            method = request.method();
            path = request.uri();
            received = 0;
        }
        if (message instanceof HttpContent part) {
            received += part.content().readableBytes();
        }
        if (message instanceof LastHttpContent) {
            answer(context);
        }
    }

    private void answer(ChannelHandlerContext context) {
        Wanted wanted = Wanted.of(method.name(), path);
        switch (wanted.kind()) {
            case BYTES -> bytes(context, wanted.count());
            case UPLOAD -> text(context, HttpResponseStatus.OK, Long.toString(received));
            case HEALTH -> text(context, HttpResponseStatus.OK, "ok");
            default -> text(context, HttpResponseStatus.NOT_FOUND, "not found");
        }
    }

    private void text(ChannelHandlerContext context, HttpResponseStatus status, String text) {
        ByteBuf body = bodiless() ? Unpooled.EMPTY_BUFFER : ByteBufUtil.writeAscii(context.alloc(), text);
        whole(context, status, text.length(), body);
    }

    private void bytes(ChannelHandlerContext context, long count) {
        if (bodiless() || count == 0) {
            whole(context, HttpResponseStatus.OK, count, Unpooled.EMPTY_BUFFER);
            return;
        }
        HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
        head.headers().set(HttpHeaderNames.CONTENT_LENGTH, count);
        context.write(head);
        body = new Body(count);
        body.send(context);
    }

    private boolean bodiless() {
        return method.equals(HttpMethod.HEAD);
    }

    /** An answer in one piece. The length is that of the body which HEAD leaves out. */
    private static void whole(ChannelHandlerContext context, HttpResponseStatus status, long length, ByteBuf body) {
        HttpResponse answer = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, body);
        answer.headers().set(HttpHeaderNames.CONTENT_LENGTH, length);
        context.writeAndFlush(answer);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        body.send(context);
        context.fireChannelWritabilityChanged();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close(); // the client has gone, or broke the protocol
    }
}
