package dev.h123.netty;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.LastHttpContent;

/** HTTP/1.1: holds a connection's next request back until the answer to the last one has been sent. */
final class OneAtATime extends ChannelDuplexHandler {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof LastHttpContent) {
            context.channel().config().setAutoRead(false);
        }
        context.fireChannelRead(message);
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        if (message instanceof LastHttpContent) {
            promise.addListener(sent -> context.channel().config().setAutoRead(true));
        }
        context.write(message, promise);
    }
}
