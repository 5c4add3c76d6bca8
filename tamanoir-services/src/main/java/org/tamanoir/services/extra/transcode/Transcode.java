package org.tamanoir.services.extra.transcode;

import java.time.Duration;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.ControlledBy;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Setting;
import org.tamanoir.service.Settings;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.service.Verdict;
import org.tamanoir.services.NextService;

/**
 * Sends on in another form, or in less of it: sound ({@link SoundMode}, in RTP {@link RtpMode}), pictures ({@link
 * PictureMode}), films ({@link FilmMode}), or what a program makes of it ({@link ProgramMode}).
 *
 * <p>Settings of another mode than that in force are refused.
 */
@Settings(
        of = NextService.class,
        value = {
            @Setting(
                    name = "mode",
                    kind = Setting.Kind.CHOICE,
                    standard = "sound",
                    choices = {"sound", "rtp", "pictures", "film", "program"},
                    text = "what is made of packets; settings of another mode are refused"),
            @Setting(
                    name = "flows",
                    kind = Setting.Kind.NUMBER,
                    standard = "1024",
                    min = 1,
                    max = 65_536,
                    text = "flows at once; the one that was silent for longest gives way"),
            @Setting(
                    name = "failure",
                    kind = Setting.Kind.CHOICE,
                    standard = "drop",
                    choices = {"drop", "pass"},
                    text =
                            "rtp, pictures, program: what becomes of what will not do, and of packets whose process has failed"),
            @Setting(
                    name = "from",
                    kind = Setting.Kind.CHOICE,
                    standard = "ulaw",
                    choices = {"ulaw", "alaw", "pcm"},
                    text = "sound, rtp: what comes; pcm has 16 bits in network order"),
            @Setting(
                    name = "to",
                    kind = Setting.Kind.CHOICE,
                    standard = "pcm",
                    choices = {"ulaw", "alaw", "pcm"},
                    text = "sound, rtp: what leaves"),
            @Setting(
                    name = "from-rate",
                    kind = Setting.Kind.NUMBER,
                    standard = "8000",
                    min = 8_000,
                    max = 48_000,
                    text = "sound, rtp: samples a second, a multiple of 8000; of G.711 in RTP 8000"),
            @Setting(
                    name = "to-rate",
                    kind = Setting.Kind.NUMBER,
                    min = 8_000,
                    max = 48_000,
                    text = "likewise; without it from-rate"),
            @Setting(
                    name = "from-type",
                    kind = Setting.Kind.NUMBER,
                    standard = "96",
                    min = 96,
                    max = 127,
                    text = "rtp: payload type of pcm"),
            @Setting(
                    name = "to-type",
                    kind = Setting.Kind.NUMBER,
                    standard = "96",
                    min = 96,
                    max = 127,
                    text = "rtp: payload type of pcm"),
            @Setting(
                    name = "format",
                    kind = Setting.Kind.CHOICE,
                    standard = "jpeg",
                    choices = {"jpeg", "png"},
                    text = "pictures: what leaves"),
            @Setting(
                    name = "quality",
                    kind = Setting.Kind.NUMBER,
                    standard = "75",
                    min = 1,
                    max = 100,
                    text = "pictures: of JPEG"),
            @Setting(
                    name = "scale",
                    kind = Setting.Kind.NUMBER,
                    standard = "100",
                    min = 1,
                    max = 100,
                    text = "pictures: percent of width and height"),
            @Setting(
                    name = "max-pixels",
                    kind = Setting.Kind.NUMBER,
                    standard = "4194304",
                    min = 1,
                    max = 64 << 20,
                    text = "pictures: of one that is decoded"),
            @Setting(
                    name = "max-bytes",
                    kind = Setting.Kind.NUMBER,
                    standard = "1048576",
                    min = 1_024,
                    max = 64 << 20,
                    text = "pictures: of one"),
            @Setting(
                    name = "memory",
                    kind = Setting.Kind.NUMBER,
                    standard = "67108864",
                    min = 1 << 20,
                    max = 4L << 30,
                    text = "pictures: bytes for those that are not whole, of all instances together"),
            @Setting(
                    name = "decoders",
                    kind = Setting.Kind.NUMBER,
                    standard = "2",
                    min = 1,
                    max = 64,
                    text = "pictures: decoded at once, of all instances together"),
            @Setting(
                    name = "kinds",
                    kind = Setting.Kind.CHOICE,
                    standard = "class",
                    choices = {"class", "mpeg2", "h264"},
                    text = "film: what says which pictures are I, P and B"),
            @Setting(
                    name = "class-i",
                    kind = Setting.Kind.NUMBER,
                    standard = "0",
                    min = 0,
                    max = 255,
                    text = "film: class of service of I pictures"),
            @Setting(
                    name = "class-p",
                    kind = Setting.Kind.NUMBER,
                    standard = "1",
                    min = 0,
                    max = 255,
                    text = "film: class of service of P pictures"),
            @Setting(
                    name = "class-b",
                    kind = Setting.Kind.NUMBER,
                    standard = "2",
                    min = 0,
                    max = 255,
                    text = "film: class of service of B pictures"),
            @Setting(
                    name = "percent",
                    kind = Setting.Kind.NUMBER,
                    standard = "100",
                    min = 1,
                    max = 100,
                    text = "film: of the bytes that come"),
            @Setting(
                    name = "rate-kbit",
                    kind = Setting.Kind.NUMBER,
                    standard = "0",
                    min = 0,
                    max = 100_000_000,
                    text = "film: kbit/s in its place, for each flow; 0 = none"),
            @Setting(
                    name = "command",
                    text = "program: absolute path, and arguments behind blanks; no shell; must be given"),
            @Setting(
                    name = "processes",
                    kind = Setting.Kind.NUMBER,
                    standard = "8",
                    min = 1,
                    max = 1_024,
                    text = "program: of all instances together"),
            @Setting(
                    name = "process-cpu-s",
                    kind = Setting.Kind.NUMBER,
                    standard = "3600",
                    min = 1,
                    max = 31_536_000,
                    text = "program: processor time that each may use"),
            @Setting(
                    name = "process-memory",
                    kind = Setting.Kind.NUMBER,
                    standard = "2147483648",
                    min = 16 << 20,
                    max = 1L << 40,
                    text = "program: bytes that each may use"),
            @Setting(
                    name = "buffer",
                    kind = Setting.Kind.NUMBER,
                    standard = "262144",
                    min = 64 << 10,
                    max = 64 << 20,
                    text = "program: bytes of what goes in, and of what comes out"),
            @Setting(
                    name = "max-payload",
                    kind = Setting.Kind.NUMBER,
                    standard = "1400",
                    min = 1,
                    max = 65_000,
                    text = "program: bytes, of packets that leave"),
            @Setting(
                    name = "timeout-ms",
                    kind = Setting.Kind.NUMBER,
                    standard = "5000",
                    min = 10,
                    max = 20_000,
                    text = "program: without a byte in or out, where one is due"),
            @Setting(
                    name = "idle-ms",
                    kind = Setting.Kind.NUMBER,
                    standard = "10000",
                    min = 10,
                    max = 3_600_000,
                    text = "program: a flow that is silent for so long ends"),
            @Setting(
                    name = "restart-ms",
                    kind = Setting.Kind.NUMBER,
                    standard = "1000",
                    min = 10,
                    max = 3_600_000,
                    text = "program: a process is started anew so long after a failure"),
            @Setting(
                    name = "growth",
                    kind = Setting.Kind.NUMBER,
                    standard = "16",
                    min = 1,
                    max = 1_000,
                    text = "program: so many times what goes in may come out, and 1 MiB")
        })
