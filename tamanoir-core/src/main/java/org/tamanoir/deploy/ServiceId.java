package org.tamanoir.deploy;

import java.math.BigInteger;
import java.util.Comparator;
import java.util.regex.Pattern;
import org.tamanoir.anep.ServiceKey;

/**
 * One version of a service.
 *
 * @param name like a Java class, {@code org.example.Foo}; at most {@value #MAX_NAME} characters of ASCII
 * @param version begins with a digit; digits, letters, dots, hyphens; at most {@value #MAX_VERSION} characters
 */
public record ServiceId(String name, String version) {
    /** The longest name, in characters: with a version and {@code .jar} it fits a file name of 255 bytes. */
    public static final int MAX_NAME = 180;
    /** The longest version, in characters. */
    public static final int MAX_VERSION = 48;

    /** Numbers compare as numbers; 1.0-rc1 comes before 1.0, and that before 1.0.1. */
    public static final Comparator<String> VERSION_ORDER = ServiceId::compareVersions;

    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*");
    private static final Pattern VERSION = Pattern.compile("[0-9][A-Za-z0-9]*([.-][A-Za-z0-9]+)*");

    /**
     * Checks both, so that they are safe as file names.
     *
     * @throws IllegalArgumentException in one line
     */
    public ServiceId {
        requireName(name);
        if (version.length() > MAX_VERSION || !VERSION.matcher(version).matches()) {
            throw new IllegalArgumentException(
                    "version " + OneLine.quoted(version) + ": it must begin with a digit and " + "have at most "
                            + MAX_VERSION + " digits, letters, single dots and hyphens, as in 1.2.0");
        }
    }

    /** Reads {@code name:version}. */
    public static ServiceId parse(String text) {
        int colon = text.indexOf(':');
        if (colon < 0) {
            throw new IllegalArgumentException(
                    OneLine.quoted(text) + " has no version: NAME:VERSION is wanted, as in org.example.Foo:1.0");
        }
        return new ServiceId(text.substring(0, colon), text.substring(colon + 1));
    }

    /**
     * Checks a name.
     *
     * @throws IllegalArgumentException in one line
     */
    public static String requireName(String name) {
        if (name.length() > MAX_NAME || !NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "service name " + OneLine.quoted(name) + ": it must look like a Java class, "
                            + "org.example.Foo, with at most " + MAX_NAME + " letters, digits, underscores and dots");
        }
        return name;
    }

    /** Returns the key of exactly this version: that of {@code name:version}. */
    public long key() {
        return ServiceKey.of(toString());
    }

    /** Returns the key that stands for the newest version: that of the bare name. */
    public long nameKey() {
        return ServiceKey.of(name);
    }

    /** Returns its folder in a repository, {@code services/<name>/<version>}. */
    public String path() {
        return "services/" + name + "/" + version;
    }

    /** Returns the file name of its jar. */
    public String jarName() {
        return name + "-" + version + ".jar";
    }

    /** Returns {@code name:version}. */
    @Override
    public String toString() {
        return name + ":" + version;
    }

    private static int compareVersions(String a, String b) {
        String[] first = a.split("-", 2);
        String[] second = b.split("-", 2);
        int order = compareParts(first[0], second[0]);
        if (order != 0) {
            return order;
        }
        if (first.length != second.length) {
            return second.length - first.length; // With a hyphen it is a candidate for the one without.
        }
        order = first.length == 1 ? 0 : compareParts(first[1], second[1]);
        return order != 0 ? order : a.compareTo(b);
    }

    private static int compareParts(String a, String b) {
        String[] first = a.split("[.-]|(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])");
        String[] second = b.split("[.-]|(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])");
        for (int i = 0; i < Math.min(first.length, second.length); i++) {
            int order = comparePart(first[i], second[i]);
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(first.length, second.length);
    }

    private static int comparePart(String a, String b) {
        boolean aIsNumber = Character.isDigit(a.charAt(0));
        if (aIsNumber != Character.isDigit(b.charAt(0))) {
            return aIsNumber ? 1 : -1;
        }
        return aIsNumber ? new BigInteger(a).compareTo(new BigInteger(b)) : a.compareTo(b);
    }
}
