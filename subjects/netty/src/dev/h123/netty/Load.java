package dev.h123.netty;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

/** Carries a workload out, in a closed loop: each user, a thread, asks again when its last request, or visit, has ended. */
final class Load {
    private final Workload workload;
    private final Dialer dialer;
    private final List<Sample> samples = new ArrayList<>();

    Load(Workload workload, Dialer dialer) {
        this.workload = workload;
        this.dialer = dialer;
    }

    List<Sample> run() throws InterruptedException {
        if (workload.visits()) {
            Page page = workload.readPage();
            ExecutorService threads = Executors.newCachedThreadPool();
            together(user -> visit(page, threads, user));
            threads.shutdown();
            return samples;
        }
        List<Seat> seats = seats();
        if (workload.cold()) {
            for (int i = 0; i < seats.size(); i++) {
                request(seats.get(i), new Sample("cold", i % workload.users()));
            }
        }
        together(user -> use(seats.get(user % seats.size()), user));
        return samples;
    }

    /** As many places for connections to each host as the workload asks for. */
    private List<Seat> seats() {
        List<Seat> seats = new ArrayList<>();
        for (String host : workload.hosts()) {
            for (int i = 0; i < workload.seats(); i++) {
                seats.add(new Seat(dialer, host, workload.exclusive()));
            }
        }
        return seats;
    }

    /** All users begin at the same time. */
    private void together(IntConsumer begin) throws InterruptedException {
        CountDownLatch gate = new CountDownLatch(1);
        List<Thread> users = new ArrayList<>();
        for (int i = 0; i < workload.users(); i++) {
            int user = i;
            users.add(new Thread(() -> {
                try {
                    gate.await();
                    begin.accept(user);
                } catch (InterruptedException never) {
                    Thread.currentThread().interrupt();
                }
            }));
        }
        users.forEach(Thread::start);
        gate.countDown();
        for (Thread user : users) {
            user.join();
        }
    }

    private void use(Seat seat, int user) {
        for (int i = 0; i < workload.warmup() + workload.requests(); i++) {
            request(seat, new Sample(phase(i), user));
        }
    }

    /** A visit has connections of its own, or, where nothing is to be cold, its user's visits share them. */
    private void visit(Page page, ExecutorService threads, int user) {
        List<Seat> seats = seats();
        for (int i = 0; i < workload.warmup() + workload.requests(); i++) {
            try {
                TimeUnit.NANOSECONDS.sleep(i == 0 ? 0 : workload.pauseNs());
                new Visit(this, page, threads, seats, phase(i), user, i).run();
            } catch (InterruptedException never) {
                Thread.currentThread().interrupt();
            }
            if (workload.cold()) {
                seats.forEach(Seat::close);
                seats = seats();
            }
        }
    }

    /** Whom a request is made of. */
    String host(Sample sample) {
        return workload.asked(sample.resource).host();
    }

    private String phase(int number) {
        return number < workload.warmup() ? "warmup" : "warm";
    }

    void request(Seat seat, Sample sample) {
        try {
            Link link = seat.take(sample.start + workload.timeoutNs());
            if (sample.phase.equals("cold")) {
                sample.connected = link.ready;
            }
            Exchange exchange = new Exchange(workload, sample);
            link.start(exchange, sample);
            exchange.await();
        } catch (Exception failed) {
            sample.end = System.nanoTime();
            sample.error = Failures.word(failed);
        } finally {
            seat.leave();
        }
        keep(sample);
    }

    /** For samples.csv. */
    void keep(Sample sample) {
        synchronized (samples) {
            samples.add(sample);
        }
    }
}
