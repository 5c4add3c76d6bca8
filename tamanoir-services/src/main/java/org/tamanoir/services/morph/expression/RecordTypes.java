package org.tamanoir.services.morph.expression;

import com.google.common.collect.ImmutableCollection;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import dev.cel.common.types.CelType;
import dev.cel.common.types.CelTypeProvider;
import dev.cel.common.types.ListType;
import dev.cel.common.types.SimpleType;
import dev.cel.common.types.StructType;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Field;
import org.tamanoir.format.Format;
import org.tamanoir.format.Kind;
import org.tamanoir.format.Structure;
import org.tamanoir.format.Type;

/**
 * A format as CEL sees it: structures are messages, fields have the names that CEL can say. Floats of more than 8 bytes,
 * which have no portable meaning, are not there.
 *
 * <p>Thread contract: immutable.
 */
@SuppressWarnings("Immutable") // Nothing changes its maps once it is made, nor formats.
final class RecordTypes implements CelTypeProvider {
    /** What no field can be called, as the structure of the record always is. */
    static final String RECORD = "@record";

    /** CEL's own words, and those that it keeps for the languages that it is part of. */
    private static final Set<String> RESERVED = Set.of(
            "true",
            "false",
            "null",
            "in",
            "as",
            "break",
            "const",
            "continue",
            "else",
            "for",
            "function",
            "if",
            "import",
            "let",
            "loop",
            "namespace",
            "package",
            "return",
            "var",
            "void",
            "while");

    private static final String PREFIX = "structure.";

    private final Format format;
    private final @Nullable String recordName;
    private final Map<Structure, StructType> types = new IdentityHashMap<>();
    private final Map<Structure, Map<String, Field>> names = new IdentityHashMap<>();
    private final Map<String, CelType> byName = new HashMap<>();

    /** @throws IllegalArgumentException if two fields of a structure get the same name */
    RecordTypes(Format format) {
        this.format = format;
        for (Structure structure : format.structures()) {
            Map<String, Field> fields = named(structure);
            names.put(structure, fields);
            String name = PREFIX + identifier(structure.name());
            for (int i = 2; byName.containsKey(name); i++) {
                name = PREFIX + identifier(structure.name()) + i;
            }
            // Types of fields are asked for later, when all structures are known.
            StructType type = StructType.create(
                    name,
                    ImmutableSet.copyOf(fields.keySet()),
                    field -> Optional.ofNullable(fields.get(field)).map(f -> of(f.type())));
            types.put(structure, type);
            byName.put(name, type);
        }
        String name = identifier(format.name());
        recordName = fields(format.top()).containsKey(name) ? null : name;
    }

    private static Map<String, Field> named(Structure structure) {
        Map<String, Field> fields = new LinkedHashMap<>();
        for (Field field : structure.fields()) {
            if (field.type().kind() == Kind.FLOAT && field.size() > 8) {
                continue;
            }
            Field other = fields.put(identifier(field.name()), field);
            if (other != null) {
                throw new IllegalArgumentException("fields '" + ExpressionException.shown(other.name()) + "' and '"
                        + ExpressionException.shown(field.name()) + "' of structure '"
                        + ExpressionException.shown(structure.name()) + "' are both called " + identifier(field.name())
                        + " in expressions; select or translate one of them before");
            }
        }
        return fields;
    }

    /** Returns what an expression calls a field or a structure of this name. */
    static String identifier(String name) {
        String plain = name.replaceAll("[^A-Za-z0-9_]", "_");
        if (plain.isEmpty() || Character.isDigit(plain.charAt(0))) {
            return "_" + plain;
        }
        return RESERVED.contains(plain) ? plain + "_" : plain;
    }

    Format format() {
        return format;
    }

    /** Returns the top fields, or another structure's, by the names that expressions have for them. */
    Map<String, Field> fields(Structure structure) {
        Map<String, Field> fields = names.get(structure);
        if (fields == null) {
            throw new IllegalArgumentException("structure " + structure + " is not of format " + format);
        }
        return fields;
    }

    /** Returns the name of the record itself; null if a field has it. */
    @Nullable
    String recordName() {
        return recordName;
    }

    CelType of(Structure structure) {
        StructType type = types.get(structure);
        return type == null ? SimpleType.DYN : type;
    }

    /** Returns the type of what lies here; pointers are followed. */
    CelType of(Type type) {
        if (type.isPointer()) {
            return of(type.target());
        }
        if (type.isArray()) {
            int lists = type.dimensions().size();
            CelType element = isBytes(type) ? SimpleType.BYTES : of(type.target());
            for (int i = isBytes(type) ? 1 : 0; i < lists; i++) {
                element = ListType.create(element);
            }
            return element;
        }
        Structure structure = type.structure();
        return switch (type.kind()) {
            case BOOLEAN -> SimpleType.BOOL;
            case FLOAT -> SimpleType.DOUBLE;
            case STRING -> SimpleType.STRING;
            case STRUCTURE -> structure == null ? SimpleType.DYN : of(structure);
            case UNSIGNED -> type.bytes() == 8 ? SimpleType.UINT : SimpleType.INT;
            default -> SimpleType.INT;
        };
    }

    /** Returns whether the last dimension of the array are bytes one behind the other. */
    static boolean isBytes(Type array) {
        return array.kind() == Kind.CHAR && array.target().isLeaf();
    }

    @Override
    public ImmutableCollection<CelType> types() {
        return ImmutableList.copyOf(byName.values());
    }

    @Override
    public Optional<CelType> findType(String name) {
        return Optional.ofNullable(byName.get(name));
    }
}
