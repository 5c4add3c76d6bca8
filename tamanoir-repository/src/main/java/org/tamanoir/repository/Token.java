package org.tamanoir.repository;

import com.google.common.hash.Hashing;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.SmallFile;

/** The secret that allows changes: of a repository, or of a node by its admin API. Immutable; never printed. */
public final class Token {
    /** Below it a token can be guessed. */
    private static final int MIN_CHARACTERS = 16;

    private static final int MAX_CHARACTERS = 1024;
    private static final String SCHEME = "Bearer ";

    private final String text;
    private final byte[] digest;

    /** A file holds a token, and every user of the host may read or write it. */
    private static final class OpenToAllException extends IOException {
        private static final long serialVersionUID = 1L;

        OpenToAllException(Path file) {
            super("token file " + file + ": every user of the host may read or write it; owner and group alone may: "
                    + "chmod o= " + file);
        }
    }

    private Token(String text) {
        this.text = text;
        digest = digest(text);
    }

    /**
     * Returns a token.
     *
     * @param source where it is from, for the error
     * @throws IllegalArgumentException in one line, which does not show it
     */
    public static Token of(String text, String source) {
        String token = text.strip();
        if (token.length() < MIN_CHARACTERS
                || token.length() > MAX_CHARACTERS
                || !token.chars().allMatch(c -> c > ' ' && c < 127)) {
            throw new IllegalArgumentException("token of " + source + ": it has " + token.length()
                    + " characters; " + MIN_CHARACTERS + " to " + MAX_CHARACTERS
                    + " of ASCII without spaces are wanted, as 'openssl rand -hex 32' prints them");
        }
        return new Token(token);
    }

    /** Reads a file that holds nothing else, and that is open to owner and group alone. @throws IOException in one line */
    public static Token read(Path file) throws IOException {
        byte[] bytes;
        try {
            bytes = SmallFile.read(file, 2 * MAX_CHARACTERS);
            if (SmallFile.isOpenToAll(file)) {
                throw new OpenToAllException(file);
            }
        } catch (NoSuchFileException e) {
            throw new IOException(
                    "token file " + file + ": there is no such file; 'openssl rand -hex 32' makes a token", e);
        } catch (SmallFile.NotRegularException | SmallFile.TooLargeException e) {
            throw new IOException("token file " + e.getMessage() + "; it holds the token alone", e);
        } catch (OpenToAllException e) {
            throw e;
        } catch (IOException e) {
            throw new IOException(
                    "token file " + file + ": cannot be read: no permission, or no file; correct the path", e);
        }
        try {
            return of(new String(bytes, StandardCharsets.US_ASCII), "file " + file);
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    /** Returns the header {@code Authorization} that shows it. */
    public String authorization() {
        return SCHEME + text;
    }

    /** Returns whether the header shows this token; takes the same time wherever they differ. */
    public boolean matches(@Nullable String authorization) {
        return authorization != null
                && authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())
                && MessageDigest.isEqual(
                        digest, digest(authorization.substring(SCHEME.length()).strip()));
    }

    /** Returns the text without this token, wherever it stands in it. */
    public String hide(String text) {
        return text.replace(this.text, "(hidden)");
    }

    private static byte[] digest(String text) {
        return Hashing.sha256().hashString(text, StandardCharsets.UTF_8).asBytes();
    }

    @Override
    public String toString() {
        return "Token[...]";
    }
}
