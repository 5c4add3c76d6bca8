package org.tamanoir.node.ffs;

import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.tamanoir.format.Format;
import org.tamanoir.format.Layout;
import org.tamanoir.format.Structure;

/** A format taken apart, for people and programs. */
final class Description {
    private Description() {}

    static Map<String, Object> of(Format format) {
        Layout layout = format.layout();
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("id", format.id().toString());
        all.put("byte_order", layout.order() == ByteOrder.BIG_ENDIAN ? "big" : "little");
        all.put("pointer_size", layout.pointerBytes());
        all.put("float_format", layout.floats().ordinal());
        all.put("column_major", layout.columnMajor());
        all.put("description_version", layout.version());
        all.put("structs", format.structures().stream().map(Description::of).toList());
        return all;
    }

    private static Map<String, Object> of(Structure structure) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("name", structure.name());
        all.put("record_length", structure.recordLength());
        all.put("alignment", structure.alignment());
        all.put("variable", structure.isVariable());
        all.put(
                "fields",
                structure.fields().stream()
                        .map(f -> List.<Object>of(f.name(), f.typeText(), f.size(), f.offset()))
                        .toList());
        if (!structure.information().isEmpty()) {
            all.put(
                    "optional_information",
                    structure.information().stream()
                            .map(i -> List.of(
                                    String.format(Locale.ROOT, "%08x", i.type()),
                                    HexFormat.of().formatHex(i.bytes())))
                            .toList());
        }
        return all;
    }
}
