package org.tamanoir.node;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Quantities as people type and read them: decimal prefixes (k = 1,000), times with a unit, host:port. */
final class Rates {
    private static final Pattern NUMBER = Pattern.compile("(\\d+(?:\\.\\d+)?)([kKmMgG]?)");
    private static final Pattern TIME = Pattern.compile("(\\d+(?:\\.\\d+)?)(ns|us|ms|s|m|h)");
    private static final double NS_PER_SECOND = 1e9;

    private Rates() {}

    /** {@code 100}, {@code 2.5k}, {@code 100M}, {@code 1G}. */
    static double parseNumber(String text) {
        Matcher number = NUMBER.matcher(text);
        if (!number.matches()) {
            throw new IllegalArgumentException("'" + text
                    + "' is no number: write digits, and k, M or G for thousands, millions or thousands" + " of those");
        }
        double unit = switch (number.group(2).toLowerCase(Locale.ROOT)) {
            case "k" -> 1e3;
            case "m" -> 1e6;
            case "g" -> 1e9;
            default -> 1;
        };
        return Double.parseDouble(number.group(1)) * unit;
    }

    /** {@code 500ms}, {@code 10s}, {@code 1.5m}. */
    static Duration parseTime(String text) {
        Matcher time = TIME.matcher(text);
        if (!time.matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no time: write a number and its unit, ns, us, ms, s, m or h");
        }
        double unitNs = switch (time.group(2)) {
            case "ns" -> 1;
            case "us" -> 1e3;
            case "ms" -> 1e6;
            case "s" -> NS_PER_SECOND;
            case "m" -> 60 * NS_PER_SECOND;
            default -> 3600 * NS_PER_SECOND;
        };
        return Duration.ofNanos((long) (Double.parseDouble(time.group(1)) * unitNs));
    }

    /** {@code host:port}, {@code [v6]:port}; port 0–65,535. */
    static InetSocketAddress parseHostPort(String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon);
        boolean bracketed = host.startsWith("[") && host.endsWith("]");
        if (host.isEmpty() || host.indexOf(':') >= 0 && !bracketed) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no address: write host:port, an IPv6 address in brackets");
        }
        return new InetSocketAddress(
                bracketed ? host.substring(1, host.length() - 1) : host, parsePort(text.substring(colon + 1)));
    }

    static int parsePort(String text) {
        int port = text.matches("\\d{1,5}") ? Integer.parseInt(text) : -1;
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("port '" + text + "': 0 to 65535 are possible");
        }
        return port;
    }

    /** What {@link #parseHostPort} reads. */
    static String hostPort(InetSocketAddress address) {
        String host = address.isUnresolved()
                ? address.getHostString()
                : address.getAddress().getHostAddress();
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + address.getPort();
    }

    /** {@code 12,345,678 packets}'s number. */
    static String count(long count) {
        return String.format(Locale.ROOT, "%,d", count);
    }

    /** Octets with a decimal prefix: {@code 1.23 GB}. */
    static String octets(double octets) {
        return prefixed(octets) + "B";
    }

    /** {@code 1.23 GB/s}; 0 when no time has passed. */
    static String octetRate(double octets, double seconds) {
        return octets(perSecond(octets, seconds)) + "/s";
    }

    /** {@code 1.23 M packets/s}. */
    static String packetRate(double packets, double seconds) {
        return prefixed(perSecond(packets, seconds)) + "packets/s";
    }

    static double perSecond(double quantity, double seconds) {
        return seconds > 0 ? quantity / seconds : 0;
    }

    private static String prefixed(double value) {
        if (value >= 1e9) {
            return String.format(Locale.ROOT, "%.2f G", value / 1e9);
        }
        if (value >= 1e6) {
            return String.format(Locale.ROOT, "%.2f M", value / 1e6);
        }
        if (value >= 1e3) {
            return String.format(Locale.ROOT, "%.1f k", value / 1e3);
        }
        return String.format(Locale.ROOT, "%.0f ", value);
    }

    /** For options that take a number with a prefix, greater than 0. */
    static final class Number implements ITypeConverter<Double> {
        @Override
        public Double convert(String value) {
            double number = converted(() -> parseNumber(value));
            if (number <= 0) {
                throw new TypeConversionException("'" + value + "': must be greater than 0");
            }
            return number;
        }
    }

    /** For options that count things: a whole number with a prefix, greater than 0. */
    static final class Count implements ITypeConverter<Long> {
        @Override
        public Long convert(String value) {
            double number = converted(() -> parseNumber(value));
            if (number < 1 || number != Math.rint(number)) {
                throw new TypeConversionException("'" + value + "': must be a whole number of 1 or more");
            }
            return (long) number;
        }
    }

    /** For options that take a time greater than 0. */
    static final class Time implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String value) {
            Duration time = converted(() -> parseTime(value));
            if (time.isZero()) {
                throw new TypeConversionException("'" + value + "': must be longer than 0");
            }
            return time;
        }
    }

    /** For options that take a socket address. */
    static final class HostPort implements ITypeConverter<InetSocketAddress> {
        @Override
        public InetSocketAddress convert(String value) {
            return converted(() -> parseHostPort(value));
        }
    }

    /** picocli prints the message of this exception alone, with the option's name before it. */
    private static <T> T converted(java.util.function.Supplier<T> parse) {
        try {
            return parse.get();
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
