package org.tamanoir.preemption;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
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
 *     a {@link Type}, a {@link Constant}, a boxed number, a text, the elements of an annotation by name, or an array's
 *     values as a list, but numbers as an array
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
        return all(annotation).get(name);
    }

    /** Returns all that the class gives to an annotation's elements, by their names; empty without that annotation, too. */
    public Map<String, Object> all(Class<?> annotation) {
        return elements.getOrDefault(Type.getDescriptor(annotation), Map.of());
    }

    /**
     * Returns the name of the class, or the constant, that the {@code value} of an annotation names, empty if it names
     * none; null without that annotation.
     */
    public @Nullable String value(Class<?> annotation) {
        if (!has(annotation)) {
            return null;
        }
        return named(element(annotation, "value"));
    }

    /** Returns the name of the class, or the constant, that an element's value is; empty if it is neither. */
    public static String named(@Nullable Object value) {
        return value instanceof Type type
                ? type.getClassName()
                : value instanceof Constant constant ? constant.name : "";
    }

    /** Goes into annotations and arrays, as deep as they may be. */
    private static class Depth extends AnnotationVisitor {
        final int depth;

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

    /** Keeps what an annotation or an array has: of an array each value, under no name. */
    private static final class Kept extends Depth {
        private final BiConsumer<@Nullable String, Object> keep;

        Kept(int depth, BiConsumer<@Nullable String, Object> keep) {
            super(depth);
            this.keep = keep;
        }

        @Override
        public void visit(@Nullable String name, Object value) {
            keep.accept(name, value);
        }

        @Override
        public void visitEnum(@Nullable String name, String enumDescriptor, String constant) {
            keep.accept(name, new Constant(constant));
        }

        @Override
        public AnnotationVisitor visitAnnotation(@Nullable String name, String descriptor) {
            Map<String, Object> elements = new HashMap<>();
            keep.accept(name, elements);
            return new Kept(depth + 1, elements::put);
        }

        @Override
        public AnnotationVisitor visitArray(@Nullable String name) {
            List<Object> values = new ArrayList<>();
            keep.accept(name, values);
            return new Kept(depth + 1, (none, value) -> values.add(value));
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
            return new Kept(0, given::put);
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
