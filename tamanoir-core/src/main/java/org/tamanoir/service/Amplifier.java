package org.tamanoir.service;

/**
 * Marks a {@link Service} that by its nature makes many bytes of few, as a decompressor does. Over UDP the source of a
 * datagram can be forged, so a node offers such a service on TCP alone unless its operator names it among
 * {@code limits.udp-amplifiers}. A marker, not a method: a node looks at the instance before that gets a datagram.
 */
public interface Amplifier {}
