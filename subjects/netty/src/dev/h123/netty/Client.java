package dev.h123.netty;

import com.google.gson.GsonBuilder;
import dev.h123.java.Options;
import dev.h123.java.Program;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A load generator on Netty, with the same TLS and QUIC as the server. */
public final class Client {
    private static final Map<String, String> ALPN = Map.of("h1", "http/1.1", "h2", "h2", "h3", "h3");

    private Client() {}

    public static void main(String[] arguments) {
        List<String> options = List.of(
            "workload", "samples", "facts", "congestion", "initial-window", "pacing", "max-datagram");
        Program.once(arguments, options, Client::drive);
    }

    private static void drive(Options options) throws Exception {
        Workload workload = Workload.read(options.file("workload"));
        if (!ALPN.containsKey(workload.protocol())) {
            throw Program.unsupported(workload.protocol());
        }
        if (workload.rate() != null) {
            throw new UnsupportedOperationException("no open loop: users are threads here, which wait for their answers");
        }
        Body.load();
        Comparison.load();
        try (Loops loops = new Loops()) {
            Dialer dialer = Dialer.of(workload, loops, Sending.of(options));
            List<Sample> samples = new Load(workload, dialer).run();
            Files.write(options.file("samples"),
                Stream.concat(Stream.of(Sample.HEADER), samples.stream().map(Sample::row)).toList());
            write(options.file("facts"), facts(workload, dialer.made(), options.get("congestion")));
        }
    }

    /** What the connections were like, like ones counted together. */
    private static Map<String, Object> facts(Workload workload, List<Link> links, String congestion) {
        boolean quic = workload.protocol().equals("h3");
        Map<String, Long> ciphers =
            links.stream().map(link -> link.cipher).collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
        List<Map<String, Object>> tls = ciphers.entrySet().stream().map(kind -> Map.<String, Object>of(
            "version", "1.3", "cipher", kind.getKey(), "key_exchange", "X25519", // the only ones offered
            "alpn", ALPN.get(workload.protocol()), "connections", kind.getValue())).toList();
        return quic
            ? Map.of("h123", "client/1", "tls", tls, "congestion", congestion, "notes", List.of())
            : Map.of("h123", "client/1", "tls", tls,
                "notes", List.of("congestion control is the kernel's, which Netty does not ask"));
    }

    private static void write(Path file, Map<String, Object> facts) throws IOException {
        Files.writeString(file, new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create().toJson(facts) + "\n");
    }
}
