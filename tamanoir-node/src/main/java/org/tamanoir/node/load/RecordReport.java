package org.tamanoir.node.load;

/**
 * What {@code receive --records} has written.
 *
 * @param written records
 * @param unknown records of formats that are nowhere to be had
 * @param broken records that are damaged, or whose packets did not all come
 * @param others packets that carry no record
 */
record RecordReport(long written, long unknown, long broken, long others) {
    boolean isWhole() {
        return unknown == 0 && broken == 0;
    }
}
