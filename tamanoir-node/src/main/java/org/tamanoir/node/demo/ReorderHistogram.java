package org.tamanoir.node.demo;

import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.imageio.ImageIO;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.load.Rates;

/**
 * How many steps of each length are between the numbers of packets that arrived one after the other: 1 where order was
 * kept, less than 0 where a packet came too late. Thread contract: one thread.
 */
final class ReorderHistogram {
    /** The lowest step of each bar; the highest is what the next one begins with, less 1. */
    private static final int[] FROM = {Integer.MIN_VALUE, -99, -9, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 10, 100};

    private static final List<String> LABELS = List.of(
            "-100 and less",
            "-99 to -10",
            "-9 to -6",
            "-5",
            "-4",
            "-3",
            "-2",
            "-1",
            "0",
            "1",
            "2",
            "3",
            "4",
            "5",
            "6 to 9",
            "10 to 99",
            "100 and more");
    private static final int LABEL_WIDTH = 16;
    private static final int COLUMN_WIDTH = 22;
    private static final int BAR = 12;
    private static final int PIXELS = 12;
    private static final int MARGIN = 40;
    private static final int PLOT_HEIGHT = 300;
    /** Told apart by those who see no red or no green too (Okabe and Ito). */
    private static final Color[] COLOURS = {new Color(0xD55E00), new Color(0x0072B2), new Color(0x009E73)};

    private final Map<String, long[]> counts = new LinkedHashMap<>();

    /** Adds what one run brought, in order of arrival. */
    void add(String name, long[] numbers) {
        long[] bars = new long[FROM.length];
        for (int i = 1; i < numbers.length; i++) {
            bars[bar(numbers[i] - numbers[i - 1])]++;
        }
        counts.put(name, bars);
    }

    private static int bar(long step) {
        int bar = FROM.length - 1;
        while (step < FROM[bar]) {
            bar--;
        }
        return bar;
    }

    /** Returns the steps of each bar that has some, by the name of the bar. */
    Map<String, Long> bars(String name) {
        Map<String, Long> bars = new LinkedHashMap<>();
        long[] of = counts.getOrDefault(name, new long[FROM.length]);
        for (int bar = 0; bar < of.length; bar++) {
            if (of[bar] > 0) {
                bars.put(LABELS.get(bar), of[bar]);
            }
        }
        return bars;
    }

    /** Shows a line for each bar, with a column for each run; lengths are logarithmic. */
    void show(Output output) {
        List<String> heads = new ArrayList<>(counts.keySet());
        StringBuilder head = new StringBuilder(String.format(Locale.ROOT, "%-" + LABEL_WIDTH + "s", "step j"));
        heads.forEach(name -> head.append(String.format(Locale.ROOT, "%-" + COLUMN_WIDTH + "s", name)));
        output.line(head.toString().stripTrailing());
        for (int bar = 0; bar < FROM.length; bar++) {
            StringBuilder line =
                    new StringBuilder(String.format(Locale.ROOT, "%-" + LABEL_WIDTH + "s", LABELS.get(bar)));
            for (String name : heads) {
                long count = counts.getOrDefault(name, new long[FROM.length])[bar];
                String text = count == 0 ? "" : Rates.count(count) + " " + "#".repeat(length(count, BAR));
                line.append(String.format(Locale.ROOT, "%-" + COLUMN_WIDTH + "s", text));
            }
            output.line(line.toString().stripTrailing());
        }
    }

    /** Returns how long a bar is: a tenth of what a hundred thousand gets for each factor of √10. */
    private static int length(long count, int full) {
        return (int) Math.max(1, Math.min(full, Math.round(full * Math.log10(count + 1) / 5)));
    }

    /** Writes bars in groups, a group for each length of step, a colour for each run; heights are logarithmic. */
    void write(Path png) throws IOException {
        System.setProperty("java.awt.headless", "true");
        int group = PIXELS * (counts.size() + 1);
        int width = 2 * MARGIN + group * FROM.length;
        BufferedImage image = new BufferedImage(width, PLOT_HEIGHT + 4 * MARGIN, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        graphics.setColor(Color.WHITE);
        graphics.fillRect(0, 0, image.getWidth(), image.getHeight());
        int run = 0;
        for (Map.Entry<String, long[]> each : counts.entrySet()) {
            graphics.setColor(COLOURS[run % COLOURS.length]);
            graphics.drawString(each.getKey(), MARGIN + 2 * MARGIN * run, MARGIN / 2);
            for (int bar = 0; bar < FROM.length; bar++) {
                long count = each.getValue()[bar];
                int height = count == 0 ? 0 : length(count, PLOT_HEIGHT);
                graphics.fillRect(
                        MARGIN + bar * group + run * PIXELS, MARGIN + PLOT_HEIGHT - height, PIXELS - 1, height);
            }
            run++;
        }
        graphics.setColor(Color.BLACK);
        graphics.drawLine(MARGIN, MARGIN + PLOT_HEIGHT, width - MARGIN, MARGIN + PLOT_HEIGHT);
        for (int bar = 0; bar < FROM.length; bar++) {
            Graphics2D turned = (Graphics2D) graphics.create();
            turned.rotate(Math.PI / 2, MARGIN + bar * group, MARGIN + PLOT_HEIGHT + PIXELS);
            turned.drawString(LABELS.get(bar), MARGIN + bar * group, MARGIN + PLOT_HEIGHT + PIXELS);
            turned.dispose();
        }
        graphics.drawString("packets by step j from the one before, logarithmic", width / 2, MARGIN / 2);
        graphics.dispose();
        if (!ImageIO.write(image, "png", png.toFile())) {
            throw new IOException(png + ": this Java writes no PNG; leave --output out");
        }
    }
}
