package org.tamanoir.node;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.tamanoir.node.admin.AdminSettings;

/** A file that holds a token of the admin API and nothing else. */
final class TokenFile {
    private TokenFile() {}

    /**
     * Reads it.
     *
     * @throws IOException in one line, without the token
     */
    static String read(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] octets = in.readNBytes(2 * AdminSettings.MAX_TOKEN);
            return AdminSettings.requireToken(new String(octets, StandardCharsets.UTF_8).strip());
        } catch (IllegalArgumentException e) {
            throw new IOException("token file " + file + ": " + e.getMessage(), e);
        } catch (NoSuchFileException e) {
            throw new IOException(
                    "token file " + file + ": there is no such file; 'openssl rand -hex 32' makes a token", e);
        } catch (IOException e) {
            throw new IOException("token file " + file + ": cannot be read: " + e.getMessage(), e);
        }
    }
}
