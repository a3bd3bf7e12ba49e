package dev.h123.netty;

import com.google.gson.FieldNamingPolicy;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonParseException;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the client is to do: workload.json. */
record Workload(String protocol, String host, String address, int port, String ca, String method, String path,
                long uploadBytes, int users, int requests, Double rate, JsonPrimitive connections, boolean cold,
                int warmup, long timeoutNs) {

    static Workload read(Path file) throws IOException {
        try (Reader text = Files.newBufferedReader(file)) {
            return new GsonBuilder().setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES).create()
                .fromJson(text, Workload.class);
        } catch (JsonParseException wrong) {
            throw new IllegalArgumentException(file + ": " + wrong.getMessage(), wrong);
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
