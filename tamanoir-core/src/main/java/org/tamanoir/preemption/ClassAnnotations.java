package org.tamanoir.preemption;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.RecordComponentVisitor;
import org.objectweb.asm.Type;
import org.objectweb.asm.TypePath;

/**
 * What a class says of itself in annotations, read from its file. The JVM reads annotations by recursion, which ends the
 * process where they are nested a hundred thousand times, and reflection loads the classes that they name and may
 * initialise them.
 *
 * <p>Thread contract: any thread; immutable.
 *
 * @param values of each annotation that reflection would see, by its descriptor: the name of the class, or the constant,
 *     that its {@code value} names; empty where it names none
 */
public record ClassAnnotations(Map<String, String> values) {
    /** Annotations and arrays within each other. Compilers of Java nest what programmers write. */
    static final int MAX_DEPTH = 64;

    /**
     * Reads a class file, and the annotations of its members too, of which nothing is kept.
     *
     * @throws UnfitClassException if it cannot be read, or nests annotations too deeply
     */
    public static ClassAnnotations read(byte[] classFile) throws UnfitClassException {
        Map<String, String> values = new HashMap<>();
        try {
            new ClassReader(classFile)
                    .accept(
                            new OfClass(values),
                            ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        } catch (RuntimeException e) {
            throw new UnfitClassException(String.valueOf(e.getMessage() == null ? e : e.getMessage()));
        }
        return new ClassAnnotations(Map.copyOf(values));
    }

    /** Returns what the {@code value} of an annotation names, empty if nothing; null without that annotation. */
    public @Nullable String value(Class<?> annotation) {
        return values.get(Type.getDescriptor(annotation));
    }

    /** Goes into annotations and arrays, as deep as they may be. */
    private static class Depth extends AnnotationVisitor {
        private final int depth;

        Depth(int depth) {
            super(Opcodes.ASM9);
            this.depth = depth;
            if (depth > MAX_DEPTH) {
                throw new IllegalArgumentException("annotations are nested more than " + MAX_DEPTH + " deep");
            }
        }

        @Override
        public AnnotationVisitor visitAnnotation(String name, String descriptor) {
            return new Depth(depth + 1);
        }

        @Override
        public AnnotationVisitor visitArray(String name) {
            return new Depth(depth + 1);
        }
    }

    private static final class Value extends Depth {
        private final Map<String, String> values;
        private final String descriptor;

        Value(Map<String, String> values, String descriptor) {
            super(0);
            this.values = values;
            this.descriptor = descriptor;
            values.put(descriptor, "");
        }

        @Override
        public void visit(String name, Object value) {
            if (name.equals("value") && value instanceof Type type) {
                values.put(descriptor, type.getClassName());
            }
        }

        @Override
        public void visitEnum(String name, String enumDescriptor, String constant) {
            if (name.equals("value")) {
                values.put(descriptor, constant);
            }
        }
    }

    private static final class OfClass extends ClassVisitor {
        private final Map<String, String> values;

        OfClass(Map<String, String> values) {
            super(Opcodes.ASM9);
            this.values = values;
        }

        @Override
        public AnnotationVisitor visitAnnotation(String descriptor, boolean isVisible) {
            return isVisible ? new Value(values, descriptor) : new Depth(0);
        }

        @Override
        public AnnotationVisitor visitTypeAnnotation(int at, TypePath path, String descriptor, boolean isVisible) {
            return new Depth(0);
        }

        @Override
        public FieldVisitor visitField(
                int access, String name, String descriptor, @Nullable String signature, @Nullable Object value) {
            return new FieldVisitor(Opcodes.ASM9) {
                @Override
                public AnnotationVisitor visitAnnotation(String type, boolean isVisible) {
                    return new Depth(0);
                }

                @Override
                public AnnotationVisitor visitTypeAnnotation(int at, TypePath path, String type, boolean isVisible) {
                    return new Depth(0);
                }
            };
        }

        @Override
        public MethodVisitor visitMethod(
                int access, String name, String descriptor, @Nullable String signature, String @Nullable [] thrown) {
            return new MethodVisitor(Opcodes.ASM9) {
                @Override
                public AnnotationVisitor visitAnnotationDefault() {
                    return new Depth(0);
                }

                @Override
                public AnnotationVisitor visitAnnotation(String type, boolean isVisible) {
                    return new Depth(0);
                }

                @Override
                public AnnotationVisitor visitTypeAnnotation(int at, TypePath path, String type, boolean isVisible) {
                    return new Depth(0);
                }

                @Override
                public AnnotationVisitor visitParameterAnnotation(int parameter, String type, boolean isVisible) {
                    return new Depth(0);
                }
            };
        }

        @Override
        public RecordComponentVisitor visitRecordComponent(String name, String descriptor, @Nullable String signature) {
            return new RecordComponentVisitor(Opcodes.ASM9) {
                @Override
                public AnnotationVisitor visitAnnotation(String type, boolean isVisible) {
                    return new Depth(0);
                }

                @Override
                public AnnotationVisitor visitTypeAnnotation(int at, TypePath path, String type, boolean isVisible) {
                    return new Depth(0);
                }
            };
        }
    }
}
