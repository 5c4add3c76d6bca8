package org.tamanoir.node.config;

import java.util.List;
import org.tamanoir.anep.Anep;
import org.tamanoir.auth.AuthKey;
import org.tamanoir.auth.AuthRules;
import org.tamanoir.auth.AuthRules.Guarded;
import org.tamanoir.auth.AuthRules.Signer;

/** The settings of the section {@code authentication}: which packets must be authenticated, and which are signed. */
public final class AuthTable {
    /** Where a rule names a next hop. */
    private static final String WAYS = "`PREFIX=KEY`, `any=KEY` or `HOST:PORT=KEY`";

    final Setting<KeyFile> keys;
    private final Setting<List<Guarded>> from;
    private final Setting<List<Guarded>> to;
    private final Setting<List<Signer>> sign;
    private final Setting<Integer> window;
    private final Setting<Integer> streams;

    /** Adds the settings to a component's. */
    AuthTable(Setting.Table table) {
        keys = table.add("authentication.keys", Kind.of("file", KeyFile::read, KeyFile::toString), null, "none")
                .option("--auth-keys", "FILE")
                .live();
        from = table.add("authentication.from", guarded(), List.of(), "empty")
                .option("--auth-from", "PREFIX")
                .repeatedInErrors()
                .live();
        to = table.add("authentication.to", guarded(), List.of(), "empty")
                .option("--auth-to", "PREFIX")
                .repeatedInErrors()
                .live();
        sign = table.add(
                        "authentication.sign",
                        Kind.list("list of up to 256 " + WAYS, AuthTable::signer),
                        List.of(),
                        "empty")
                .option("--auth-sign", "WHAT=KEY")
                .repeatedInErrors()
                .live();
        window = table.add(
                        "authentication.replay-window",
                        Kind.of(
                                "numbers, a multiple of 64, 0 to " + AuthRules.MAX_WINDOW,
                                AuthTable::window,
                                number -> number),
                        AuthRules.DEFAULT_WINDOW)
                .live();
        streams = table.add(
                        "authentication.replay-streams",
                        Kind.number("streams a key, ", 1, AuthRules.MAX_STREAMS),
                        AuthRules.DEFAULT_STREAMS)
                .live();
    }

    private static Kind<List<Guarded>> guarded() {
        return Kind.list("list of up to 256 prefixes, addresses or `any`", Guarded::of);
    }

    private static Integer window(String text) {
        int packets = Quantity.number(text, 0, AuthRules.MAX_WINDOW);
        if (packets % 64 != 0) {
            throw new IllegalArgumentException(
                    text + " is no multiple of 64: take " + packets / 64 * 64 + " or " + (packets / 64 + 1) * 64);
        }
        return packets;
    }

    private static Signer signer(String text) {
        int equals = text.lastIndexOf('=');
        if (equals < 1) {
            throw new IllegalArgumentException("'" + text + "' names no key: " + WAYS.replace("`", "") + " is wanted");
        }
        int key = AuthKey.id(text.substring(equals + 1));
        String what = text.substring(0, equals);
        try {
            return new Signer(Guarded.of(what), null, key);
        } catch (IllegalArgumentException e) {
            if (what.indexOf('/') >= 0) {
                throw e;
            }
            return new Signer(null, Endpoint.of(what, Anep.DEFAULT_PORT, 1), key);
        }
    }

    /** Returns what is checked and signed. */
    AuthRules rules(Values values) {
        return new AuthRules(
                values.get(from), values.get(to), values.get(sign), values.get(window), values.get(streams));
    }

    /** Returns the keys of the file; none where there is no file. */
    List<AuthKey> keys(Values values) {
        KeyFile file = values.find(keys);
        return file == null ? List.of() : file.keys();
    }

    /** Looks at what only shows when file and command line have been read. */
    void check(Values values, Problems problems) {
        AuthRules rules;
        try {
            rules = rules(values);
        } catch (IllegalArgumentException e) {
            problems.add("authentication", String.valueOf(e.getMessage()));
            return;
        }
        for (int id : rules.signingKeys()) {
            if (keys(values).stream().noneMatch(key -> key.id() == id)) {
                problems.add(
                        values.where(sign),
                        "key " + AuthKey.text(id) + " is not in the file of authentication.keys; add it there");
            }
        }
        String misfit = misfit(values);
        if (!misfit.isEmpty()) {
            problems.add("authentication", misfit);
        }
    }

    /** Returns in one line why packets cannot be authenticated with these settings; empty when they can. */
    String misfit(Values values) {
        if (!rules(values).isOn()) {
            return "";
        }
        if (!values.get(NodeSettings.INTERFACES).isEmpty()) {
            return "levels below the JVM let packets by that nobody checks; remove levels.interfaces, or this section";
        }
        if (!values.get(NodeSettings.UNITS).isEmpty()) {
            return "a distributed element renumbers packets between those who sign and those who check; remove"
                    + " element.units, or this section";
        }
        return "";
    }
}
