package org.tamanoir.services;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.nodeos.Share;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Setting;

/**
 * The setting {@code offload}: which packets a level below the JVM handles in place of the service, if the service is
 * to ask for that itself.
 *
 * <p>{@code none}, the default; {@code all}; {@code every K}: packets K, 2K, … come up to the service, the others are
 * handled below; {@code first N}: the first N come up.
 *
 * @param share what still comes up; null = the service does not ask
 */
@Setting(
        name = "offload",
        standard = "none",
        text = "none, all, every K or first N: which UDP packets a level below the JVM handles")
record OffloadSetting(@Nullable Share share) {
    private static final Pattern COUNTED = Pattern.compile("(every|first) +(\\d{1,10})");

    static OffloadSetting of(ServiceConfig config) {
        String text = config.text("offload", "none").strip();
        if (text.equals("none")) {
            return new OffloadSetting(null);
        }
        if (text.equals("all")) {
            return new OffloadSetting(Share.NONE);
        }
        Matcher counted = COUNTED.matcher(text);
        if (counted.matches()) {
            long number = Long.parseLong(counted.group(2));
            if (number >= 1 && number <= 0xFFFF_FFFFL) {
                return new OffloadSetting(counted.group(1).equals("every") ? Share.every(number) : Share.first(number));
            }
        }
        throw new IllegalArgumentException(
                "offload: " + text + " must be none, all, every K or first N, with K and N from 1 to 4294967295");
    }
}
