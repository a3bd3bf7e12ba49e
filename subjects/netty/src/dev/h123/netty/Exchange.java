package dev.h123.netty;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.ChannelOutputShutdownException;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.Future;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A request and its answer, on a connection of HTTP/1.1 or a stream of the others: fills in a sample. All but
 * `await` happens on the connection's event loop.
 */
final class Exchange extends SimpleChannelInboundHandler<HttpObject> {
    private static final long UNKNOWN = -1;

    private final Workload workload;
    private final Workload.Asked asked;
    private final Sample sample;
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private final Body body;
    private final Comparison held; // null: the answer is not the block
    private ChannelHandlerContext context;
    private Future<?> limit;
    private long expected = UNKNOWN;
    private boolean keepAlive = true;

    Exchange(Workload workload, Sample sample) {
        this.workload = workload;
        this.asked = workload.asked(sample.resource);
        this.sample = sample;
        body = new Body(asked.uploadBytes(), this::written);
        held = Comparison.isFor(asked.method(), asked.path()) ? new Comparison() : null;
    }

    /** Waits for the end of it. */
    void await() throws Exception {
        over.get();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    /** Sends the request. */
    void begin() {
        long left = sample.start + workload.timeoutNs() - System.nanoTime();
        limit = context.executor().schedule(() -> end(Failures.TIMEOUT), left, TimeUnit.NANOSECONDS);
        HttpMethod method = HttpMethod.valueOf(asked.method());
        if (asked.uploadBytes() > 0) {
            context.write(headed(new DefaultHttpRequest(HttpVersion.HTTP_1_1, method, asked.path())))
                .addListener(this::written);
            body.send(context);
        } else {
            HttpRequest whole =
                new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, method, asked.path(), Unpooled.EMPTY_BUFFER);
            context.writeAndFlush(headed(whole)).addListener(this::written);
        }
    }

    private HttpRequest headed(HttpRequest request) {
        request.headers().set(HttpHeaderNames.HOST, asked.host()).set(HttpHeaderNames.USER_AGENT, "h123");
        asked.headers().forEach(header -> request.headers().set(header.name(), header.value()));
        if (request.method().equals(HttpMethod.POST)) {
            request.headers().set(HttpHeaderNames.CONTENT_LENGTH, asked.uploadBytes());
        }
        return request;
    }

    private void written(Future<?> part) {
        if (part.isSuccess()) {
            if (body.whole() && sample.end == 0) {
                sample.sent = System.nanoTime();
            }
        } else if (!(part.cause() instanceof ChannelOutputShutdownException)) { // else the answer may come all the same
            end(Failures.word(part.cause()));
        }
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ignored, HttpObject message) {
        if (message.decoderResult().isFailure()) {
            end(Failures.PROTOCOL);
            return;
        }
        if (message instanceof HttpResponse response) {
            sample.firstByte = System.nanoTime();
            sample.status = response.status().code();
            expected = HttpUtil.getContentLength(response, UNKNOWN);
            keepAlive = HttpUtil.isKeepAlive(response);
        }
        if (message instanceof HttpContent part) {
            sample.down += part.content().readableBytes();
            if (held != null) {
                held.take(part.content());
            }
        }
        if (message instanceof LastHttpContent) {
            end(expected != UNKNOWN && expected != sample.down ? Failures.PROTOCOL : verdict());
        }
    }

    private String verdict() {
        if (sample.status == 200 && held != null && held.isWrong()) {
            return Failures.WRONG_BYTES;
        }
        return sample.status >= 200 && sample.status < 300 ? "" : "other: status " + sample.status;
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ignored) {
        body.send(context);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ignored) {
        end(Failures.RESET);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ignored, Throwable cause) {
        end(Failures.word(cause));
    }

    /** Takes note of the end, and leaves the connection of HTTP/1.1 to the next request if it is good for one. */
    private void end(String error) {
        if (sample.end != 0) {
            return;
        }
        sample.end = System.nanoTime();
        sample.error = error;
        sample.up = body.written();
        limit.cancel(false);
        if (workload.exclusive() && error.isEmpty() && keepAlive) {
            context.pipeline().remove(this);
        } else {
            context.close();
        }
        over.complete(null);
    }

    /** There is no stream to send the request on. */
    void fail(Throwable cause) {
        over.completeExceptionally(cause);
    }
}
