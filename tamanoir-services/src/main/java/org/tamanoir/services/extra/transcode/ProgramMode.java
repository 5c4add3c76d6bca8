package org.tamanoir.services.extra.transcode;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Counter;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.services.NextService;
import org.tamanoir.services.extra.FlowTable;
import org.tamanoir.services.extra.Header;
import org.tamanoir.services.extra.MadePacket;

/**
 * A program for what is not built in: payloads of a flow go into a process of its own, one behind the other, and what
 * comes out leaves in new packets of the flow, counted from the number of its first packet. Which program, the operator
 * says, never a packet.
 *
 * <p>A process ends with its flow. One that ends by itself, does not go on for {@code timeout-ms}, or gives more than
 * {@code growth} times what it got and 1 MiB, has failed: what it held is lost, and until the next one is started, {@code
 * restart-ms} later at the earliest, packets follow {@code failure}. Over TCP a process that is slow makes the sender
 * wait; datagrams that it has no room for are dropped.
 *
 * <p>Thread contract: the service's thread.
 */
final class ProgramMode implements Mode {
    private static final int PACKETS_AT_ONCE = 64;
    private static final long FREE_BYTES = 1 << 20;
    private static final int LOOK_MS = 100;

    private final Exit exit;
    private final NextService next;
    private final TranscodeControl control;
    private final Failure failure;
    private final List<String> command;
    private final CodecProcess.Limits limits;
    private final int bufferBytes;
    private final int maxPayload;
    private final long timeoutMs;
    private final long idleNs;
    private final long restartNs;
    private final long growth;
    private final FlowTable<CodedFlow> flows;
    private final MadePacket made = new MadePacket();
    private final byte[] in = new byte[1 << 16];
    private final byte[] out = new byte[1 << 16];
    private final Counter started;
    private final Counter failed;
    private final Counter bytesIn;
    private final Counter bytesOut;

    ProgramMode(ServiceConfig config, NextService next, Exit exit, TranscodeControl control, Failure failure) {
        this.exit = exit;
        this.next = next;
        this.control = control;
        this.failure = failure;
        command = List.of(config.text("command", "").strip().split("\\s+"));
        Path program = Path.of(command.get(0));
        if (!program.isAbsolute() || !Files.isExecutable(program) || Files.isDirectory(program)) {
            throw new IllegalArgumentException("command: '" + command.get(0)
                    + "' must be the absolute path of a program that the node may run; arguments follow behind blanks");
        }
        limits = new CodecProcess.Limits(
                config.number("process-cpu-s", 3600, 1, 31_536_000),
                config.number("process-memory", 1L << 31, 16 << 20, 1L << 40));
        bufferBytes = (int) config.number("buffer", 256 << 10, 64 << 10, 64 << 20);
        maxPayload = (int) config.number("max-payload", 1400, 1, 65_000);
        timeoutMs = config.number("timeout-ms", 5000, 10, 20_000);
        idleNs = millis(config, "idle-ms", 10_000);
        restartNs = millis(config, "restart-ms", 1000);
        growth = config.number("growth", 16, 1, 1000);
        flows = new FlowTable<>((int) config.number("flows", 1024, 1, 65_536), this::begin, this::kill);
        started = exit.count("processes-started");
        failed = exit.count("processes-failed");
        bytesIn = exit.count("bytes-in");
        bytesOut = exit.count("bytes-out");
        exit.repeat(Duration.ofMillis(LOOK_MS), this::look);
    }

    private static long millis(ServiceConfig config, String setting, int defaultMs) {
        return TimeUnit.MILLISECONDS.toNanos(config.number(setting, defaultMs, 10, 3_600_000));
    }

    private CodedFlow begin(Header header) {
        return new CodedFlow(header, exit.nowNs());
    }

    @Override
    public Verdict process(Packet packet) {
        CodedFlow flow = flows.of(packet);
        flow.lastNs = exit.nowNs();
        flow.originNs = flows.header().originNs();
        if (flow.isEnding) {
            kill(flow); // It was silent for long: this is another flow with its name.
        }
        int bytes = packet.payloadLength();
        drain(flow);
        if (flow.process != null && flow.process.isInputClosed()) {
            fail(flow);
        }
        String fault = flow.process == null ? start(flow) : null;
        CodecProcess process = flow.process;
        if (process == null) {
            return instead(packet, fault == null ? "" : fault);
        }
        ByteBuffer whole = packet.look();
        whole.position(whole.position() + packet.headerLength()).get(in, 0, bytes);
        if (!put(flow, process, bytes)) {
            boolean isFailed = flow.process == null;
            return isFailed ? instead(packet, "codec process failed") : exit.end("codec process is behind");
        }
        flow.bytesIn += bytes;
        bytesIn.add(bytes);
        return Verdict.CONSUME;
    }

