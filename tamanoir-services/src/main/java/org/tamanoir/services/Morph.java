package org.tamanoir.services;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatSource;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Message;
import org.tamanoir.message.MessageService;
import org.tamanoir.message.Outcome;
import org.tamanoir.message.Outlet;
import org.tamanoir.service.ChangesSize;
import org.tamanoir.service.ControlledBy;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Setting;
import org.tamanoir.service.SizeEffect;
import org.tamanoir.services.morph.Engine;
import org.tamanoir.services.morph.MorphControl;

/**
 * Changes messages in transit by a plan: a graph of handlers over contexts, which operators write, see and change while it
 * runs. One class under several names is several chains.
 *
 * <p>Counters are those of messages. What becomes of messages at each handler is in the view of {@link MorphControl}.
 *
 * <p>Messages that go to another context are held until they come back; messages that stay in {@code receive} may overtake
 * them.
 */
@Setting(name = "plan", text = "name of a YAML file; without one all messages pass")
@ChangesSize(SizeEffect.GROWS)
@ControlledBy(MorphControl.class)
public final class Morph extends MessageService {
    private @Nullable Engine engine;
    private long timerNs = Long.MAX_VALUE;

    @Override
    public void init(ServiceConfig config) throws Exception {
        config.allow(settingNames("plan"));
        super.init(config);
        engine = control(MorphControl.class).open(stream().transport(), () -> execute(this::look));
    }

    private Engine engine() {
        if (engine == null) {
            throw new IllegalStateException("init comes first");
        }
        return engine;
    }

    @Override
    protected FormatSource messageFormats() {
        return control(MorphControl.class).formats(formats());
    }

    @Override
    public Bound bind(Format input) {
        Engine there = engine();
        return new SameFormat(input, there::handle);
    }

    @Override
    protected Outcome handle(Message message, Outlet outlet) {
        return engine().handle(message, outlet);
    }

    @Override
    public long expire(long nowNs, Outlet outlet) {
        return engine().expire(nowNs, outlet);
    }

    /** Looks at what contexts have finished, and whether there is another plan. */
    private void look() {
        long nowNs = nanoTime();
        long dueNs = engine().expire(nowNs, outlet());
        if (dueNs < timerNs) {
            timerNs = dueNs;
            after(Duration.ofNanos(Math.max(0, dueNs - nowNs)), () -> tick(dueNs));
        }
    }

    private void tick(long dueNs) {
        if (dueNs == timerNs) { // Else an earlier one has taken its place, and armed another since.
            timerNs = Long.MAX_VALUE;
        }
        look();
    }

    @Override
    public void finish(Outlet outlet) {
        engine().finish(outlet);
    }

    @Override
    public long heldBytes() {
        return engine().heldBytes();
    }

    @Override
    public void close() {
        if (engine != null) {
            control(MorphControl.class).close(engine);
        }
        super.close();
    }
}
