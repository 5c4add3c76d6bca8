package org.tamanoir.manager;

import java.time.Instant;
import java.util.Map;

/**
 * Something that happened to the node.
 *
 * @param id counts up from 1
 * @param kind {@code deployed}, {@code deployment-failed}, {@code code-refused}, {@code draining}, {@code undeployed},
 *     {@code unloaded}, {@code leak}, {@code quarantined}, {@code stuck}, {@code route}, {@code revoked}, {@code node}
 * @param text one line
 * @param details the same in parts: {@code service}, {@code version}, {@code source}, {@code refusal}, {@code ms} ...
 */
public record Event(long id, Instant time, String kind, String text, Map<String, String> details) {}
