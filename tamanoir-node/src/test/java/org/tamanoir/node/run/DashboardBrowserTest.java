package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.node.run.LiveSink.send;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepSender;
import org.tamanoir.node.ui.Browser;
import org.tamanoir.services.Monitor;

/** The dashboard of a node under load, in a browser. */
@Tag("once")
@Tag("process")
@Timeout(300)
class DashboardBrowserTest {
    private static final String NAME = "org.example.Mark";

    private static final String QOS = """
            qos:
              classes: [{name: video, class-of-service: [1], weight: 70}, {name: rest, weight: 30}]
              default-class: rest
              pre: {discipline: wfq}
              links: [{name: uplink, rate: 100Mbit/s, next-hops: ["127.0.0.1"]}]
            """;

    /** Each page, and what it shows under this load. */
    private static final Map<String, String> PAGES = new TreeMap<>(Map.of(
            "overview", "#balance dd, main tbody tr",
            "path", "#path svg .trouble",
            "services", "td button.name",
            "streams", "main tbody tr:nth-child(3)",
            "qos", "main section + section tbody tr:nth-child(2)",
            "levels", "main tbody tr:nth-child(4)",
            "routes", "main tbody tr",
            "element", "#element p.none",
            "cluster", "p.none:not([hidden])",
            "events", "main tbody tr:nth-child(3)"));

    @TempDir
    static Path folder;

    private static LiveRepository repository;
    private static LiveSink sink;
    private static LiveNode node;
    private static Load load;

    /** One for all tests: its start takes longer than what they do. */
    private static @Nullable Browser shared;

    @SuppressWarnings("NullAway.Init") // Before each test.
    private Browser browser;

    /** Datagrams with a route and without, and three TCP streams, until it ends. */
    private static final class Load {
        private final Thread thread = new Thread(this::run, "load");
        private volatile boolean ends;

