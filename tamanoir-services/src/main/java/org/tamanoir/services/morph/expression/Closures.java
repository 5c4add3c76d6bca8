package org.tamanoir.services.morph.expression;

import org.tamanoir.format.RecordView;

/** What checked trees become: a closure for each node, of the type that the node has, so that no value is boxed. */
final class Closures {
    private Closures() {}

    /** A truth. */
    interface Bool {
        boolean test(RecordView record);
    }

    /** A whole number; of an unsigned one all 64 bits. */
    interface Whole {
        long get(RecordView record);
    }

    /** A float. */
    interface Floating {
        double get(RecordView record);
    }

    /** A string or bytes. */
    interface Text {
        void get(RecordView record, TextView into);
    }

    /** A place in the record, from which an accessor reads; -1: behind a null pointer. */
    interface Place {
        int at(RecordView record);
    }
}
