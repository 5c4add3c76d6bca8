package org.tamanoir.cluster.lvs;

/**
 * One step from the table that is to the table that is wanted.
 *
 * @param at whose service it is
 * @param line for {@code ipvsadm --restore}
 * @param undo the line that takes it back
 */
public record Change(VirtualAddress at, String line, String undo) {}
