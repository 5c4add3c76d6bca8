package org.tamanoir.deploy;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The frame of a class file, as far as Java refuses it before it looks at code: magic number, version, where it ends, and
 * the class that it says it is. What rewrites class files passes over most of that.
 *
 * <p>Thread contract: one thread.
 */
final class ClassFile {
    /** The oldest class files that a virtual machine loads, of Java 1.1; and since when a minor version means something. */
    private static final int MIN_MAJOR = 45;

    private static final int MAJOR_OF_MINOR_0 = 56;
    private static final int PREVIEW = 0xffff;
    private static final int MAGIC = 0xcafebabe;
    private static final int UTF8 = 1;

    private final ByteBuffer file;
    /** Where the constants begin, by their number; 0 = there is none. */
    private int[] constants = {};

    private ClassFile(byte[] file) {
        this.file = ByteBuffer.wrap(file);
    }

    /**
     * Refuses a jar with class files that Java refuses, when they are wanted.
     *
     * @throws CodeRefusedException {@link Refusal#NOT_A_SERVICE}
     */
    static void requireAll(JarContents jar, String label) throws CodeRefusedException {
        for (Map.Entry<String, byte[]> entry : new TreeMap<>(jar.entries()).entrySet()) {
            String name = entry.getKey();
            boolean isClass = ServiceJar.isClass(name) && ServiceClassLoader.defines(name);
            String fault = null;
            if (isClass || name.equals("module-info.class")) {
                fault = new ClassFile(entry.getValue()).fault(isClass ? name : null);
            }
            if (fault != null) {
                throw new CodeRefusedException(
                        Refusal.NOT_A_SERVICE, label + ": " + OneLine.quoted(name) + " " + fault);
            }
        }
    }

    /**
     * Returns what is wrong and what helps; null = nothing.
     *
     * @param path of its entry; null = it is no class that is loaded
     */
    private @Nullable String fault(@Nullable String path) {
        try {
            int magic = file.getInt();
            if (magic != MAGIC) {
                return "is no class file: it begins with " + hex(magic) + ", not " + hex(MAGIC) + "; compile it anew";
            }
            int minor = unsigned();
            int major = unsigned();
            String version = path == null ? null : version(major, minor);
            if (version != null) {
                return version;
            }
            String name = body();
            if (file.hasRemaining()) {
                return "has " + file.remaining() + " bytes behind its end; compile it anew";
            }
            return path == null || path.equals(ServiceClassLoader.fileOf(name))
                    ? null
                    : "is the class " + OneLine.quoted(name) + ": rename it, or pack what was compiled into its folder";
        } catch (BufferUnderflowException | IndexOutOfBoundsException e) {
            return "is cut off after " + file.limit() + " bytes; compile it anew";
        } catch (IllegalArgumentException e) {
            return e.getMessage() + "; compile it anew";
        }
    }

    private static @Nullable String version(int major, int minor) {
        if (major > ServiceJar.MAX_MAJOR || major < MIN_MAJOR) {
            return "has class file version " + major + ", and this Java reads " + MIN_MAJOR + " to "
                    + ServiceJar.MAX_MAJOR + "; compile it with --release "
                    + Runtime.version().feature();
        }
        if (major < MAJOR_OF_MINOR_0 || minor == 0) {
            return null;
        }
        return minor == PREVIEW
                ? "needs preview features of Java " + (major - 44) + "; compile it without --enable-preview"
                : "has class file version " + major + "." + minor + ", and Java reads " + major + ".0; compile it anew";
    }

    /** Goes to where the file says that it ends. @return the name of its class, as it stands there */
    private String body() {
        int count = unsigned();
        constants = new int[count];
        for (int i = 1; i < count; i++) {
            constants[i] = file.position();
            int tag = file.get();
            switch (tag) {
                case UTF8 -> skip(unsigned());
                case 3, 4, 9, 10, 11, 12, 17, 18 -> skip(4);
                case 5, 6 -> {
                    skip(8);
                    i++; // They count as two.
                }
                case 7, 8, 16, 19, 20 -> skip(2);
                case 15 -> skip(3);
                default -> throw new IllegalArgumentException("has a constant of no kind that Java has: " + tag);
            }
        }
        skip(2);
        String name = name(unsigned());
        skip(2);
        skip(2L * unsigned());
        members();
        members();
        attributes();
        return name;
    }

    /** Skips fields or methods. */
    private void members() {
        for (int left = unsigned(); left > 0; left--) {
            skip(6);
            attributes();
        }
    }

    private void attributes() {
        for (int left = unsigned(); left > 0; left--) {
            skip(2);
            skip(Integer.toUnsignedLong(file.getInt()));
        }
    }

    private String name(int number) {
        int text = constant(number) == 0 ? 0 : constant(Short.toUnsignedInt(file.getShort(constant(number) + 1)));
        if (text == 0 || file.get(constant(number)) != 7 || file.get(text) != UTF8) {
            throw new IllegalArgumentException("says no name of its class");
        }
        int length = Short.toUnsignedInt(file.getShort(text + 1));
        StringBuilder name = new StringBuilder(length);
        for (int i = text + 3; i < text + 3 + length; i++) {
            int first = Byte.toUnsignedInt(file.get(i));
            if (first < 0x80) {
                name.append((char) first);
            } else if (first < 0xe0) {
                name.append((char) ((first & 0x1f) << 6 | file.get(++i) & 0x3f));
            } else {
                name.append((char) ((first & 0xf) << 12 | (file.get(++i) & 0x3f) << 6 | file.get(++i) & 0x3f));
            }
        }
        return name.toString();
    }

    private int constant(int number) {
        return number < constants.length ? constants[number] : 0;
    }

    private int unsigned() {
        return Short.toUnsignedInt(file.getShort());
    }

    private void skip(long bytes) {
        if (bytes > file.remaining()) {
            throw new BufferUnderflowException();
        }
        file.position(file.position() + (int) bytes);
    }

    private static String hex(int word) {
        return HexFormat.of().toHexDigits(word);
    }
}
