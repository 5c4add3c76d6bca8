package org.tamanoir.benchmarks.emulate;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.AddressText;
import org.tamanoir.format.text.Decimals;
import org.tamanoir.routing.Addresses;

/** A trace in lines {@code ns,bytes,destination,class,service}, under a first line that may say so. One thread. */
final class CsvTrace extends Trace {
    private static final String HEAD = "ns,bytes,destination,class,service";
    private static final int MAX_LINE = 256;
    /** Which some programs begin a file with. */
    private static final String BYTE_ORDER_MARK = "\uFEFF";

    private final List<String> services;
    private boolean isFirst = true;

    CsvTrace(InputStream in, String name, List<String> services) {
        super(in, name);
        this.services = services;
    }

    @Override
    public boolean next(Arrival into) throws IOException {
        begin();
        String line = line();
        if (isFirst && line != null && line.startsWith(BYTE_ORDER_MARK)) {
            line = line.substring(1);
        }
        if (isFirst && HEAD.equals(line)) {
            line = line();
        }
        isFirst = false;
        if (line == null) {
            return false;
        }
        String[] cells = line.split(",", -1);
        if (cells.length != 5) {
            throw fault("it has " + cells.length + " columns: must be " + HEAD);
        }
        at(number("time", cells[0], 0, Long.MAX_VALUE), into);
        into.bytes = (int) number("bytes", cells[1], 1, MAX_BYTES);
        try {
            InetAddress address = AddressText.literal(cells[2]);
            into.high = Addresses.high(address);
            into.low = Addresses.low(address);
        } catch (IllegalArgumentException e) {
            throw fault("destination '" + cells[2] + "': must be an address of IPv4 or IPv6");
        }
        into.trafficClass = (int) number("class", cells[3], 0, 255);
        into.service = services.indexOf(cells[4]);
        if (into.service < 0) {
            throw fault("service '" + cells[4] + "': must be of " + String.join(", ", services)
                    + "; name others with --load");
        }
        return true;
    }

    private long number(String what, String text, long least, long most) throws IOException {
        try {
            return Decimals.whole(text, least, most);
        } catch (NumberFormatException e) {
            throw fault(what + " '" + text + "': must be a number from " + least + " to " + most);
        }
    }

    /** Returns the next line that is not empty; null at the end. */
    private @Nullable String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        int next;
        while ((next = in.read()) >= 0 && (next != '\n' || line.size() == 0)) {
            if (next != '\r' && next != '\n') {
                line.write(next);
            }
            if (line.size() > MAX_LINE) {
                throw fault("its line is longer than " + MAX_LINE + " bytes: must be " + HEAD);
            }
        }
        return line.size() == 0 ? null : line.toString(StandardCharsets.UTF_8);
    }
}
