package org.tamanoir.rtp;

import java.util.List;

/**
 * What is known of RTP.
 *
 * @param status sources that have shown that they are one
 * @param crowded packets that came by and were not looked at, since there was no room for their source
 */
public record RtpSnapshot(List<RtpStatus> status, long crowded) {}
