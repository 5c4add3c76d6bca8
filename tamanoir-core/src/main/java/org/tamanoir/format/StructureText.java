package org.tamanoir.format;

import java.util.List;

/** A structure as a description says it. */
record StructureText(
        String name,
        int recordLength,
        int alignment,
        Layout layout,
        List<FieldText> fields,
        List<OptionalInformation> information) {}
