package dev.h123.java;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The command line of a server: pairs of `--name value`. All are required: a program writes them. */
public final class Options {
    private final Map<String, String> values;

    private Options(Map<String, String> values) {
        this.values = values;
    }

    /** What the options say, or WrongOptions. */
    static Options parse(String[] arguments, List<String> names) {
        Map<String, String> values = new HashMap<>();
        for (int i = 0; i < arguments.length; i += 2) {
            String name = arguments[i].startsWith("--") ? arguments[i].substring(2) : "";
            if (!names.contains(name) || i + 1 == arguments.length) {
                throw new WrongOptions(arguments[i] + " is none of the options, or has no value");
            }
            values.put(name, arguments[i + 1]);
        }
        for (String name : names) {
            if (!values.containsKey(name)) {
                throw new WrongOptions("--" + name + " is missing");
            }
        }
        return new Options(values);
    }

    public String get(String name) {
        return values.get(name);
    }

    public Path file(String name) {
        return Path.of(get(name));
    }

    public String protocol() {
        return get("protocol");
    }

    /** Where to listen. */
    public InetSocketAddress endpoint() {
        try {
            return new InetSocketAddress(get("address"), Integer.parseInt(get("port")));
        } catch (IllegalArgumentException wrong) {
            throw new WrongOptions("--port " + get("port") + " is no port");
        }
    }

    /** A command line that cannot be meant. */
    static final class WrongOptions extends IllegalArgumentException {
        private static final long serialVersionUID = 1;

        WrongOptions(String message) {
            super(message);
        }
    }
}
