package org.tamanoir.format;

import org.jspecify.annotations.Nullable;

/**
 * A dimension of an array.
 *
 * @param count of elements; -1 where a field says
 * @param control the field of the same structure that says how many; read unsigned
 */
public record Dimension(int count, @Nullable Field control) {}
