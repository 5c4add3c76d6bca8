package org.tamanoir.admission;

/**
 * TCP streams of a node.
 *
 * @param open now
 * @param accepted since the start
 * @param refused since the start, because there were too many
 */
public record StreamCounts(int open, long accepted, long refused) {}
