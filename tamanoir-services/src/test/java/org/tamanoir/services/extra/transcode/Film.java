package org.tamanoir.services.extra.transcode;

import java.io.ByteArrayOutputStream;
import java.util.Random;

/** A film made of headers and noise: groups of pictures in the order of coding. Not a decoder's film, but its structure. */
final class Film {
    static final String GROUP = "IPBBPBBPBB";

    private Film() {}

    static int pictureBytes(char kind) {
        return kind == 'I' ? 4000 : kind == 'P' ? 2000 : 1000;
    }

    /** ISO/IEC 13818-2: sequence and group headers before each I, each picture of two slices. */
    static byte[] mpeg2(String pictures, Random random) {
        ByteArrayOutputStream film = new ByteArrayOutputStream();
        int number = 0;
        for (char kind : pictures.toCharArray()) {
            if (kind == 'I') {
                unit(film, 0xB3, new byte[] {0x16, 0x01, 0x20, 0x33});
                unit(film, 0xB8, new byte[] {0x00, 0x08, 0x00, 0x40});
            }
            int type = "IPB".indexOf(kind) + 1;
            unit(film, 0x00, new byte[] {(byte) (number >> 2), (byte) (number << 6 | type << 3), (byte) 0xFF});
            unit(film, 0xB5, new byte[] {(byte) 0x8F, (byte) 0xFF, (byte) 0xF3, 0x41});
            unit(film, 0x01, noise(random, pictureBytes(kind) / 2));
            unit(film, 0x02, noise(random, pictureBytes(kind) / 2));
            number++;
        }
        unit(film, 0xB7, new byte[0]);
        return film.toByteArray();
    }

    /** Annex B of H.264: parameter sets before each I, each picture of two slices; B are no references. */
    static byte[] h264(String pictures, Random random) {
        ByteArrayOutputStream film = new ByteArrayOutputStream();
        for (char kind : pictures.toCharArray()) {
            if (kind == 'I') {
                unit(film, 0x67, new byte[] {0x42, 0x10, 0x1E});
                unit(film, 0x68, new byte[] {(byte) 0xCE, 0x38});
            }
            // first_mb_in_slice 0 is a bit; slice_type I is 7, P is 5, B is 6: 0001000, 00110, 00111.
            int header = kind == 'I' ? 0x65 : kind == 'P' ? 0x41 : 0x01;
            int slice = kind == 'I' ? 0x88 : kind == 'P' ? 0x80 | 0x06 << 2 : 0x80 | 0x07 << 2;
            byte[] first = noise(random, pictureBytes(kind) / 2);
            byte[] second = noise(random, pictureBytes(kind) / 2);
            first[0] = (byte) slice;
            second[0] = (byte) 0x5F;
            unit(film, header, first);
            unit(film, header, second);
        }
        return film.toByteArray();
    }

    private static void unit(ByteArrayOutputStream film, int code, byte[] content) {
        film.writeBytes(new byte[] {0, 0, 1, (byte) code});
        film.writeBytes(content);
    }

    /** Without the zeros that a start code begins with. */
    private static byte[] noise(Random random, int bytes) {
        byte[] noise = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            noise[i] = (byte) (1 + random.nextInt(255));
        }
        return noise;
    }
}
