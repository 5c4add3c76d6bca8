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
 * @param elements of each annotation that reflection would see, by the annotation's descriptor and the element's name:
 *     a {@link Type}, a {@link Constant}, a boxed number, a text, or what is none of these
 */
public record ClassAnnotations(Map<String, Map<String, Object>> elements) {
    /** Annotations and arrays within each other. Compilers of Java nest what programmers write. */
    static final int MAX_DEPTH = 64;

    /** A constant of an enum, by its name. */
    private record Constant(String name) {}

    /**
     * Reads a class file, and the annotations of its members too, of which nothing is kept.
     *
     * @throws UnfitClassException if it cannot be read, or nests annotations too deeply
     */
    public static ClassAnnotations read(byte[] classFile) throws UnfitClassException {
        Map<String, Map<String, Object>> elements = new HashMap<>();
        try {
            new ClassReader(classFile)
                    .accept(
                            new OfClass(elements),
                            ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        } catch (RuntimeException e) {
            throw new UnfitClassException(String.valueOf(e.getMessage() == null ? e : e.getMessage()));
        }
        return new ClassAnnotations(elements);
    }

    /** Returns whether the class has this annotation. */
    public boolean has(Class<?> annotation) {
        return elements.containsKey(Type.getDescriptor(annotation));
    }

    /** Returns what the class gives to an element of an annotation, of whatever type; null if nothing. */
    public @Nullable Object element(Class<?> annotation, String name) {
        return elements.getOrDefault(Type.getDescriptor(annotation), Map.of()).get(name);
    }

    /**
     * Returns the name of the class, or the constant, that the {@code value} of an annotation names, empty if it names
     * none; null without that annotation.
     */
    public @Nullable String value(Class<?> annotation) {
        if (!has(annotation)) {
            return null;
        }
        Object value = element(annotation, "value");
        return value instanceof Type type
                ? type.getClassName()
                : value instanceof Constant constant ? constant.name : "";
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

    private static final class Elements extends Depth {
        private final Map<String, Object> elements;

        Elements(Map<String, Object> elements) {
            super(0);
            this.elements = elements;
        }

        @Override
        public void visit(String name, Object value) {
            elements.put(name, value);
        }

        @Override
        public void visitEnum(String name, String enumDescriptor, String constant) {
            elements.put(name, new Constant(constant));
        }

        @Override
        public AnnotationVisitor visitAnnotation(String name, String descriptor) {
            return nested(name, super.visitAnnotation(name, descriptor));
        }

        @Override
        public AnnotationVisitor visitArray(String name) {
            return nested(name, super.visitArray(name));
        }

        private AnnotationVisitor nested(String name, AnnotationVisitor visitor) {
            elements.put(name, visitor); // Neither has a value that is asked for.
            return visitor;
        }
    }

    private static final class OfClass extends ClassVisitor {
        private final Map<String, Map<String, Object>> elements;

        OfClass(Map<String, Map<String, Object>> elements) {
            super(Opcodes.ASM9);
            this.elements = elements;
        }

        @Override
        public AnnotationVisitor visitAnnotation(String descriptor, boolean isVisible) {
            if (!isVisible) {
                return new Depth(0);
            }
            Map<String, Object> given = new HashMap<>();
            elements.put(descriptor, given);
            return new Elements(given);
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
