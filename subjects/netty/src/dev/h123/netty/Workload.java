package dev.h123.netty;

import com.google.gson.FieldNamingPolicy;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** What the client is to do: workload.json. `method`, `path` and `uploadBytes` are of one kind, `page` and `atOnce` of the other. */
record Workload(String kind, String protocol, String host, String address, int port, String ca, String method, String path,
                long uploadBytes, List<Page.Resource> page, int atOnce, int users, int requests, Double rate,
                JsonPrimitive connections, boolean cold, int warmup, long timeoutNs, long pauseNs) {

    /** What a request asks for. */
    record Asked(String host, String method, String path, long uploadBytes, List<Page.Header> headers) {}

    private static final String PAGE = "page";
    private static final Set<String> COMMON = Set.of("h123", "kind", "protocol", "host", "address", "port", "ca", "users",
        "requests", "rate", "connections", "cold", "warmup", "timeout_ns", "seed", "headers");
    private static final Map<String, Set<String>> OWN =
        Map.of("requests", Set.of("method", "path", "upload_bytes"), PAGE, Set.of("page", "at_once"));
    private static final String PAUSE = "pause_ns"; // only where a study of pages has one
    private static final Set<String> OF_RESOURCES = Set.of("path", "headers", "initiator", "urgency", "run_ns", "host");

    static Workload read(Path file) throws IOException {
        try (Reader text = Files.newBufferedReader(file)) {
            JsonObject whole = JsonParser.parseReader(text).getAsJsonObject();
            refuseUnknown(whole);
            return new GsonBuilder().setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES).create()
                .fromJson(whole, Workload.class);
        } catch (JsonParseException wrong) {
            throw new IllegalArgumentException(file + ": " + wrong.getMessage(), wrong);
        }
    }

    /** What is asked for and not known is not passed over. */
    private static void refuseUnknown(JsonObject whole) {
        require(whole, "h123", new JsonPrimitive("workload/2"));
        JsonElement kind = whole.get("kind");
        if (kind == null || !kind.isJsonPrimitive() || !OWN.containsKey(kind.getAsString())) {
            throw new UnsupportedOperationException("kind: only one of " + new TreeSet<>(OWN.keySet()) + " is possible here");
        }
        Set<String> fields = new TreeSet<>(COMMON);
        fields.addAll(OWN.get(kind.getAsString()));
        Set<String> unknown = new TreeSet<>(whole.keySet());
        unknown.removeAll(fields);
        if (kind.getAsString().equals(PAGE)) {
            unknown.remove(PAUSE);
            unknown.addAll(unknownOfResources(whole.get("page")));
        }
        if (!unknown.isEmpty()) {
            throw new UnsupportedOperationException("the field " + unknown.iterator().next() + " is not known here");
        }
        require(whole, "headers", new JsonArray());
        if (!whole.keySet().containsAll(fields)) {
            throw new IllegalArgumentException("the workload lacks one of " + fields);
        }
    }

    private static Set<String> unknownOfResources(JsonElement page) {
        Set<String> names = new TreeSet<>();
        if (page != null && page.isJsonArray()) {
            page.getAsJsonArray().forEach(one -> names.addAll(one.getAsJsonObject().keySet()));
        }
        names.removeAll(OF_RESOURCES);
        return names;
    }

    private static void require(JsonObject whole, String name, JsonElement wanted) {
        if (!wanted.equals(whole.get(name))) {
            throw new UnsupportedOperationException(name + ": only " + wanted + " is possible here");
        }
    }

    boolean visits() {
        return kind.equals(PAGE);
    }

    /** What a request is for, by its resource. */
    Asked asked(int resource) {
        if (!visits()) {
            return new Asked(host, method, path, uploadBytes, List.of());
        }
        Page.Resource one = page.get(resource);
        return new Asked(host(one), "GET", one.path(), 0, one.headers());
    }

    private String host(Page.Resource one) {
        return one.host() == null ? host : one.host();
    }

    /** The server's names that requests are made of. */
    Set<String> hosts() {
        return visits() ? page.stream().map(this::host).collect(Collectors.toCollection(LinkedHashSet::new)) : Set.of(host);
    }

    /** The page, or IllegalArgumentException. */
    Page readPage() {
        if (pauseNs < 0) {
            throw new IllegalArgumentException(PAUSE + " is 1 or more where it is there");
        }
        if (page.stream().flatMap(one -> one.headers().stream()).anyMatch(Page.Header::changes)) {
            throw new UnsupportedOperationException("headers that change are not possible here");
        }
        return Page.of(page, atOnce);
    }

    /** How many connections the users share; of a page, those of a visit to each host. */
    int seats() {
        if (connections.isNumber()) {
            return connections.getAsInt();
        }
        return connections.getAsString().equals("per-user") || exclusive() ? users : 1;
    }

    /** Whether a connection serves one request at a time. */
    boolean exclusive() {
        return protocol.equals("h1");
    }
}
