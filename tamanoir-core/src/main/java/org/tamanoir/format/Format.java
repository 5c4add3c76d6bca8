package org.tamanoir.format;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A format: a structure with those that it needs, the description that says so, and the identifier under which records
 * name it.
 *
 * <pre>
 * record: identifier | u64 body length (variable, version 2) | zeros up to a multiple of 8 | base | variable part
 *         identifier | zeros up to 4 | s32 body length (variable, versions 0 and 1) | ...
 * </pre>
 *
 * <p>Thread contract: immutable.
 */
public final class Format {
    private final FormatId id;
    private final byte[] description;
    private final List<Structure> structures;
    private final int lengthAt;
    private final int headerBytes;

    private Format(FormatId id, byte[] description, List<Structure> structures) {
        this.id = id;
        this.description = description;
        this.structures = structures;
        int idBytes = id.length();
        if (!isVariable()) {
            lengthAt = -1;
            headerBytes = round(idBytes, 8);
        } else if (layout().version() == 2) {
            lengthAt = idBytes;
            headerBytes = round(idBytes + 8, 8);
        } else {
            lengthAt = round(idBytes, 4);
            headerBytes = round(lengthAt + 4, 8);
        }
    }

    private static int round(int bytes, int to) {
        return bytes + to - 1 & -to;
    }

    /**
     * Reads a description and computes its identifier.
     *
     * @throws FormatException if the description contradicts itself or a bound of {@link FormatLimits}
     */
    public static Format of(byte[] description) {
        return of(FormatId.of(description), description);
    }

    /**
     * Reads a description that came under an identifier, which a server may have issued.
     *
     * @throws FormatException as {@link #of(byte[])}, or if the identifier follows from descriptions and not from this
     */
    public static Format of(FormatId id, byte[] description) {
        if (id.isComputed() && description.length <= FormatLimits.DESCRIPTION_BYTES) {
            FormatId computed = FormatId.of(description);
            if (!computed.agrees(id)) {
                throw new FormatException(
                        FormatFault.IDENTIFIER, "description came as " + id + ", its identifier is " + computed);
            }
        }
        byte[] own = description.clone();
        return new Format(id, own, Linker.link(DescriptionReader.read(own)));
    }

    /** Begins a new format for a writer whose machine lays records out so. */
    public static FormatBuilder builder(Layout layout) {
        return new FormatBuilder(layout);
    }

    /** Returns the identifier. */
    public FormatId id() {
        return id;
    }

    /** Returns the name of the top structure. */
    public String name() {
        return top().name();
    }

    /** Returns a copy of the description's bytes. */
    public byte[] description() {
        return description.clone();
    }

    int descriptionBytes() {
        return description.length;
    }

    /** Returns the structure that a record is. */
    public Structure top() {
        return structures.get(0);
    }

    /** Returns all structures in the description's order, the top one first. */
    public List<Structure> structures() {
        return structures;
    }

    /** Returns the structure of this exact name; null if there is none. */
    public @Nullable Structure structure(String name) {
        return structures.stream()
                .filter(s -> s.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    /** Returns how the writer's machine lays records out. */
    public Layout layout() {
        return top().layout();
    }

    /** Returns whether records have strings or pointers, and so a length of their own. */
    public boolean isVariable() {
        return top().isVariable();
    }

    /** Returns the bytes before the base of a record. */
    public int headerBytes() {
        return headerBytes;
    }

    /**
     * Returns the bytes of the record that begins here, its header included; -1 if too few are here to tell. What it says
     * is the record's claim.
     *
     * @throws FormatException if the record is shorter than its base
     */
    public long encodedLength(ByteBuffer memory, int at, int available) {
        int least = top().recordLength();
        if (lengthAt < 0) {
            return (long) headerBytes + least;
        }
        if (available < headerBytes) {
            return -1;
        }
        long body = Memory.unsigned(memory, at + lengthAt, layout().version() == 2 ? 8 : 4, layout().big());
        if (body >= 0 && body < least) {
            throw new FormatException(
                    FormatFault.LENGTH, "body of " + body + " bytes, the base of " + name() + " has " + least);
        }
        return body < 0 || body > Long.MAX_VALUE - headerBytes ? Long.MAX_VALUE : headerBytes + body;
    }

    /** Returns where the body length stands; -1 for records of fixed length, which have none. */
    int lengthAt() {
        return lengthAt;
    }

    /** Returns whether a record of this format begins here, as its identifier says; allocates nothing. */
    public boolean isAt(ByteBuffer memory, int at, int available) {
        return id.isAt(memory, at, available);
    }

    /**
     * Resolves a path from the top structure, once for all records.
     *
     * @param path such as {@code delay}, {@code origin.city} or {@code pax[2].name}
     * @throws FormatException if it leads nowhere
     */
    public Accessor accessor(String path) {
        return accessor(top(), path);
    }

    /**
     * Resolves a path from a structure of this format, for elements that the caller walks through.
     *
     * @throws FormatException if it leads nowhere
     * @throws IllegalArgumentException if the structure is not this format's
     */
    public Accessor accessor(Structure from, String path) {
        if (!structures.contains(Objects.requireNonNull(from))) {
            throw new IllegalArgumentException("structure " + from.name() + " is not of format " + name());
        }
        return Path.resolve(this, from, path);
    }

    @Override
    public String toString() {
        return name() + " " + id;
    }
}
