package org.tamanoir.deploy;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The head of a Java class file (Java Virtual Machine Specification, chapter 4), read without loading the class.
 *
 * @param major version: 61 is Java 17
 * @param name with slashes
 * @param superName with slashes; null for {@code Object} and modules
 * @param isConcrete whether it is a public class that is not abstract
 * @param hasPublicConstructor whether it has a public constructor without arguments
 */
record ClassFile(int major, String name, @Nullable String superName, boolean isConcrete, boolean hasPublicConstructor) {
    /** The newest version that this virtual machine loads. */
    static final int MAX_MAJOR = 44 + Runtime.version().feature();

    private static final int MAGIC = 0xcafebabe;
    private static final int UTF8 = 1;
    private static final int CLASS = 7;
    private static final int PUBLIC = 0x0001;
    private static final int NOT_A_PLAIN_CLASS = 0x0200 | 0x0400 | 0x2000 | 0x4000 | 0x8000;

    static ClassFile read(byte[] octets) throws IOException {
        try {
            return new Reader(ByteBuffer.wrap(octets)).read();
        } catch (BufferUnderflowException | IndexOutOfBoundsException | IllegalArgumentException e) {
            throw new IOException("it is cut off or damaged", e);
        }
    }

    /** One pass over the octets; each table is skipped by its own lengths. */
    private static final class Reader {
        private final ByteBuffer in;
        private int[] constants = {};

        Reader(ByteBuffer in) {
            this.in = in;
        }

        ClassFile read() throws IOException {
            if (in.getInt() != MAGIC) {
                throw new IOException("it does not begin like a class file");
            }
            in.getShort(); // The minor version.
            int major = u2();
            readConstants();
            int access = u2();
            String name = className(u2());
            int superIndex = u2();
            String superName = superIndex == 0 ? null : className(superIndex);
            skip(2 * u2());
            members("<field>", ""); // No field is called like this.
            boolean constructor = members("<init>", "()V");
            boolean concrete = (access & PUBLIC) != 0 && (access & NOT_A_PLAIN_CLASS) == 0;
            return new ClassFile(major, name, superName, concrete, constructor);
        }

        private void readConstants() throws IOException {
            constants = new int[u2()];
            for (int i = 1; i < constants.length; i++) {
                constants[i] = in.position();
                int tag = in.get();
                switch (tag) {
                    case UTF8 -> skip(u2());
                    case CLASS, 8, 16, 19, 20 -> skip(2);
                    case 15 -> skip(3);
                    case 3, 4, 9, 10, 11, 12, 17, 18 -> skip(4);
                    case 5, 6 -> {
                        skip(8);
                        i++; // Long and double take two places (section 4.4.5).
                    }
                    default -> throw new IOException("it has a constant of unknown kind " + tag);
                }
            }
        }

        /** Skips fields or methods; whether a public one has this name and descriptor. */
        private boolean members(String name, String descriptor) throws IOException {
            boolean found = false;
            int count = u2();
            for (int i = 0; i < count; i++) {
                boolean isPublic = (u2() & PUBLIC) != 0;
                boolean isNamed = isUtf8(u2(), name);
                found |= isUtf8(u2(), descriptor) && isNamed && isPublic;
                int attributes = u2();
                for (int j = 0; j < attributes; j++) {
                    skip(2);
                    skip(in.getInt());
                }
            }
            return found;
        }

        private String className(int index) throws IOException {
            int at = constants[index];
            if (index == 0 || in.get(at) != CLASS) {
                throw new IOException("constant " + index + " names no class");
            }
            return utf8(Short.toUnsignedInt(in.getShort(at + 1)));
        }

        /** Whether a constant is this text of ASCII; reads no more of it, however long it is. */
        private boolean isUtf8(int index, String text) throws IOException {
            int at = utf8At(index);
            return Short.toUnsignedInt(in.getShort(at + 1)) == text.length()
                    && utf8(index).equals(text);
        }

        private int utf8At(int index) throws IOException {
            int at = constants[index];
            if (index == 0 || in.get(at) != UTF8) {
                throw new IOException("constant " + index + " is no text");
            }
            return at;
        }

        private String utf8(int index) throws IOException {
            int at = utf8At(index);
            byte[] text = new byte[Short.toUnsignedInt(in.getShort(at + 1))];
            in.get(at + 3, text);
            return new String(text, StandardCharsets.UTF_8);
        }

        private int u2() {
            return Short.toUnsignedInt(in.getShort());
        }

        private void skip(int octets) {
            if (octets < 0) {
                throw new BufferUnderflowException();
            }
            in.position(in.position() + octets);
        }
    }
}
