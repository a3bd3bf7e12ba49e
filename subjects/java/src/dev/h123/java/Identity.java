package dev.h123.java;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;

/** A server's certificate and key, from the PEM files of the command line to the key store that Java's libraries want. */
public final class Identity {
    public static final String ALIAS = "server";
    public static final String PASSWORD = "in memory only";

    private Identity() {}

    public static KeyStore keyStore(Options options) throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry(ALIAS, key(options.file("key")), PASSWORD.toCharArray(), chain(options.file("cert")));
        return store;
    }

    private static Certificate[] chain(Path file) throws GeneralSecurityException, IOException {
        try (InputStream pem = Files.newInputStream(file)) {
            return CertificateFactory.getInstance("X.509").generateCertificates(pem).toArray(new Certificate[0]);
        }
    }

    /** The contract's keys are ECDSA keys in PKCS #8. */
    private static PrivateKey key(Path file) throws GeneralSecurityException, IOException {
        String text = Files.readString(file).replaceAll("-----[A-Z ]+-----", "");
        return KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(text)));
    }
}
