package org.tamanoir.services.extra.transcode;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Counter;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.services.NextService;
import org.tamanoir.services.extra.FlowTable;
import org.tamanoir.services.extra.Header;
import org.tamanoir.services.extra.MadePacket;

/**
 * Sound: payloads are samples of one channel, in one coding and rate, and leave in another. The filter goes on from
 * packet to packet of a flow, lost ones left out. What becomes too long for a packet leaves in several with the same
 * header. Thread contract: the service's thread.
 */
final class SoundMode implements Mode {
    /** What is kept for a flow. @param resampler null where the rate stays */
    private record Sound(Header header, @Nullable Resampler resampler) implements FlowTable.Flow {}

    private final Exit exit;
    private final NextService next;
    private final SampleConverter converter;
    private final FlowTable<Sound> flows;
    private final MadePacket made = new MadePacket();
    private final int maxPacketBytes;
    private final Counter extraPackets;

    SoundMode(ServiceConfig config, NextService next, Exit exit) {
        this.exit = exit;
        this.next = next;
        converter = new SampleConverter(config, exit);
        flows = new FlowTable<>((int) config.number("flows", 1024, 1, 65_536), this::begin, ended -> {});
        maxPacketBytes = exit.maxPacketBytes();
        extraPackets = exit.count("extra-packets");
    }

    private Sound begin(Header header) {
        return new Sound(header, converter.resampler());
    }

    @Override
    public Verdict process(Packet packet) {
        int samples = packet.payloadLength() / converter.from.bytes;
        if (samples * converter.from.bytes != packet.payloadLength()) {
            return exit.end(SampleConverter.HALF_A_SAMPLE);
        }
        int part = converter.fitting(maxPacketBytes - packet.headerLength() - next.extraBytes(packet));
        if (part <= 0) {
            return exit.end("header leaves no room for samples");
        }
        Sound sound = flows.of(packet);
        ByteBuffer payload = packet.payload();
        while (samples > part) {
            int bytes = converter.convert(sound.resampler(), payload, part);
            converter.write(made.room(flows.header(), bytes), bytes);
            Packet extra = made.finish(
                    flows.header(), flows.header().sequence(), flows.header().originNs(), bytes);
            next.name(extra);
            exit.send(extra);
            extraPackets.add(1);
            samples -= part;
        }
        int bytes = converter.convert(sound.resampler(), payload, samples);
        converter.write(packet.newPayload(bytes), bytes);
        packet.commitPayload(bytes);
        next.name(packet);
        return Verdict.FORWARD;
    }
}