        private void run() {
            try (AnepSender one = AnepSender.tcp(node.tcp());
                    AnepSender two = AnepSender.tcp(node.tcp());
                    AnepSender three = AnepSender.tcp(node.tcp());
                    AnepSender datagrams = AnepSender.udp(node.udp())) {
                for (int i = 0; !ends; i++) {
                    for (AnepSender sender : List.of(one, two, three, datagrams)) {
                        send(sender, packets("10.0.0.7", i % 2), i, i + 1);
                    }
                    send(datagrams, packets("203.0.113.9", 0), i, i + 1);
                    TimeUnit.MILLISECONDS.sleep(20); // The rate; nobody waits for it.
                }
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        void end() throws InterruptedException {
            ends = true;
            thread.join();
        }
    }

    private static PacketBuilder packets(String destination, int classOfService) throws IOException {
        return new PacketBuilder()
                        .destination(InetAddress.getByName(destination))
                        .service(Monitor.class.getName())
                        .classOfService(classOfService, 0)
                        .stream(7)
                        .hopBudget(16);
    }

    @BeforeAll
    static void start() throws Exception {
        repository = new LiveRepository(folder.resolve("repository"));
        repository.publishMarker(NAME + ":1.0", 1);
        sink = new LiveSink();
        Path own = folder.resolve("node");
        String routes =
                "routes: [{to: 10.0.0.0/8, via: \"127.0.0.1:" + sink.address().getPort() + "\", kind: host}]\n";
        node = LiveNode.start(
                own,
                routes + "services: [{name: Monitor}]\n" + QOS
                        + LiveNode.deploy(own, repository, List.of(repository.url()), ""));
        load = new Load();
        load.thread.start();
    }

    @AfterAll
    static void stop() throws Exception {
        if (shared != null) {
            shared.close();
        }
        load.end();
        node.close();
        sink.close();
        repository.close();
    }

    @BeforeEach
    void open() {
        Browser opened = shared;
        if (opened == null) {
            opened = Browser.open(node.admin(), folder.resolve("profile"));
            shared = opened;
        } else {
            opened.openAnew();
        }
        browser = opened;
    }

    @Test
    void eachPageShowsWhatThereIsAndIsAccessibleOnEveryScreen() throws Exception {
        for (Map.Entry<String, String> page : PAGES.entrySet()) {
            browser.show(page.getKey());
            browser.until(() -> !browser.all(page.getValue()).isEmpty());
            browser.picture(page.getKey() + "-1280");
            browser.assertAccessible(page.getKey());
            browser.dark(true);
            browser.assertAccessible(page.getKey() + " in the dark");
            browser.width(390);
            browser.assertFits(page.getKey());
            browser.picture(page.getKey() + "-390");
            browser.dark(false);
            browser.width(1280);
        }
        browser.assertQuiet();
    }

    @Test
    void packetsThatEndAreShownWithTheirReasonWhereTheyEnd() {
        browser.show("path");
        browser.until(() -> browser.all("svg .route .ends").stream()
                .anyMatch(line -> line.getText().matches("NO_ROUTE [\\d,]+")));
        browser.show("events");
        browser.until(() -> browser.all("tbody td:nth-child(2)").stream()
                .anyMatch(cell -> cell.getText().equals("NO_ROUTE")));
        browser.type("input[type=text]", "no such text");
        browser.untilShown("or none that fits");
        browser.assertQuiet();
    }

    @Test
    void aServiceIsDeployedAndUndeployedByClicking() {
        browser.show("services");
        deploy();
        browser.type("#token-input", LiveNode.TOKEN);
        browser.click("#token-form [type=submit]");
        browser.untilShown(NAME + ":1.0 is deployed");
        assertThat(node.versions(NAME)).hasSize(1).allMatch(line -> line.startsWith("1.0 running"));
        browser.until(() -> {
            browser.all("td button.name").stream()
                    .filter(each -> each.getText().equals(NAME + ":1.0"))
                    .findFirst()
                    .orElseThrow()
                    .click();
            return browser.text().contains(repository.url());
        });
        browser.run(
                "[...document.querySelectorAll('#service button')].find(each => each.textContent === 'Undeploy').click()");
        browser.untilShown(NAME + ":1.0 is undeployed");
        browser.until(() -> node.versions(NAME).isEmpty());
        assertThat(browser.run("return JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"))
                .as("the token is kept nowhere")
                .isEqualTo("[{},{},\"\"]");
        browser.assertQuiet();
    }

    @Test
    void aWrongTokenIsRefusedWithTheLineOfTheApiAndForgotten() {
        browser.show("services");
        deploy();
        browser.type("#token-input", "wrong-token-of-this-test");
        browser.click("#token-form [type=submit]");
        browser.untilShown("the token is wrong: send that of the node's admin.token-file");
        browser.until(() -> browser.all("#token").get(0).getText().equals("Token"));
        assertThat(node.versions(NAME)).isEmpty();
        browser.assertQuiet(401);
    }

    /** To choose one puts the focus into its details. */
    @Test
    void theDetailsOfAServiceGoOnWhileTheFocusIsInThem() {
        browser.show("services");
        browser.until(() -> !browser.all("td button.name").isEmpty());
        browser.all("td button.name").stream()
                .filter(each -> each.getText().endsWith("Monitor"))
                .findFirst()
                .orElseThrow()
                .click();
        String details = "return [...document.querySelectorAll('#service dd')].map(each => each.textContent).join('|')";
        String first = browser.run(details);
        browser.until(() -> !browser.run(details).equals(first));
        assertThat(browser.run("return document.querySelector('#service').contains(document.activeElement)"))
                .isEqualTo("true");
        browser.assertQuiet();
    }

    @Test
    void aTokenThatNoHeaderCanCarryIsRefusedAndForgotten() {
        browser.show("services");
        deploy();
        browser.type("#token-input", "\u043f\u0430\u0440\u043e\u043b\u044c");
        browser.click("#token-form [type=submit]");
        browser.untilShown("the token has characters that no token has");
        browser.until(() -> browser.all("#token").get(0).getText().equals("Token"));
        browser.assertQuiet();
    }

    private void deploy() {
        browser.until(() -> browser.all("#token").get(0).getText().equals("Token"));
        browser.type("form[aria-label='Deploy a service'] input", NAME);
        browser.click("form[aria-label='Deploy a service'] [type=submit]");
        browser.until(() -> browser.all("#token-input").get(0).isDisplayed());
    }
}
