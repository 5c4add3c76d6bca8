package org.tamanoir.trace;

/**
 * What was decided about a packet in one part of its way.
 *
 * @param afterNs since the packet was made
 * @param decision in a word or two
 * @param reason in one line
 */
public record Step(Stage stage, long afterNs, String decision, String reason) {}
