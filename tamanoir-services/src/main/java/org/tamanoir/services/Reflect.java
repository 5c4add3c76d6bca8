package org.tamanoir.services;

import java.util.ArrayList;
import java.util.List;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Amplifier;
import org.tamanoir.service.ChangesSize;
import org.tamanoir.service.Counter;
import org.tamanoir.service.FanOut;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Setting;
import org.tamanoir.service.Settings;
import org.tamanoir.service.SizeEffect;
import org.tamanoir.service.Verdict;

/**
 * Sends every packet to each of a list of receivers but those with the address that it names as its source: a reflector whose members the operator lists, on
 * a path on which other services run before and after it. Packets go by the routes of their receivers and are else as
 * they came. The program {@code reflect} has members that come and go, and sends many copies by one system call.
 *
 * <p>Counters: {@code packets}, {@code copies}, {@code withheld} (copies that a drop precedence kept from a receiver). Drops:
 * {@code no receiver}. All but the last copy of a packet count as made. Over TCP the others wait for a receiver that is slow, some
 * six seconds at most: one that has not taken then what it was given, is lost, or cannot be reached, is let go alone, and
 * tried again later ({@link FanOut}). Over UDP it costs them nothing.
 */
@Settings(
        of = NextService.class,
        value = {
            @Setting(
                    name = "to",
                    text =
                            "1 to 4096 receivers, each an address and a port, separated by blanks; behind a slash the highest drop precedence that it gets, 0 to 255, else it gets all; must be given")
        })
@FanOut
@ChangesSize(SizeEffect.GROWS)
public final class Reflect extends Service implements Amplifier {
    private static final int MAX_RECEIVERS = 4096;

    private List<Receiver> receivers = List.of();
    private NextService next = new NextService(0);
    private Counter packets = new Counter("packets");
    private Counter copies = new Counter("copies");
    private Counter withheld = new Counter("withheld");

    @Override
    public void init(ServiceConfig config) {
        config.allow("to", "next");
        String[] texts = config.text("to", "").strip().split("\\s+");
        if (texts.length > MAX_RECEIVERS) {
            throw new IllegalArgumentException(
                    "to: " + texts.length + " receivers are over " + MAX_RECEIVERS + ": divide them among nodes");
        }
        List<Receiver> parsed = new ArrayList<>();
        for (String text : texts) {
            parsed.add(Receiver.parse(text));
        }
        receivers = List.copyOf(parsed);
        next = NextService.of(config);
        packets = counter("packets");
        copies = counter("copies");
        withheld = counter("withheld");
    }

    @Override
    public Verdict process(Packet packet) {
        packets.add(1);
        next.name(packet);
        Receiver last = null;
        for (int i = 0; i < receivers.size(); i++) {
            Receiver receiver = receivers.get(i);
            if (receiver.isSourceOf(packet)) {
                continue;
            }
            if (packet.dropPrecedence() > receiver.highest()) {
                withheld.add(1);
                continue;
            }
            if (last != null) {
                emitTo(last.address(), last.port(), packet);
            }
            last = receiver;
            copies.add(1);
        }
        return last == null ? drop("no receiver") : forwardTo(last.address(), last.port());
    }
}
