package org.tamanoir.node.config;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.catalog.Placement;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;

/** Puts the options of the command line over the settings of the file; errors name the option. One thread. */
public final class Overrides {
    private final NodeConfigBuilder settings;

    public Overrides(NodeConfigBuilder settings) {
        this.settings = settings;
        settings.beginOverrides();
    }

    /** Puts the texts of a setting's own option over it; several are for lists, which they replace. */
    public void setting(Setting<?> setting, List<String> texts) {
        settings.values.override(setting, texts, settings.problems);
    }

    /**
     * Adds addresses for both TCP and UDP to those of the settings' own options. Any address of the command line
     * replaces all of the file's.
     */
    public void listen(List<String> both) {
        List<InetSocketAddress> common = new ArrayList<>();
        both.forEach(text -> collect("--listen", () -> common.add(Endpoint.listening(text, Anep.DEFAULT_PORT))));
        Values values = settings.values;
        List<Setting<List<InetSocketAddress>>> lists = List.of(
                NodeSettings.TCP, NodeSettings.UDP_ADDRESSES, NodeSettings.TLS_ADDRESSES, NodeSettings.QUIC_ADDRESSES);
        if (both.isEmpty() && lists.stream().noneMatch(values::isOverridden)) {
            return;
        }
        for (Setting<List<InetSocketAddress>> list : lists) {
            List<InetSocketAddress> all = new ArrayList<>(
                    list == NodeSettings.TLS_ADDRESSES || list == NodeSettings.QUIC_ADDRESSES ? List.of() : common);
            all.addAll(values.isOverridden(list) ? values.get(list) : List.of());
            values.put(list, all, String.valueOf(list.option()));
        }
    }

    /** {@code PREFIX=VIA[,same|tcp|udp|tls|quic][,active|host]}. */
    public void route(String text) {
        String option = "--route " + text;
        collect(option, () -> settings.route(option, RouteTable.parse(text)));
    }

    public void direct(String prefix) {
        String option = "--direct " + prefix;
        Endpoint via = new Endpoint(RouteTable.DIRECT, Endpoint.NO_PORT);
        collect(
                option,
                () -> settings.route(
                        option, RouteTable.route(Prefix.parse(prefix), via, NextHop.Transport.SAME, null)));
    }

    /** {@code NAME[,KEY=VALUE...]}. */
    public void service(String text) {
        String option = "--service " + text;
        collect(option, () -> settings.service(option, ServiceTable.parse(text, option)));
    }

    /** {@code NAME=LEVEL}. */
    public void place(String text) {
        String option = "--place " + text;
        collect(option, () -> {
            int equals = text.indexOf('=');
            if (equals < 1) {
                throw new IllegalArgumentException("NAME=LEVEL is wanted, as in Monitor=tc");
            }
            settings.place(
                    option,
                    NodeConfigBuilder.serviceName(text.substring(0, equals)),
                    Placement.Wanted.of(text.substring(equals + 1)));
        });
    }

    /** In place of the file's section {@code qos}. */
    public void qos(@Nullable Path file) {
        if (file != null) {
            ConfigFile.read(file, settings.problems, section -> {
                settings.qos = QosSection.read(section);
                settings.links = section.where("links");
            });
        }
    }

    private void collect(String option, Runnable parser) {
        try {
            parser.run();
        } catch (IllegalArgumentException e) {
            settings.problems.add(option, String.valueOf(e.getMessage()));
        }
    }
}
