package org.tamanoir.benchmarks;

import com.google.protobuf.CodedInputStream;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.sym.PropertyNameMatcher;
import tools.jackson.core.util.Named;
import tools.jackson.dataformat.cbor.CBORMapper;

/** The filter over ten fields that a user of Netty would write: the payload of each packet is read by a library. */
abstract class PayloadFilter {
    private static final int NUMBERS = 8;
    private static final int HUB = NUMBERS;
    private static final int FUEL = NUMBERS + 1;
    /** Where a packet says how many words its header has. */
    private static final int HEADER_WORDS_AT = 4;

    private byte[] payload = new byte[0];

    /** Returns a filter by what payloads are; {@code none}: all pass. One for each stream. */
    static PayloadFilter of(String kind) {
        return switch (kind) {
            case "cbor" -> new Cbor();
            case "protobuf" -> new Protobuf();
            case "none" ->
                new PayloadFilter() {
                    @Override
                    boolean passes(ByteBuf packet) {
                        return true;
                    }

                    @Override
                    boolean passes(byte[] payload, int length) {
                        return true;
                    }
                };
            default -> throw new IllegalArgumentException("filter=" + kind + ": cbor, protobuf, none");
        };
    }

    boolean passes(ByteBuf packet) {
        int header = packet.getUnsignedShort(packet.readerIndex() + HEADER_WORDS_AT) * 4;
        int length = packet.readableBytes() - header;
        if (payload.length < length) {
            payload = new byte[length];
        }
        packet.getBytes(packet.readerIndex() + header, payload, 0, length);
        return passes(payload, length);
    }

    abstract boolean passes(byte[] payload, int length);

    private static final class Cbor extends PayloadFilter {
        private final CBORMapper mapper = new CBORMapper();
        private final PropertyNameMatcher names;

        Cbor() {
            List<Named> all = new ArrayList<>();
            for (int i = 0; i < NUMBERS; i++) {
                all.add(Named.fromString("f" + i));
            }
            all.add(Named.fromString("hub"));
            all.add(Named.fromString("fuel"));
            names = mapper.tokenStreamFactory().constructNameMatcher(all, false);
        }

        @Override
        boolean passes(byte[] payload, int length) {
            boolean passes = true;
            try (JsonParser in =
                    mapper.tokenStreamFactory().createParser(ObjectReadContext.empty(), payload, 0, length)) {
                in.nextToken();
                for (int field = in.nextNameMatch(names); field >= 0; field = in.nextNameMatch(names)) {
                    in.nextToken();
                    if (field == HUB) {
                        passes &= in.getString().equals("ATL");
                    } else if (field == FUEL) {
                        passes &= in.getDoubleValue() > 1;
                    } else {
                        passes &= in.getLongValue() >= 100;
                    }
                }
            }
            return passes;
        }
    }

    private static final class Protobuf extends PayloadFilter {
        @Override
        boolean passes(byte[] payload, int length) {
            boolean passes = true;
            CodedInputStream in = CodedInputStream.newInstance(payload, 0, length);
            try {
                for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
                    int field = (tag >>> 3) - 1;
                    if (field == HUB) {
                        passes &= in.readStringRequireUtf8().equals("ATL");
                    } else if (field == FUEL) {
                        passes &= in.readDouble() > 1;
                    } else {
                        passes &= in.readInt64() >= 100;
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return passes;
        }
    }
}
