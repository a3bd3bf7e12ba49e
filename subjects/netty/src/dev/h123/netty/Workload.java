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
import java.util.Set;
import java.util.TreeSet;

/** What the client is to do: workload.json. */
record Workload(String protocol, String host, String address, int port, String ca, String method, String path,
                long uploadBytes, int users, int requests, Double rate, JsonPrimitive connections, boolean cold,
                int warmup, long timeoutNs) {

    private static final Set<String> FIELDS = Set.of("h123", "kind", "protocol", "host", "address", "port", "ca",
        "method", "path", "upload_bytes", "users", "requests", "rate", "connections", "cold", "warmup", "timeout_ns",
        "seed", "headers");

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
        require(whole, "kind", new JsonPrimitive("requests"));
        Set<String> unknown = new TreeSet<>(whole.keySet());
        unknown.removeAll(FIELDS);
        if (!unknown.isEmpty()) {
            throw new UnsupportedOperationException("the field " + unknown.iterator().next() + " is not known here");
        }
        require(whole, "headers", new JsonArray());
        if (!whole.keySet().containsAll(FIELDS)) {
            throw new IllegalArgumentException("the workload lacks one of " + new TreeSet<>(FIELDS));
        }
    }

    private static void require(JsonObject whole, String name, JsonElement wanted) {
        if (!wanted.equals(whole.get(name))) {
            throw new UnsupportedOperationException(name + ": only " + wanted + " is possible here");
        }
    }

    /** How many connections the users share. */
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
