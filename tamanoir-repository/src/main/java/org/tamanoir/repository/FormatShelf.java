package org.tamanoir.repository;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatId;

/** The formats that a server gives and takes. Several threads call; may block on a disk. */
public interface FormatShelf {
    /** Returns a description; null when it is not here. */
    byte @Nullable [] description(FormatId id) throws IOException;

    /**
     * Keeps a format that came without a signature; what is here already is well.
     *
     * @throws ConflictException if the identifier stands for another description here, or the format may not be kept
     * @throws IOException if there is no room
     */
    void add(Format format) throws IOException, ConflictException;
}
