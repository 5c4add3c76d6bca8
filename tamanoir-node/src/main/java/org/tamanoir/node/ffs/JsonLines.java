package org.tamanoir.node.ffs;

import java.io.StringWriter;
import org.tamanoir.format.RecordView;
import org.tamanoir.format.text.RecordJson;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** Records as lines: {@code {"format":"ID","name":"structure","value":{...}}}. */
final class JsonLines {
    private final JsonFactory factory = RecordJson.factory();
    private final RecordJson json = new RecordJson();

    String line(RecordView record) {
        StringWriter line = new StringWriter();
        try (JsonGenerator out = factory.createGenerator(ObjectWriteContext.empty(), line)) {
            write(json, record, out);
        }
        return line.toString();
    }

    static void write(RecordJson json, RecordView record, JsonGenerator out) {
        out.writeStartObject();
        out.writeStringProperty("format", record.format().id().toString());
        out.writeStringProperty("name", record.format().name());
        out.writeName("value");
        json.write(record, out);
        out.writeEndObject();
    }
}
