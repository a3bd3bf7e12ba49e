package dev.h123.java;

import java.util.ArrayList;
import java.util.List;

/** A subject as a program: what its command line asks for, and how it ends. */
public final class Program {
    private static final List<String> COMMON = List.of("address", "port", "protocol", "cert", "key");
    private static final int DONE = 0;
    private static final int FAILED = 1;
    private static final int WRONG_OPTIONS = 2;
    private static final int UNSUPPORTED = 127;
    private static final long STOP_MILLISECONDS = 1500;

    private Program() {}

    /** Starts a server that listens when it returns; closing ends it. */
    public interface Start {
        AutoCloseable start(Options options) throws Exception;
    }

    /** What a program does that ends by itself. */
    public interface Task {
        void run(Options options) throws Exception;
    }

    /** Runs a server whose command line has the common options and `more`. */
    public static void run(String[] arguments, List<String> more, Start server) {
        List<String> names = new ArrayList<>(COMMON);
        names.addAll(more);
        guard(arguments, names, options -> {
            AutoCloseable running = server.start(options);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(running)));
        });
    }

    /** Runs a task, and ends the program after it. */
    public static void once(String[] arguments, List<String> names, Task task) {
        guard(arguments, names, task);
        System.exit(DONE);
    }

    private static void guard(String[] arguments, List<String> names, Task task) {
        try {
            task.run(Options.parse(arguments, names));
        } catch (IllegalArgumentException wrong) {
            exit(WRONG_OPTIONS, wrong);
        } catch (UnsupportedOperationException unsupported) {
            exit(UNSUPPORTED, unsupported);
        } catch (Exception failed) {
            exit(FAILED, failed);
        }
    }

    /** The error of a subject that does not speak the protocol asked for. */
    public static UnsupportedOperationException unsupported(String protocol) {
        return new UnsupportedOperationException("protocol " + protocol + " is not supported");
    }

    private static void exit(int status, Exception why) {
        System.err.println(why);
        System.exit(status);
    }

    /** Ends the process with status 0: by itself Java exits with 143 after SIGTERM. */
    private static void stop(AutoCloseable running) {
        Thread closing = new Thread(() -> close(running));
        closing.start();
        try {
            closing.join(STOP_MILLISECONDS);
        } catch (InterruptedException hurry) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(DONE);
    }

    private static void close(AutoCloseable running) {
        try {
            running.close();
        } catch (Exception failed) {
            System.err.println("while stopping: " + failed);
        }
    }
}
