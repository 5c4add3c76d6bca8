package org.tamanoir.node.config;

import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.function.Function;
import org.tamanoir.anep.Anep;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** What options of the command line are made from. picocli makes and calls them. */
public final class Converters {
    private static final Duration MIN_TIME = Duration.ofMillis(1);
    private static final Duration MAX_TIME = Duration.ofDays(365);

    private Converters() {}

    /** A rate in units per second, see {@link Quantity#rate}. */
    public static final class Rate implements ITypeConverter<Double> {
        @Override
        public Double convert(String value) {
            return converted(value, Quantity::rate);
        }
    }

    /** A number of things, see {@link Quantity#count}. */
    public static final class Count implements ITypeConverter<Long> {
        @Override
        public Long convert(String value) {
            return converted(value, Quantity::count);
        }
    }

    /** A time from 1 ms to a year. */
    public static final class Time implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String value) {
            return converted(value, text -> Quantity.duration(text, MIN_TIME, MAX_TIME));
        }
    }

    /** A socket address, see {@link Endpoint#listening}. */
    public static final class Address implements ITypeConverter<InetSocketAddress> {
        @Override
        public InetSocketAddress convert(String value) {
            return converted(value, text -> Endpoint.listening(text, Anep.DEFAULT_PORT));
        }
    }

    /** The address of a server of formats. */
    public static final class FormatServer implements ITypeConverter<URI> {
        @Override
        public URI convert(String value) {
            return converted(value, FormatFiles::server);
        }
    }

    /** A file of keys, see {@link KeyFile#read}. */
    public static final class Keys implements ITypeConverter<KeyFile> {
        @Override
        public KeyFile convert(String value) {
            return converted(value, KeyFile::read);
        }
    }

    /** A Type ID, 1 to 65,535. */
    public static final class TypeId implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return converted(value, text -> Quantity.number(text, 1, 65_535));
        }
    }

    /** picocli prints the message of this exception alone, with the option's name before it. */
    private static <T> T converted(String value, Function<String, T> parse) {
        try {
            return parse.apply(value);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
