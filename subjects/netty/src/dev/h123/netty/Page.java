package dev.h123.netty;

import java.util.ArrayList;
import java.util.List;

/** A page: a document, and what asks for what. */
record Page(List<Resource> resources, int atOnce, List<List<Integer>> asks) {
    /**
     * One that is asked for. `initiator`: what asks for it, null of the document; `runNs`: until what it asks for is due;
     * `host`: null where it is the workload's.
     */
    record Resource(String path, List<Header> headers, Integer initiator, int urgency, long runNs, String host) {}

    /** A field of a request's header. */
    record Header(String name, String value, boolean changes) {}

    /** Of what workload.json says; each is asked for by one that is, in the end, asked for by the first. */
    static Page of(List<Resource> resources, int atOnce) {
        List<List<Integer>> asks = new ArrayList<>();
        resources.forEach(resource -> asks.add(new ArrayList<>()));
        for (int i = 0; i < resources.size(); i++) {
            Integer asker = resources.get(i).initiator();
            if (asker == null ? i != 0 : i == 0 || asker < 0 || asker >= resources.size()) {
                throw new IllegalArgumentException("nothing asks for resource " + i + " of the page");
            }
            if (asker != null) {
                asks.get(asker).add(i);
            }
        }
        if (atOnce < 1 || resources.isEmpty() || reached(asks, 0) < resources.size()) {
            throw new IllegalArgumentException("a page has a document, which asks for all else in the end");
        }
        return new Page(resources, atOnce, asks);
    }

    /** How many come after one, with it. */
    private static int reached(List<List<Integer>> asks, int from) {
        return 1 + asks.get(from).stream().mapToInt(next -> reached(asks, next)).sum();
    }
}
