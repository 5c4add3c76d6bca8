package org.tamanoir.node.demo;

import java.nio.ByteOrder;
import java.util.List;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatBuilder;
import org.tamanoir.format.Layout;

/** What the receivers of the demo's chains understand; {@link AirlineData} has what is sent. */
final class MorphFormats {
    /** A flight as a 32-bit machine with the other byte order holds it. */
    static final Format LEG = Format.builder(
                    Layout.X86_64.withOrder(ByteOrder.BIG_ENDIAN).withPointerBytes(4))
            .structure("leg")
            .field("id", "integer", 8)
            .field("number", "string")
            .field("hub", "string")
            .field("to", "string")
            .field("delay", "integer", 2)
            .field("departs_ms", "integer", 8)
            .field("n", "integer", 4)
            .field("passengers", "passenger[n]")
            .structure("passenger")
            .field("name", "string")
            .field("seat", "integer", 2)
            .build();

    static final Format LATE_FLIGHT = structure("late_flight")
            .field("id", "integer", 8)
            .field("number", "string")
            .field("hub", "string")
            .field("delay", "integer", 4)
            .field("fuel_kg", "float", 8)
            .build();

    static final Format OFFER = structure("offer")
            .field("transaction", "integer", 8)
            .field("passenger", "string")
            .field("flight", "string")
            .field("fare", "float", 8)
            .field("text", "string")
            .build();

    static final Format ANONYMOUS = structure("anonymous")
            .field("id", "integer", 8)
            .field("hub", "string")
            .field("n", "integer", 4)
            .field("passengers", "passenger[n]")
            .structure("passenger")
            .field("seat", "integer", 4)
            .field("meal", "string")
            .build();

    /** Between two handlers. */
    private static final Format MEALS = structure("meals")
            .field("hub", "string")
            .field("vegetarian", "integer", 8)
            .field("kosher", "integer", 8)
            .field("halal", "integer", 8)
            .build();

    static final Format CATERING = structure("catering")
            .field("hub", "string")
            .field("flights", "integer", 8)
            .field("vegetarian", "integer", 8)
            .field("kosher", "integer", 8)
            .field("halal", "integer", 8)
            .build();

    /** All that the plans name. */
    static final List<Format> ALL = List.of(
            AirlineData.FLIGHT,
            AirlineData.RESERVATION,
            AirlineData.ADVERT,
            LEG,
            LATE_FLIGHT,
            OFFER,
            ANONYMOUS,
            MEALS,
            CATERING);

    private MorphFormats() {}

    private static FormatBuilder structure(String name) {
        return Format.builder(Layout.X86_64).structure(name);
    }
}
