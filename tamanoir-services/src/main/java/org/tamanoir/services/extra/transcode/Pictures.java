package org.tamanoir.services.extra.transcode;

import java.awt.image.BufferedImage;
import java.awt.image.ColorModel;
import java.awt.image.IndexColorModel;
import java.awt.image.Raster;
import java.awt.image.WritableRaster;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.MemoryCacheImageInputStream;
import javax.imageio.stream.MemoryCacheImageOutputStream;

/**
 * Makes pictures smaller, by {@code javax.imageio}: in memory, never by a file, without metadata, and without the AWT's
 * graphics, which might look for a display.
 *
 * <p>Thread contract: any threads; each call has readers and writers of its own.
 */
final class Pictures {
    /** Formats to write. */
    enum Form {
        JPEG,
        PNG
    }

    private Pictures() {}

    /**
     * Decodes a picture whose size was looked at, and writes another.
     *
     * @param percent of width and height
     * @throws IOException if it cannot be read, in the words of {@code javax.imageio}
     */
    static byte[] convert(byte[] file, int bytes, boolean isPng, Form form, int quality, int percent)
            throws IOException {
        try {
            BufferedImage image = read(file, bytes, isPng);
            if (percent < 100) {
                image = scaled(image, percent);
            }
            return write(form == Form.JPEG ? opaque(image) : image, form, quality);
        } catch (RuntimeException e) {
            throw new IOException("cannot be decoded: " + e, e); // What malformed files make readers throw, too.
        }
    }

    private static BufferedImage read(byte[] file, int bytes, boolean isPng) throws IOException {
        ImageReader reader =
                ImageIO.getImageReadersByFormatName(isPng ? "png" : "jpeg").next();
        try (MemoryCacheImageInputStream in =
                new MemoryCacheImageInputStream(new ByteArrayInputStream(file, 0, bytes))) {
            reader.setInput(in, true, true);
            BufferedImage image = reader.read(0);
            return image.getColorModel() instanceof IndexColorModel ? direct(image) : image;
        } finally {
            reader.dispose();
        }
    }

    /** Returns colours in place of numbers of colours. */
    private static BufferedImage direct(BufferedImage image) {
        int type = image.getColorModel().hasAlpha() ? BufferedImage.TYPE_INT_ARGB : BufferedImage.TYPE_INT_RGB;
        BufferedImage direct = new BufferedImage(image.getWidth(), image.getHeight(), type);
        int[] row = new int[image.getWidth()];
        for (int y = 0; y < image.getHeight(); y++) {
            image.getRGB(0, y, row.length, 1, row, 0, row.length);
            direct.setRGB(0, y, row.length, 1, row, 0, row.length);
        }
        return direct;
    }

    /** Returns the picture with means of the pixels that each new one covers, band by band. */
    private static BufferedImage scaled(BufferedImage image, int percent) {
        int width = Math.max(1, (int) ((long) image.getWidth() * percent / 100));
        int height = Math.max(1, (int) ((long) image.getHeight() * percent / 100));
        ColorModel model = image.getColorModel();
        Raster from = image.getRaster();
        WritableRaster to = model.createCompatibleWritableRaster(width, height);
        int bands = from.getNumBands();
        long[] sums = new long[width * bands];
        int[] counts = new int[width];
        int[] row = new int[image.getWidth() * bands];
        int[] made = new int[width * bands];
        for (int y = 0; y < height; y++) {
            java.util.Arrays.fill(sums, 0);
            java.util.Arrays.fill(counts, 0);
            int end = from(y + 1, height, image.getHeight());
            for (int source = from(y, height, image.getHeight()); source < end; source++) {
                from.getPixels(0, source, image.getWidth(), 1, row);
                for (int x = 0; x < image.getWidth(); x++) {
                    int target = (int) ((long) x * width / image.getWidth());
                    counts[target]++;
                    for (int band = 0; band < bands; band++) {
                        sums[target * bands + band] += row[x * bands + band];
                    }
                }
            }
            for (int i = 0; i < made.length; i++) {
                int count = counts[i / bands];
                made[i] = (int) ((sums[i] + count / 2) / count);
            }
            to.setPixels(0, y, width, 1, made);
        }
        return new BufferedImage(model, to, image.isAlphaPremultiplied(), null);
    }

    /** Returns the first of {@code all} old rows of this new one, of {@code rows}. */
    private static int from(int row, int rows, int all) {
        return (int) (((long) row * all + rows - 1) / rows);
    }

    /** Returns what JPEG can hold: 8 bits, grey or in colour, and what is transparent on white. */
    private static BufferedImage opaque(BufferedImage image) {
        Raster from = image.getRaster();
        int bands = from.getNumBands();
        boolean isTransparent = image.getColorModel().hasAlpha();
        int colours = isTransparent ? bands - 1 : bands;
        int bits = from.getSampleModel().getSampleSize(0);
        if (!isTransparent && bits == 8) {
            return image;
        }
        int width = image.getWidth();
        BufferedImage opaque = new BufferedImage(
                width, image.getHeight(), colours == 1 ? BufferedImage.TYPE_BYTE_GRAY : BufferedImage.TYPE_3BYTE_BGR);
        int[] row = new int[width * bands];
        int[] made = new int[width * colours];
        int most = (1 << bits) - 1;
        for (int y = 0; y < image.getHeight(); y++) {
            from.getPixels(0, y, width, 1, row);
            for (int x = 0; x < width; x++) {
                long alpha = isTransparent ? row[x * bands + colours] : most;
                for (int band = 0; band < colours; band++) {
                    long on = row[x * bands + band] * alpha + (long) most * (most - alpha);
                    made[x * colours + band] = (int) ((on / most) >> bits - 8);
                }
            }
            opaque.getRaster().setPixels(0, y, width, 1, made);
        }
        return opaque;
    }

    private static byte[] write(BufferedImage image, Form form, int quality) throws IOException {
        ImageWriter writer = ImageIO.getImageWritersByFormatName(form == Form.JPEG ? "jpeg" : "png")
                .next();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (MemoryCacheImageOutputStream out = new MemoryCacheImageOutputStream(bytes)) {
            writer.setOutput(out);
            ImageWriteParam parameters = writer.getDefaultWriteParam();
            if (form == Form.JPEG) {
                parameters.setCompressionMode(ImageWriteParam.MODE_EXPLICIT);
                parameters.setCompressionQuality(quality / 100f);
            }
            writer.write(null, new IIOImage(image, null, null), parameters);
        } finally {
            writer.dispose();
        }
        return bytes.toByteArray();
    }
}
