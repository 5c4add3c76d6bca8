package org.tamanoir.services.morph;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Option;
import org.tamanoir.format.Format;
import org.tamanoir.message.Message;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.services.AddressPrefix;

/**
 * One line of the classification: which messages enter where. Conditions that are absent hold.
 *
 * @param format the name of the records' structure, or the identifier in hex digits
 * @param port of the destination; -1: any
 * @param trafficClass class of service; -1: any
 * @param enter the stages that messages go to, {@link Plan#OUT} leaves
 */
record PathRule(
        @Nullable String format,
        @Nullable AddressPrefix source,
        @Nullable AddressPrefix destination,
        @Nullable Transport protocol,
        int port,
        int trafficClass,
        List<Integer> enter) {

    /** Returns whether messages of this format over this transport may fit. */
    boolean fits(Format of, Transport transport) {
        return (format == null
                        || format.equals(of.name())
                        || format.equalsIgnoreCase(of.id().toString()))
                && (protocol == null || protocol == transport);
    }

    /** Returns whether what remains to be looked at in a message fits. Allocates nothing. */
    boolean fits(Message message) {
        return (port < 0 || port == message.header().destinationPort())
                && (trafficClass < 0 || trafficClass == message.header().classOfService())
                && (source == null || source.matches(message.header(), Option.SOURCE))
                && (destination == null || destination.matches(message.header(), Option.DESTINATION));
    }

    PathRule withEnter(List<Integer> other) {
        return new PathRule(format, source, destination, protocol, port, trafficClass, other);
    }
}
