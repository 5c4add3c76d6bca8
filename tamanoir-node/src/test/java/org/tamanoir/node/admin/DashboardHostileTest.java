package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.ui.Browser;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;

/** Names and reasons that are markup, in a browser: they are shown as they are, and do nothing. */
@Tag("once")
@Tag("process")
@Timeout(120)
class DashboardHostileTest {
    private static final String MARKUP = "<img src=x onerror=\"window.hit = 1\"><script>window.hit = 2</script>";

    /** Gives its drops a reason that is markup. */
    public static final class Hostile extends Service {
        @Override
        public Verdict process(Packet packet) {
            return drop(MARKUP);
        }
    }

    @Test
    void markupIsText(@TempDir Path profile) throws Exception {
        ServiceDefinition service =
                new ServiceDefinition(MARKUP, Hostile::new, ServiceConfig.EMPTY, FailurePolicy.DROP);
        try (TestAdmin node =
                TestAdmin.with(new AdminSettings(TestAdmin.ANY, TestAdmin.SECRET, false, null), service)) {
            node.manager.report(MARKUP, MARKUP, Map.of(MARKUP, MARKUP));
            try (Browser browser = Browser.open("http://" + Endpoint.toString(node.server.address()), profile);
                    AnepSender sender =
                            AnepSender.udp(node.environment.udpAddresses().get(0))) {
                browser.show("events");
                PacketBuilder packets = new PacketBuilder()
                        .destination(InetAddress.getByName("10.0.0.7"))
                        .service(MARKUP);
                browser.until(() -> {
                    sender.send(packets, ByteBuffer.allocate(10));
                    sender.flush();
                    return browser.all("tbody td").stream()
                                    .filter(cell -> cell.getText().equals(MARKUP))
                                    .count()
                            >= 3;
                });
                assertIsText(browser, "events");
                for (String page : new String[] {"overview", "services"}) {
                    browser.show(page);
                    browser.untilShown(MARKUP);
                    assertIsText(browser, page);
                }
                browser.until(() -> {
                    browser.all("td button.name").stream()
                            .filter(each -> each.getText().equals(MARKUP))
                            .findFirst()
                            .orElseThrow()
                            .click();
                    return !browser.all("#service dl").isEmpty();
                });
                browser.untilShown(MARKUP + " ");
                assertIsText(browser, "one service");
                browser.assertQuiet();
            }
        }
    }

    private static void assertIsText(Browser browser, String where) {
        assertThat(browser.run("return [window.hit, document.querySelectorAll('main img, main script').length].join()"))
                .as(where)
                .isEqualTo(",0");
    }
}