    private @Nullable String start(CodedFlow flow) {
        if (exit.nowNs() - flow.startNs < 0) {
            return "codec process failed";
        }
        if (!control.takePlace()) {
            return "no codec process is free";
        }
        try {
            CodecProcess process = CodecProcess.start(command, limits, bufferBytes, () -> drainSoon(flow));
            control.begun(process);
            flow.process = process;
            flow.sequence = flows.header().sequence();
            flow.bytesIn = 0;
            flow.bytesOut = 0;
            started.add(1);
            return null;
        } catch (IOException e) {
            control.givePlace();
            failed.add(1);
            flow.startNs = exit.nowNs() + restartNs;
            return "codec process cannot be started";
        }
    }

    /** Gives it the bytes in hand. Over TCP waits for room, and sends what comes out meanwhile. */
    private boolean put(CodedFlow flow, CodecProcess process, int bytes) {
        while (!process.put(in, bytes)) {
            if (process.isDone() || process.isInputClosed() || process.isStuck(timeoutMs)) {
                fail(flow);
                return false;
            }
            if (exit.isDatagrams() || !awaitChange(process, bytes)) {
                return false;
            }
            drain(flow);
            if (flow.process != process) {
                return false;
            }
        }
        return true;
    }

    private static boolean awaitChange(CodecProcess process, int inputBytes) {
        try {
            process.awaitChange(inputBytes, LOOK_MS);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private Verdict instead(Packet packet, String reason) {
        if (failure == Failure.DROP) {
            return exit.end(reason);
        }
        next.name(packet);
        return Verdict.FORWARD;
    }

    /** Any thread. Where the node takes no more tasks the next look does it. */
    private void drainSoon(CodedFlow flow) {
        if (flow.isDrainDue.compareAndSet(false, true) && !exit.execute(() -> drainNow(flow))) {
            flow.isDrainDue.set(false);
        }
    }

    private void drainNow(CodedFlow flow) {
        flow.isDrainDue.set(false);
        drain(flow);
    }

    /** Sends what has come out, in part if that is much. */
    private void drain(CodedFlow flow) {
        CodecProcess process = flow.process;
        if (process == null) {
            return;
        }
        Header header = flow.header();
        int most = Math.min(maxPayload, exit.maxPacketBytes() - header.length() - 16);
        int packets = 0;
        for (int bytes = process.take(out, most); bytes > 0; bytes = process.take(out, most)) {
            flow.bytesOut += bytes;
            if (flow.bytesOut > growth * flow.bytesIn + FREE_BYTES) {
                fail(flow);
                return;
            }
            made.room(header, bytes).put(out, 0, bytes);
            Packet packet = made.finish(header, flow.sequence++, flow.originNs, bytes);
            next.name(packet);
            exit.send(packet);
            bytesOut.add(bytes);
            if (++packets == PACKETS_AT_ONCE) {
                drainSoon(flow);
                return;
            }
        }
        if (process.isDone()) {
            if (flow.isEnding) {
                kill(flow);
            } else {
                fail(flow);
            }
        }
    }

    private void fail(CodedFlow flow) {
        failed.add(1);
        flow.startNs = exit.nowNs() + restartNs;
        kill(flow);
    }

    private void kill(CodedFlow flow) {
        CodecProcess process = flow.process;
        flow.process = null;
        flow.isEnding = false;
        if (process != null) {
            process.kill().thenRun(() -> control.ended(process));
            control.givePlace();
        }
    }

    /** Ends processes of flows that are silent, and those that do not end then. */
    private void look() {
        long nowNs = exit.nowNs();
        for (CodedFlow flow : flows.all()) {
            drain(flow);
            CodecProcess process = flow.process;
            if (process != null && flow.isEnding && process.isStuck(timeoutMs)) {
                fail(flow);
            } else if (process != null && !flow.isEnding && nowNs - flow.lastNs >= idleNs) {
                flow.isEnding = true;
                process.endInput();
            }
        }
        for (Iterator<CodedFlow> oldest = flows.all().iterator();
                oldest.hasNext();
                oldest = flows.all().iterator()) {
            CodedFlow flow = oldest.next();
            if (flow.process != null || nowNs - flow.lastNs < idleNs) {
                return;
            }
            flows.endOldest();
        }
    }

    /** Has all end, and sends what still comes. */
    @Override
    public void endOfStream() {
        for (CodedFlow flow : flows.all()) {
            CodecProcess process = flow.process;
            if (process != null) {
                flow.isEnding = true;
                process.endInput();
            }
        }
        for (CodedFlow flow : flows.all()) {
            for (CodecProcess process = flow.process; process != null; process = flow.process) {
                if (process.isStuck(timeoutMs) || !awaitChange(process, 0)) {
                    fail(flow);
                }
                drain(flow);
            }
        }
    }

    @Override
    public void close() {
        flows.all().forEach(this::kill);
    }
}
