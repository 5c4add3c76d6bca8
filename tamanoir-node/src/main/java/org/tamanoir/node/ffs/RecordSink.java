package org.tamanoir.node.ffs;

import java.io.IOException;
import org.tamanoir.format.RecordView;

/** Where records go. */
public interface RecordSink {
    /**
     * Takes a record, which is lent for the call.
     *
     * @throws org.tamanoir.format.FormatException if the record is damaged
     */
    void write(RecordView record) throws IOException;
}
