package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.ui.Browser;
import org.tamanoir.support.Ports;

/** An open page, in a browser, whose server fails it for a while. */
@Tag("once")
@Tag("process")
@Timeout(300)
class DashboardFaultsTest {
    private static TestAdmin start(InetSocketAddress at) throws Exception {
        return TestAdmin.start(new AdminSettings(at, TestAdmin.SECRET, false, null));
    }

    @Test
    void eventsOfARestartedNodeAreShownOnThePageThatIsOpen(@TempDir Path profile) throws Exception {
        InetSocketAddress address = new InetSocketAddress(TestAdmin.ANY.getAddress(), Ports.free());
        TestAdmin node = start(address);
        try (Browser browser = Browser.open("http://" + Endpoint.toString(address), profile)) {
            for (int i = 0; i < 50; i++) {
                node.manager.report("test", "event " + i + " before", Map.of());
            }
            browser.show("events");
            browser.untilShown("event 49 before");
            node.close();
            node = start(address);
            node.manager.report("test", "the one behind", Map.of());
            browser.untilShown("the one behind");
            assertThat(browser.text()).as("what was there stays").contains("event 49 before");
        } finally {
            node.close();
        }
    }

    @Test
    void chartsThatCouldNotBeLoadedAreDrawnLaterAndNothingIsUnhandled(@TempDir Path profile) throws Exception {
        try (TestAdmin node = start(TestAdmin.ANY);
                Browser browser = Browser.open("http://" + Endpoint.toString(node.server.address()), profile)) {
            browser.show("services");
            browser.block("/chart.js");
            browser.reload();
            browser.run("window.unhandled = 0; window.failed = 0;"
                    + "addEventListener('unhandledrejection', () => window.unhandled++);"
                    + "addEventListener('error', event => window.failed += event.target.tagName === 'SCRIPT', true)");
            browser.show("overview");
            browser.until(() -> !browser.run("return window.failed").equals("0"));
            browser.block();
            browser.until(() -> browser.run("return typeof window.Chart").equals("function"));
            assertThat(browser.run("return window.unhandled")).isEqualTo("0");
        }
    }
}