@ControlledBy(TranscodeControl.class)
public final class Transcode extends Service {
    private enum Kind {
        SOUND("from", "to", "from-rate", "to-rate"),
        RTP("from", "to", "from-rate", "to-rate", "from-type", "to-type", "failure"),
        PICTURES("format", "quality", "scale", "max-pixels", "max-bytes", "memory", "decoders", "failure"),
        FILM("kinds", "class-i", "class-p", "class-b", "percent", "rate-kbit"),
        PROGRAM(
                "command",
                "processes",
                "process-cpu-s",
                "process-memory",
                "buffer",
                "max-payload",
                "timeout-ms",
                "idle-ms",
                "restart-ms",
                "growth",
                "failure");

        private final String[] settings;

        Kind(String... own) {
            settings = java.util.Arrays.copyOf(own, own.length + 3);
            settings[own.length] = "mode";
            settings[own.length + 1] = "flows";
            settings[own.length + 2] = "next";
        }
    }

    private Mode mode = packet -> Verdict.FORWARD;

    @Override
    public void init(ServiceConfig config) {
        Kind kind = config.choice("mode", Kind.SOUND);
        config.allow(kind.settings);
        NextService next = NextService.of(config);
        Failure failure = config.choice("failure", Failure.DROP);
        Exit exit = new Lent();
        TranscodeControl control = control(TranscodeControl.class);
        mode = switch (kind) {
            case SOUND -> new SoundMode(config, next, exit);
            case RTP -> new RtpMode(config, next, exit, failure);
            case PICTURES -> new PictureMode(config, next, exit, control, failure);
            case FILM -> new FilmMode(config, next, exit);
            case PROGRAM -> new ProgramMode(config, next, exit, control, failure);
        };
    }

    @Override
    public Verdict process(Packet packet) {
        return mode.process(packet);
    }

    @Override
    public void endOfStream() {
        mode.endOfStream();
    }

    @Override
    public void close() {
        mode.close();
    }

    private final class Lent implements Exit {
        @Override
        public Verdict end(String reason) {
            return drop(reason);
        }

        @Override
        public boolean send(Packet packet) {
            return emit(packet);
        }

        @Override
        public boolean execute(Runnable task) {
            return Transcode.this.execute(task);
        }

        @Override
        public void repeat(Duration period, Runnable task) {
            every(period, task);
        }

        @Override
        public long nowNs() {
            return nanoTime();
        }

        @Override
        public Counter count(String name) {
            return counter(name);
        }

        @Override
        public boolean isDatagrams() {
            return stream().transport() == Transport.UDP;
        }

        @Override
        public int maxPacketBytes() {
            return isDatagrams() ? Anep.MAX_DATAGRAM_OCTETS : Anep.MAX_PACKET_OCTETS;
        }
    }
}
