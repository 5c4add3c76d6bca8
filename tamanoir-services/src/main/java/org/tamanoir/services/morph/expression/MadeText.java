package org.tamanoir.services.morph.expression;

import java.nio.ByteBuffer;
import org.tamanoir.format.RecordView;
import org.tamanoir.services.morph.expression.Closures.Text;
import org.tamanoir.services.morph.expression.Closures.Whole;

/** Texts that are not in the record: made in memory that each keeps and that grows to the longest it has made. */
final class MadeText {
    private MadeText() {}

    /** Two texts, one behind the other. */
    static final class Joined implements Text {
        private final Text first;
        private final Text second;
        private final TextView a = new TextView();
        private final TextView b = new TextView();
        private ByteBuffer memory = ByteBuffer.allocate(64);

        Joined(Text first, Text second) {
            this.first = first;
            this.second = second;
        }

        @Override
        public void get(RecordView record, TextView into) {
            first.get(record, a);
            second.get(record, b);
            int length = Math.addExact(a.length(), b.length());
            if (length > memory.capacity()) {
                memory = ByteBuffer.allocate(Math.max(length, 2 * memory.capacity()));
            }
            for (int i = 0; i < a.length(); i++) {
                memory.put(i, a.get(i));
            }
            for (int i = 0; i < b.length(); i++) {
                memory.put(a.length() + i, b.get(i));
            }
            into.set(memory, 0, length);
        }
    }

    /** A number in decimal. */
    static final class Digits implements Text {
        private static final int LONGEST = 20;

        private final Whole number;
        private final ByteBuffer memory = ByteBuffer.allocate(LONGEST);

        Digits(Whole number) {
            this.number = number;
        }

        @Override
        public void get(RecordView record, TextView into) {
            long value = number.get(record);
            long rest = value;
            int at = LONGEST;
            // Remainders have the number's sign, so that the smallest needs no case of its own.
            do {
                memory.put(--at, (byte) ('0' + Math.abs(rest % 10)));
                rest /= 10;
            } while (rest != 0);
            if (value < 0) {
                memory.put(--at, (byte) '-');
            }
            into.set(memory, at, LONGEST - at);
        }
    }
}
