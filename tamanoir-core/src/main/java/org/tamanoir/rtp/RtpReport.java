package org.tamanoir.rtp;

/**
 * What a receiver has said of a source (RFC 3550, 6.4.1).
 *
 * @param fractionLost since the report before, in 256ths
 * @param lost so far; less than 0 where packets came twice
 * @param highest sequence number, with cycles above 16 bits
 * @param jitter in units of the source's timestamp
 */
public record RtpReport(int fractionLost, int lost, long highest, long jitter) {}
