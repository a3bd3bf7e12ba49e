import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.concurrent.Executors;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;

/** Serves an h123 trial over HTTP/1.1: java Server ADDRESS PORT CERT KEY BLOCK */
public final class Server {
    private static byte[] block;

    public static void main(String[] arguments) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true"); // a short last packet does not wait for an acknowledgement
        System.setProperty("sun.net.httpserver.idleInterval", "300"); // seconds
        System.setProperty("sun.net.httpserver.maxIdleConnections", "100000"); // at one time; the default is 200
        block = Files.readAllBytes(Path.of(arguments[4]));
        HttpsServer server = HttpsServer.create(
                new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1])), 1024);
        server.setHttpsConfigurator(tls(Path.of(arguments[2]), Path.of(arguments[3])));
        server.setExecutor(Executors.newCachedThreadPool()); // a thread for each request in progress
        server.createContext("/", Server::answer);
        // Java exits with status 143 after SIGTERM; h123 expects 0 (or termination by the signal).
        Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));
        server.start();
    }

    private static HttpsConfigurator tls(Path certificates, Path key) throws Exception {
        Certificate[] chain;
        try (var in = Files.newInputStream(certificates)) {
            chain = CertificateFactory.getInstance("X.509").generateCertificates(in).toArray(new Certificate[0]);
        }
        String base64 = Files.readString(key).replaceAll("-----[^-]*-----|\\s", "");
        PrivateKey secret = KeyFactory.getInstance("EC")
                .generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(base64)));
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("server", secret, new char[0], chain);
        KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
        keys.init(store, new char[0]);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        return new HttpsConfigurator(context) {
            @Override
            public void configure(HttpsParameters connection) {
                SSLParameters parameters = context.getDefaultSSLParameters();
                parameters.setProtocols(new String[] {"TLSv1.3"});
                parameters.setApplicationProtocols(new String[] {"http/1.1"});
                connection.setSSLParameters(parameters);
            }
        };
    }

    private static void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            if (path.matches("/bytes/\\d{1,10}")) {
                send(exchange, Long.parseLong(path.substring("/bytes/".length())));
            } else if (path.equals("/upload")) {
                count(exchange);
            } else {
                exchange.sendResponseHeaders(path.equals("/health") ? 200 : 404, -1);
            }
        }
    }

    private static void send(HttpExchange exchange, long size) throws IOException {
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.getResponseHeaders().set("Content-Length", Long.toString(size));
            exchange.sendResponseHeaders(200, -1);
            return;
        }
        exchange.sendResponseHeaders(200, size == 0 ? -1 : size); // here 0 means chunked, and -1 means no body
        var out = exchange.getResponseBody();
        for (long left = size; left > 0; left -= block.length) {
            out.write(block, 0, (int) Math.min(left, block.length));
        }
    }

    private static void count(HttpExchange exchange) throws IOException {
        long count = 0;
        byte[] buffer = new byte[block.length];
        for (int n; (n = exchange.getRequestBody().read(buffer)) >= 0; ) {
            count += n;
        }
        byte[] text = Long.toString(count).getBytes();
        exchange.sendResponseHeaders(200, text.length);
        exchange.getResponseBody().write(text);
    }
}
