package org.tamanoir.node.run;

import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.FormatStore;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatId;
import org.tamanoir.repository.ConflictException;
import org.tamanoir.repository.FormatShelf;

/** The formats of a node as its code server gives and takes them. Any thread. */
final class NodeShelf implements FormatShelf {
    private final FormatStore formats;

    NodeShelf(FormatStore formats) {
        this.formats = formats;
    }

    @Override
    public byte @Nullable [] description(FormatId id) {
        Format format = formats.find(id);
        return format == null ? null : format.description();
    }

    @Override
    public void add(Format format) throws ConflictException {
        try {
            formats.add(format);
        } catch (IllegalStateException | FormatException e) {
            throw new ConflictException(String.valueOf(e.getMessage()));
        }
    }
}
