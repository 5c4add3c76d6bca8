package org.tamanoir.benchmarks.qos;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.sched.QosStatus;

/**
 * What a run has brought.
 *
 * @param flows in the order of the bed
 * @param bytes by flow and slot of time
 * @param delivered packets at the sink, by flow, what came after the end of the run included
 * @param invocations packets that the flow's service processed
 * @param qos what the node's scheduling points counted
 */
record Trace(List<Flow> flows, List<long[]> bytes, long[] delivered, long[] invocations, QosStatus qos) {
    static Trace of(List<Flow> flows, FlowSink sink, Node node) throws IOException {
        List<long[]> bytes = new ArrayList<>();
        long[] delivered = new long[flows.size()];
        long[] invocations = new long[flows.size()];
        for (int i = 0; i < flows.size(); i++) {
            bytes.add(sink.bytes(i));
            delivered[i] = sink.packets(i);
            invocations[i] = flows.get(i).work().invocations().sum();
        }
        if (Arrays.stream(delivered).sum() == 0) {
            throw new IOException("nothing arrived at the sink");
        }
        return new Trace(flows, bytes, delivered, invocations, node.qosStatus());
    }

    int slots() {
        return bytes.get(0).length;
    }

    /** Bytes per second of a flow from one time to another, in seconds; whole slots. */
    double rate(int flow, double fromS, double toS) {
        int from = (int) Math.ceil(fromS / FlowSink.SLOT_S - 1e-9);
        int to = Math.min(slots(), (int) Math.floor(toS / FlowSink.SLOT_S + 1e-9));
        long sum = 0;
        for (int slot = from; slot < to; slot++) {
            sum += bytes.get(flow)[slot];
        }
        return to <= from ? 0 : sum / ((to - from) * FlowSink.SLOT_S);
    }

    /** Least and most bytes per second in windows of {@code windowS}, one per slot. */
    double[] range(int flow, double fromS, double toS, double windowS) {
        double least = Double.MAX_VALUE;
        double most = 0;
        for (double at = fromS; at + windowS <= toS + 1e-9; at += FlowSink.SLOT_S) {
            double rate = rate(flow, at, at + windowS);
            least = Math.min(least, rate);
            most = Math.max(most, rate);
        }
        return new double[] {Math.min(least, most), most};
    }

    /** The rate of a flow at each slot's middle, smoothed over {@code windowSlots}, in {@code unit} bytes a second. */
    List<Double> curve(int flow, int windowSlots, double unit) {
        List<Double> curve = new ArrayList<>();
        for (int slot = 0; slot < slots(); slot++) {
            int from = Math.max(0, slot - windowSlots / 2);
            int to = Math.min(slots(), slot + windowSlots / 2 + 1);
            long sum = 0;
            for (int i = from; i < to; i++) {
                sum += bytes.get(flow)[i];
            }
            curve.add(sum / ((to - from) * FlowSink.SLOT_S) / unit);
        }
        return curve;
    }

    /** Middles of the slots, in seconds. */
    List<Double> times() {
        List<Double> times = new ArrayList<>();
        for (int slot = 0; slot < slots(); slot++) {
            times.add(Math.round((slot + 0.5) * FlowSink.SLOT_S * 1000) / 1000.0);
        }
        return times;
    }

    /** Bytes by slot, a column per flow. */
    Rows csv() {
        Rows csv = new Rows(
                "second," + flows.stream().map(flow -> flow.name() + " bytes").collect(Collectors.joining(",")));
        for (int i = 0; i < slots(); i++) {
            int slot = i;
            String columns =
                    bytes.stream().map(each -> String.valueOf(each[slot])).collect(Collectors.joining(","));
            csv.row("%.1f,%s", slot * FlowSink.SLOT_S, columns);
        }
        return csv;
    }
}
