package org.tamanoir.deploy;

import java.net.URI;

/**
 * Where code or formats can be asked for: the base address of a repository's layout, or of FFS's protocol.
 *
 * @param kind {@code repository}, {@code previous node} or {@code format server}
 * @param base http or https, without a slash at its end
 */
record CodeSource(String kind, URI base) {
    static final String REPOSITORY = "repository";
    static final String PREVIOUS_NODE = "previous node";
    static final String FORMAT_SERVER = "format server";

    /** Longest address that is taken. */
    private static final int MAX_CHARACTERS = 1024;

    /**
     * Checks the address.
     *
     * @throws IllegalArgumentException in one line
     */
    static CodeSource of(String kind, URI address) {
        String text = address.toString();
        String scheme = String.valueOf(address.getScheme());
        boolean fits = (scheme.equalsIgnoreCase("http") || scheme.equalsIgnoreCase("https"))
                && address.getHost() != null
                && address.getRawUserInfo() == null
                && address.getRawQuery() == null
                && address.getRawFragment() == null
                && text.length() <= MAX_CHARACTERS;
        if (!fits) {
            throw new IllegalArgumentException(kind + " " + OneLine.quoted(text)
                    + ": an http or https address without user, query and fragment is wanted, as in"
                    + " http://repository.example.org:8080/code");
        }
        return new CodeSource(kind, URI.create(text.replaceAll("/+$", "")));
    }

    /** Returns whether nobody configured it. */
    boolean isPreviousNode() {
        return kind.equals(PREVIOUS_NODE);
    }

    URI at(String path) {
        return URI.create(base + "/" + path);
    }

    /** Returns what {@link ServicePackage#source} says. */
    @Override
    public String toString() {
        return kind + " " + base;
    }
}
