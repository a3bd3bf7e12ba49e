package dev.h123.netty;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Carries a workload out, in a closed loop: each user, a thread, asks again when its last request has ended. */
final class Load {
    private final Workload workload;
    private final List<Seat> seats = new ArrayList<>();
    private final List<Sample> samples = new ArrayList<>();

    Load(Workload workload, Dialer dialer) {
        this.workload = workload;
        for (int i = 0; i < workload.seats(); i++) {
            seats.add(new Seat(dialer, workload.exclusive()));
        }
    }

    List<Sample> run() throws InterruptedException {
        if (workload.cold()) {
            for (int i = 0; i < seats.size(); i++) {
                request(seats.get(i), new Sample("cold", i % workload.users()));
            }
        }
        closedLoop();
        return samples;
    }

    private void closedLoop() throws InterruptedException {
        CountDownLatch gate = new CountDownLatch(1);
        List<Thread> users = new ArrayList<>();
        for (int i = 0; i < workload.users(); i++) {
            int user = i;
            users.add(new Thread(() -> use(gate, user)));
        }
        users.forEach(Thread::start);
        gate.countDown();
        for (Thread user : users) {
            user.join();
        }
    }

    private void use(CountDownLatch gate, int user) {
        Seat seat = seats.get(user % seats.size());
        try {
            gate.await();
        } catch (InterruptedException never) {
            Thread.currentThread().interrupt();
        }
        for (int i = 0; i < workload.warmup() + workload.requests(); i++) {
            request(seat, new Sample(i < workload.warmup() ? "warmup" : "warm", user));
        }
    }

    private void request(Seat seat, Sample sample) {
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
        synchronized (samples) {
            samples.add(sample);
        }
    }
}
