package org.tamanoir.rtp;

import java.util.List;
import java.util.Map;

/**
 * What is known of RTP.
 *
 * @param status sources that have shown that they are one
 * @param crowded packets that came by and were not looked at, since there was no room for their source
 * @param companions datagrams of each other protocol that crossed in either direction
 */
public record RtpSnapshot(List<RtpStatus> status, long crowded, Map<RtpCompanion, Long> companions) {}
