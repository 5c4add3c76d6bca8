package org.tamanoir.sapf;

/**
 * What a node has done in SAPF since its start.
 *
 * @param issued selectors of its own that are bound now
 * @param asked selectors of next hops that its flows have now
 * @param packetsIn packets that came with a selector and became ANEP
 * @param packetsOut packets that left with a selector
 * @param packetsSwapped of those, packets that had come with another selector and were not written out
 * @param refused requests for selectors that it refused
 * @param unknown messages sent about selectors that it does not know
 * @param malformed messages that were none
 */
public record SapfStatistics(
        int issued,
        int asked,
        long packetsIn,
        long packetsOut,
        long packetsSwapped,
        long refused,
        long unknown,
        long malformed) {}
