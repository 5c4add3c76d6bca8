package org.tamanoir.benchmarks.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.ChartEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Draws plots as PNG; needs no display. */
public final class Plot {
    private static final int WIDTH = 720;
    private static final int HEIGHT = 360;
    /** Told apart by those who see no red or no green too (Okabe and Ito). */
    private static final Color[] COLOURS = {
        new Color(0xD55E00),
        new Color(0x0072B2),
        new Color(0x009E73),
        new Color(0xCC79A7),
        new Color(0x999999),
        new Color(0xE69F00)
    };

    static {
        System.setProperty("java.awt.headless", "true");
    }

    private Plot() {}

    /** One line per series over common x values. */
    public static byte[] lines(
            String title, String xAxis, String yAxis, List<Double> x, Map<String, List<Double>> series)
            throws IOException {
        XYChart chart = xy(title, xAxis, yAxis);
        add(chart, x, series, false);
        chart.getStyler().setXAxisMin(0.0);
        chart.getStyler().setXAxisDecimalPattern("0.#");
        chart.getStyler().setYAxisMin(0.0);
        return ChartEncoder.getBytes(chart, "png");
    }

    /** The same with points, on logarithmic axes; the last {@code references} series are the paper's, and dashed. */
    public static byte[] logarithmic(
            String title, String xAxis, String yAxis, List<Double> x, Map<String, List<Double>> series, int references)
            throws IOException {
        XYChart chart = xy(title, xAxis, yAxis);
        List<XYSeries> drawn = add(chart, x, series, true);
        chart.getStyler().setXAxisLogarithmic(true);
        chart.getStyler().setXAxisDecimalPattern("#,##0");
        chart.getStyler().setYAxisLogarithmic(true);
        chart.getStyler().setYAxisDecimalPattern("#,##0.###");
        for (XYSeries each : drawn.subList(drawn.size() - references, drawn.size())) {
            each.setLineStyle(
                    new BasicStroke(1.5f, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1f, new float[] {6f, 4f}, 0f));
        }
        return ChartEncoder.getBytes(chart, "png");
    }

    /**
     * A point for each packet, 1 to {@code packets}, on a logarithmic axis; series have a value or NaN for each.
     */
    public static byte[] points(String title, String xAxis, String yAxis, int packets, Map<String, List<Double>> series)
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
        series.forEach((name, values) -> {
            List<Double> x = new ArrayList<>();
            List<Double> y = new ArrayList<>();
            for (int i = 0; i < packets; i++) {
                if (!values.get(i).isNaN()) {
                    x.add(i + 1.0);
                    y.add(values.get(i));
                }
            }
            if (!x.isEmpty()) {
                chart.addSeries(name, x, y).setMarker(SeriesMarkers.CIRCLE);
            }
        });
        return ChartEncoder.getBytes(chart, "png");
    }

    /** Groups of bars. */
    public static byte[] bars(String title, String yAxis, List<String> groups, Map<String, List<Double>> series)
            throws IOException {
        CategoryChart chart = new CategoryChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .yAxisTitle(yAxis)
                .build();
        style(chart.getStyler());
        chart.getStyler().setYAxisMin(0.0);
        series.forEach((name, values) -> chart.addSeries(name, groups, values));
        return ChartEncoder.getBytes(chart, "png");
    }

    private static XYChart xy(String title, String xAxis, String yAxis) {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle(xAxis)
                .yAxisTitle(yAxis)
                .build();
        style(chart.getStyler());
        return chart;
    }

    private static List<XYSeries> add(XYChart chart, List<Double> x, Map<String, List<Double>> series, boolean points) {
        List<XYSeries> all = new ArrayList<>();
        series.forEach((name, y) -> {
            XYSeries drawn = chart.addSeries(name, x, y);
            drawn.setLineWidth(2f);
            if (!points) {
                drawn.setMarker(SeriesMarkers.NONE);
            }
            all.add(drawn);
        });
        return all;
    }

    private static void style(AxesChartStyler styler) {
        styler.setSeriesColors(COLOURS);
        styler.setLegendPosition(LegendPosition.OutsideE);
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setPlotBorderVisible(false);
    }
}
