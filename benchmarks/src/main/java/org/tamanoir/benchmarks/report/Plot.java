package org.tamanoir.benchmarks.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.ChartEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Draws plots as PNG; needs no display. */
public final class Plot {
    private static final int WIDTH = 720;
    private static final int HEIGHT = 360;
    /** Told apart by those who see no red or no green too (Okabe and Ito). */
    private static final Color[] COLOURS = IntStream.of(0xD55E00, 0x0072B2, 0x009E73, 0xCC79A7, 0x999999, 0xE69F00)
            .mapToObj(Color::new)
            .toArray(Color[]::new);

    static {
        System.setProperty("java.awt.headless", "true");
    }

    private Plot() {}

    /** Draws one line per series over common x values. */
    public static byte[] lines(String title, String xAxis, String yAxis, List<? extends Number> x, Series series)
            throws IOException {
        XYChart chart = xy(title, xAxis, yAxis);
        add(chart, x, series).forEach(line -> line.setMarker(SeriesMarkers.NONE));
        chart.getStyler().setXAxisMin(0.0);
        chart.getStyler().setXAxisDecimalPattern("0.#");
        chart.getStyler().setYAxisMin(0.0);
        return ChartEncoder.getBytes(chart, "png");
    }

    /** The same with points, on logarithmic axes; the last {@code references} series are the paper's, and dashed. */
    public static byte[] logarithmic(
            String title, String xAxis, String yAxis, List<? extends Number> x, Series series, int references)
            throws IOException {
        XYChart chart = xy(title, xAxis, yAxis);
        List<XYSeries> drawn = add(chart, x, series);
        chart.getStyler().setXAxisLogarithmic(true);
        chart.getStyler().setXAxisDecimalPattern("#,##0");
        chart.getStyler().setYAxisLogarithmic(true);
        chart.getStyler().setYAxisDecimalPattern("#,##0.###");
        float[] dashes = {6f, 4f};
        for (XYSeries each : drawn.subList(drawn.size() - references, drawn.size())) {
            each.setLineStyle(new BasicStroke(1.5f, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1f, dashes, 0f));
        }
        return ChartEncoder.getBytes(chart, "png");
    }

    /** Draws a point for each packet, 1 to {@code packets}, on a logarithmic axis; series have a value or NaN for each. */
    public static byte[] points(String title, String xAxis, String yAxis, int packets, Series series)
            throws IOException {
        XYChart chart = xy(title, xAxis, yAxis);
        chart.getStyler().setDefaultSeriesRenderStyle(XYSeries.XYSeriesRenderStyle.Scatter);
        chart.getStyler().setMarkerSize(4);
        chart.getStyler().setXAxisMin(0.0);
        chart.getStyler().setXAxisMax((double) packets);
        chart.getStyler().setYAxisDecimalPattern("#,##0");
        chart.getStyler().setYAxisLogarithmic(true);
        chart.getStyler().setXAxisDecimalPattern("#,##0");
        chart.getStyler().setLegendPosition(LegendPosition.OutsideS);
        series.values().forEach((name, values) -> {
            List<Integer> x = IntStream.range(0, packets)
                    .filter(i -> !values.get(i).isNaN())
                    .boxed()
                    .toList();
            if (!x.isEmpty()) {
                chart.addSeries(
                                name,
                                x.stream().map(i -> i + 1).toList(),
                                x.stream().map(values::get).toList())
                        .setMarker(SeriesMarkers.CIRCLE);
            }
        });
        return ChartEncoder.getBytes(chart, "png");
    }

    /** Draws groups of bars. */
    public static byte[] bars(String title, String yAxis, List<String> groups, Series series) throws IOException {
        CategoryChart chart = new CategoryChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .yAxisTitle(yAxis)
                .build();
        style(chart.getStyler());
        chart.getStyler().setYAxisMin(0.0);
        series.values().forEach((name, values) -> chart.addSeries(name, groups, values));
        return ChartEncoder.getBytes(chart, "png");
    }

    private static XYChart xy(String title, String xAxis, String yAxis) {
        XYChart chart = new XYChart(WIDTH, HEIGHT);
        chart.setTitle(title);
        chart.setXAxisTitle(xAxis);
        chart.setYAxisTitle(yAxis);
        style(chart.getStyler());
        return chart;
    }

    private static List<XYSeries> add(XYChart chart, List<? extends Number> x, Series series) {
        List<XYSeries> all = new ArrayList<>();
        series.values().forEach((name, y) -> all.add(chart.addSeries(name, x, y)));
        all.forEach(line -> line.setLineWidth(2f));
        return all;
    }

    private static void style(AxesChartStyler styler) {
        styler.setSeriesColors(COLOURS);
        styler.setLegendPosition(LegendPosition.OutsideE);
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setPlotBorderVisible(false);
    }
}
