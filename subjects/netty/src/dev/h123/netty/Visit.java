package dev.h123.netty;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * A page that is being loaded once. A resource is asked for as soon as its initiator has come whole and run; it then waits
 * for a place on a connection to its host, the most urgent one first, and of those the one that was asked for first.
 */
final class Visit {
    private static final String NOT_ASKED = "other: not asked for, because what asks for it failed";

    private final Load load;
    private final Page page;
    private final ExecutorService threads;
    private final String phase;
    private final int user;
    private final int number;
    private final CountDownLatch left; // resources that have not ended
    /** Free places of each host; the last is taken first, so that an open connection goes before a new one. */
    private final Map<String, Deque<Seat>> places = new HashMap<>();
    private final List<Sample> waiting = new ArrayList<>();

    Visit(Load load, Page page, ExecutorService threads, List<Seat> seats, String phase, int user, int number) {
        this.load = load;
        this.page = page;
        this.threads = threads;
        this.phase = phase;
        this.user = user;
        this.number = number;
        left = new CountDownLatch(page.resources().size());
        for (Seat seat : seats) {
            for (int i = 0; i < page.atOnce(); i++) {
                of(seat.host).addLast(seat);
            }
        }
    }

    /** Is back when every resource has ended. */
    void run() throws InterruptedException {
        ask(List.of(0));
        left.await();
    }

    private Sample sample(int resource) {
        return new Sample(phase, user, number, resource);
    }

    /** Makes resources due, in their order. */
    private synchronized void ask(List<Integer> resources) {
        resources.forEach(resource -> waiting.add(sample(resource)));
        waiting.sort(Comparator.comparing(one -> page.resources().get(one.resource).urgency())); // stable
        deal();
    }

    /** Gives free places to those that wait. */
    private synchronized void deal() {
        waiting.removeIf(sample -> {
            Seat place = of(load.host(sample)).pollFirst();
            if (place != null) {
                threads.execute(() -> fetch(sample, place));
            }
            return place != null;
        });
    }

    private Deque<Seat> of(String host) {
        return places.computeIfAbsent(host, none -> new ArrayDeque<>());
    }

    private synchronized void free(Seat place) {
        of(place.host).addFirst(place);
        deal();
    }

    /** Makes a request, and then what follows from it. */
    private void fetch(Sample sample, Seat place) {
        load.request(place, sample);
        free(place);
        List<Integer> asked = page.asks().get(sample.resource);
        if (!sample.error.isEmpty()) {
            giveUp(asked);
        } else if (!asked.isEmpty()) {
            rest(page.resources().get(sample.resource).runNs());
            ask(asked);
        }
        left.countDown();
    }

    private static void rest(long nanoseconds) {
        try {
            TimeUnit.NANOSECONDS.sleep(nanoseconds);
        } catch (InterruptedException never) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends resources that nobody will ask for, and all that they would have asked for. */
    private void giveUp(List<Integer> resources) {
        for (int resource : resources) {
            Sample sample = sample(resource);
            sample.end = sample.start;
            sample.error = NOT_ASKED;
            load.keep(sample);
            giveUp(page.asks().get(resource));
            left.countDown();
        }
    }
}
