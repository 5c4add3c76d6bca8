package org.tamanoir.services.extra.transcode;

import java.io.IOException;
import java.nio.ByteBuffer;
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
 * Pictures: JPEG and PNG files, each in one packet or in several of a flow, leave as other files that are smaller, in as
 * many packets at most, each as long at most as the longest that came. One that would not become smaller goes on as it is.
 *
 * <p>What a file claims to be, its size in pixels first, is looked at before anything of it is decoded. Thread contract:
 * the service's thread.
 */
final class PictureMode implements Mode {
    private static final int MAX_PACKETS = 65_536;
    private static final int DECODER_PATIENCE_S = 10;

    private final Exit exit;
    private final NextService next;
    private final TranscodeControl control;
    private final Failure failure;
    private final Pictures.Form form;
    private final int quality;
    private final int percent;
    private final long maxPixels;
    private final int maxBytes;
    private final FlowTable<GatheredPicture> flows;
    private final MadePacket made = new MadePacket();
    private final Counter pictures;
    private final Counter unchanged;
    private final Counter unfit;
    private final Counter bytesIn;
    private final Counter bytesOut;

    PictureMode(ServiceConfig config, NextService next, Exit exit, TranscodeControl control, Failure failure) {
        this.exit = exit;
        this.next = next;
        this.control = control;
        this.failure = failure;
        if (ModuleLayer.boot().findModule("java.desktop").isEmpty()) {
            throw new IllegalArgumentException(
                    "mode: pictures needs the module java.desktop, which this Java lacks; run the node on a whole one");
        }
        form = config.choice("format", Pictures.Form.JPEG);
        quality = (int) config.number("quality", 75, 1, 100);
        percent = (int) config.number("scale", 100, 1, 100);
        maxPixels = config.number("max-pixels", 4 << 20, 1, 64 << 20);
        maxBytes = (int) config.number("max-bytes", 1 << 20, 1024, 64 << 20);
        flows = new FlowTable<>((int) config.number("flows", 1024, 1, 65_536), GatheredPicture::new, this::abandon);
        pictures = exit.count("pictures");
        unchanged = exit.count("pictures-unchanged");
        unfit = exit.count("pictures-unfit");
        bytesIn = exit.count("bytes-in");
        bytesOut = exit.count("bytes-out");
    }

    @Override
    public Verdict process(Packet packet) {
        if (packet.payloadLength() == 0) {
            return asItCame(packet);
        }
        GatheredPicture picture = flows.of(packet);
        if (!picture.isNext(packet.sequence())) {
            abandon(picture);
        }
        int bytes = packet.payloadLength();
        boolean isLong = picture.bytes() + bytes > maxBytes || picture.packets() == MAX_PACKETS;
        if (isLong || !control.take(picture.growth(bytes))) {
            return refuse(picture, packet, 0, isLong ? "picture longer than max-bytes" : "no memory for pictures");
        }
        ByteBuffer whole = packet.look();
        whole.position(whole.position() + packet.headerLength());
        picture.add(whole, packet.sequence(), flows.header().originNs());
        String fault = fault(picture, packet);
        if (fault != null) {
            return refuse(picture, packet, 1, fault);
        }
        int end = picture.scan().end();
        if (end == 0 || end > picture.bytes()) {
            return Verdict.CONSUME;
        }
        byte[] smaller;
        try {
            smaller = convert(picture);
        } catch (IOException e) {
            return refuse(picture, packet, 1, "picture cannot be decoded");
        }
        bytesIn.add(end);
        if (smaller.length < end) {
            send(picture, smaller);
            pictures.add(1);
        } else {
            sendAsTheyCame(picture, picture.packets());
            unchanged.add(1);
        }
        control.give(picture.clear());
        return Verdict.CONSUME;
    }

    /** Says why the picture will not do; null = it may. */
    private @Nullable String fault(GatheredPicture picture, Packet packet) {
        PictureScan scan = picture.scan();
        if (scan.fault() != null) {
            return scan.fault();
        }
        if (scan.pixels() < 0 || scan.pixels() > maxPixels) {
            return "picture of more than max-pixels";
        }
        if (scan.end() > 0 && scan.end() < picture.bytes()) {
            return "bytes behind the picture";
        }
        boolean isWhole = scan.end() == picture.bytes();
        if (isWhole && scan.pixels() == 0) {
            return "bad picture";
        }
        return !isWhole && exit.isDatagrams() && packet.sequence() < 0 ? "part of a picture without a number" : null;
    }

    private byte[] convert(GatheredPicture picture) throws IOException {
        try {
            if (!control.decoders().tryAcquire(DECODER_PATIENCE_S, TimeUnit.SECONDS)) {
                throw new IOException("no decoder is free");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        try {
            return Pictures.convert(
                    picture.file(), picture.bytes(), picture.scan().isPng(), form, quality, percent);
        } finally {
            control.decoders().release();
        }
    }

    private void send(GatheredPicture picture, byte[] file) {
        int part = picture.longestPart();
        for (int i = 0, at = 0; at < file.length; i++, at += part) {
            send(picture, i, file, at, Math.min(part, file.length - at));
        }
    }

    private void sendAsTheyCame(GatheredPicture picture, int packets) {
        for (int i = 0; i < packets; i++) {
            int from = picture.end(i - 1);
            send(picture, i, picture.file(), from, picture.end(i) - from);
        }
    }

    private void send(GatheredPicture picture, int index, byte[] file, int at, int bytes) {
        Header header = picture.header();
        made.room(header, bytes).put(file, at, bytes);
        Packet packet = made.finish(header, picture.sequence(index), picture.originNs(index), bytes);
        next.name(packet);
        exit.send(packet);
        bytesOut.add(bytes);
    }

    /** Ends the picture with the packet in hand. @param held 1 if that was added to it, else 0 */
    private Verdict refuse(GatheredPicture picture, Packet packet, int held, String reason) {
        unfit.add(1);
        if (failure == Failure.PASS) {
            sendAsTheyCame(picture, picture.packets() - held);
        }
        control.give(picture.clear());
        return failure == Failure.PASS ? asItCame(packet) : exit.end(reason);
    }

    private Verdict asItCame(Packet packet) {
        next.name(packet);
        return Verdict.FORWARD;
    }

    /** Ends a picture whose other packets do not come. */
    private void abandon(GatheredPicture picture) {
        if (picture.packets() > 0) {
            unfit.add(1);
            if (failure == Failure.PASS) {
                sendAsTheyCame(picture, picture.packets());
            }
            control.give(picture.clear());
        }
    }

    @Override
    public void endOfStream() {
        flows.all().forEach(this::abandon);
    }

    @Override
    public void close() {
        flows.all().forEach(picture -> control.give(picture.clear()));
    }
}
