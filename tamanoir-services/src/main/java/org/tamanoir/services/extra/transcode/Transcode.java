package org.tamanoir.services.extra.transcode;

import java.time.Duration;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.ControlledBy;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.service.Verdict;
import org.tamanoir.services.NextService;

/**
 * Sends on in another form, or in less of it: sound ({@link SoundMode}, in RTP {@link RtpMode}), pictures ({@link
 * PictureMode}), films ({@link FilmMode}), or what a program makes of it ({@link ProgramMode}).
 *
 * <table><caption>Settings</caption>
 * <tr><th>name</th><th>default</th><th>allowed</th></tr>
 * <tr><td>{@code mode}</td><td>{@code sound}</td><td>{@code sound}, {@code rtp}, {@code pictures}, {@code film},
 * {@code program}</td></tr>
 * <tr><td>{@code flows}</td><td>1024</td><td>1 to 65,536: flows at once; the one that was silent for longest gives
 * way</td></tr>
 * <tr><td>{@code failure}</td><td>{@code drop}</td><td>{@code drop}, {@code pass}: what becomes of RTP and pictures that
 * will not do, and of packets whose process has failed</td></tr>
 * <tr><td>{@code next}</td><td>{@code none}</td><td>name of the service that the next node shall run</td></tr>
 * <tr><td>{@code from}, {@code to}</td><td>{@code ulaw}, {@code pcm}</td><td>sound, rtp: {@code ulaw}, {@code alaw},
 * {@code pcm}, which has 16 bits in network order</td></tr>
 * <tr><td>{@code from-rate}, {@code to-rate}</td><td>8000, {@code from-rate}</td><td>sound, rtp: multiples of 8,000
 * up to 48,000 samples a second; of G.711 in RTP 8,000</td></tr>
 * <tr><td>{@code from-type}, {@code to-type}</td><td>96</td><td>rtp: 96 to 127, payload types of {@code pcm}</td></tr>
 * <tr><td>{@code format}, {@code quality}, {@code scale}</td><td>{@code jpeg}, 75, 100</td><td>pictures: {@code jpeg} or
 * {@code png}; 1 to 100, of JPEG; 1 to 100 percent of width and height</td></tr>
 * <tr><td>{@code max-pixels}, {@code max-bytes}</td><td>4 Mi, 1 MiB</td><td>pictures: 1 to 64 Mi; 1 KiB to 64 MiB</td></tr>
 * <tr><td>{@code memory}, {@code decoders}</td><td>64 MiB, 2</td><td>pictures: 1 MiB to 4 GiB for those that are not
 * whole; 1 to 64 decoded at once; of all instances together</td></tr>
 * <tr><td>{@code kinds}</td><td>{@code class}</td><td>film: {@code class}, {@code mpeg2}, {@code h264}: what says which
 * pictures are I, P and B</td></tr>
 * <tr><td>{@code class-i}, {@code class-p}, {@code class-b}</td><td>0, 1, 2</td><td>film: classes of service</td></tr>
 * <tr><td>{@code percent}</td><td>100</td><td>film: 1 to 100, of the bytes that come</td></tr>
 * <tr><td>{@code rate-kbit}</td><td>0</td><td>film: 1 to 100,000,000 kbit/s in its place, for each flow</td></tr>
 * <tr><td>{@code command}</td><td>none</td><td>program: absolute path, and arguments behind blanks; no shell</td></tr>
 * <tr><td>{@code processes}</td><td>8</td><td>program: 1 to 1,024 of all instances together</td></tr>
 * <tr><td>{@code process-cpu-s}, {@code process-memory}</td><td>3600, 2 GiB</td><td>program: what each may use</td></tr>
 * <tr><td>{@code buffer}</td><td>256 KiB</td><td>program: 64 KiB to 64 MiB, of what goes in and of what comes out</td></tr>
 * <tr><td>{@code max-payload}</td><td>1400</td><td>program: 1 to 65,000 bytes, of packets that leave</td></tr>
 * <tr><td>{@code timeout-ms}</td><td>5000</td><td>program: 10 to 20,000 without a byte in or out, where one is due</td></tr>
 * <tr><td>{@code idle-ms}, {@code restart-ms}</td><td>10,000, 1000</td><td>program: 10 to 3,600,000: a flow that is silent
 * for so long ends; a process is started anew so long after a failure</td></tr>
 * <tr><td>{@code growth}</td><td>16</td><td>program: 1 to 1,000 times what goes in may come out, and 1 MiB</td></tr>
 * </table>
 *
 * <p>Settings of another mode than that in force are refused.
 */
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
