package org.tamanoir.node.ui;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.openqa.selenium.By;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.WebDriverException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.WindowType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;
import org.tamanoir.support.Tiers;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Debian's Chromium without a window, with an empty profile: it looks at a dashboard, and keeps what the page asked for
 * and complained of. One thread.
 */
public final class Browser implements AutoCloseable {
    public static final Duration PATIENCE = Waiting.PATIENCE;

    private static final File CHROMIUM = new File("/usr/bin/chromium");
    private static final File DRIVER = new File("/usr/bin/chromedriver");
    private static final JsonMapper MAPPER = new JsonMapper();

    private final ChromeDriver driver;
    private final String origin;

    private Browser(ChromeDriver driver, String origin) {
        this.driver = driver;
        this.origin = origin;
    }

    /**
     * Opens the dashboard of a server.
     *
     * @param profile an empty folder, which goes with the test
     */
    public static Browser open(String origin, Path profile) {
        Tiers.require(
                "browser",
                CHROMIUM.canExecute() && DRIVER.canExecute(),
                "no " + CHROMIUM + " with " + DRIVER + ": install chromium and chromium-driver");
        ChromeOptions options = new ChromeOptions();
        options.setBinary(CHROMIUM);
        options.addArguments(
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--user-data-dir=" + profile,
                "about:blank");
        LoggingPreferences kept = new LoggingPreferences();
        kept.enable(LogType.BROWSER, Level.ALL);
        kept.enable(LogType.PERFORMANCE, Level.ALL);
        options.setCapability("goog:loggingPrefs", kept);
        // Named, so that nothing is looked for or fetched.
        ChromeDriverService service = new ChromeDriverService.Builder()
                .usingDriverExecutable(DRIVER)
                .usingAnyFreePort()
                .build();
        Browser browser = new Browser(new ChromeDriver(service, options), origin);
        browser.open();
        return browser;
    }

    /**
     * Opens the dashboard in a tab of its own, as if anew: what a page keeps in the browser is gone, and so is what it
     * asked for and complained of.
     */
    public void openAnew() {
        driver.executeCdpCommand("Storage.clearDataForOrigin", Map.of("origin", origin, "storageTypes", "all"));
        String before = driver.getWindowHandle();
        String fresh = driver.switchTo().newWindow(WindowType.TAB).getWindowHandle();
        driver.switchTo().window(before).close();
        driver.switchTo().window(fresh);
        driver.manage().logs().get(LogType.BROWSER);
        open();
    }

    private void open() {
        width(1280);
        dark(false);
        driver.manage().logs().get(LogType.PERFORMANCE); // What the browser shows at its start.
        driver.get(origin + "/ui");
    }

    /** Sets the width of the window. */
    public void width(int pixels) {
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", pixels, "height", 900, "deviceScaleFactor", 1, "mobile", false));
    }

    /** Keeps what the page asks for from it where the path ends so; none: lets all through again. */
    public void block(String... endings) {
        driver.executeCdpCommand("Network.enable", Map.of());
        driver.executeCdpCommand(
                "Network.setBlockedURLs",
                Map.of("urls", Arrays.stream(endings).map(each -> "*" + each).toList()));
    }

    /** Loads the page again. */
    public void reload() {
        driver.navigate().refresh();
    }

    /** Looks as a reader does who wants dark colours, or light ones; nothing moves. */
    public void dark(boolean wanted) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of(
                        "features",
                        List.of(
                                Map.of("name", "prefers-color-scheme", "value", wanted ? "dark" : "light"),
                                Map.of("name", "prefers-reduced-motion", "value", "reduce"))));
    }

    /** Goes to a page, and waits until it is there. */
    public void show(String page) {
        click("#nav a[href='#" + page + "']");
        until(() -> !all("main h1").isEmpty()
                && driver.getTitle().equals(all("main h1").get(0).getText() + " · Tamanoir"));
    }

    public List<WebElement> all(String selector) {
        return driver.findElements(By.cssSelector(selector));
    }

    public void click(String selector) {
        until(() -> {
            List<WebElement> found = all(selector);
            if (found.isEmpty() || !found.get(0).isEnabled()) {
                return false;
            }
            found.get(0).click();
            return true;
        });
    }

    public void type(String selector, String text) {
        WebElement field = all(selector).get(0);
        field.clear();
        field.sendKeys(text);
    }

    /** Returns the text of all that is in the page. */
    public String text() {
        return String.valueOf(driver.executeScript("return document.body.innerText"));
    }

    /** Runs a script in the page, and returns what it returns as a text. */
    public String run(String script) {
        return String.valueOf(driver.executeScript(script));
    }

    /** Waits for a condition; elements that go meanwhile are looked up again. */
    public void until(Callable<Boolean> condition) {
        Awaitility.await()
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(100))
                .ignoreExceptionsInstanceOf(WebDriverException.class)
                .until(condition);
    }

    /** Waits until this text stands on the page. */
    public void untilShown(String text) {
        try {
            until(() -> text().contains(text));
        } catch (ConditionTimeoutException e) {
            throw new AssertionError("'" + text + "' is not shown: " + text() + problems(), e);
        }
    }

    private List<String> problems() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .map(LogEntry::toString)
                .toList();
    }

    /** Asserts that axe finds nothing serious. */
    public void assertAccessible(String where) throws IOException {
        try (InputStream in = Browser.class.getResourceAsStream("/axe.min.js")) {
            String axe = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
            driver.executeScript(axe);
        }
        Object found = driver.executeAsyncScript(
                "const done = arguments[arguments.length - 1];"
                        + "axe.run(document, {resultTypes: ['violations']}).then(result => done(result.violations"
                        + ".filter(each => ['serious', 'critical'].includes(each.impact))"
                        + ".map(each => each.id + ': ' + each.nodes.map(node => node.html + ' ' + node.failureSummary).join('; '))));");
        assertThat((List<?>) found).as("serious findings of axe at %s", where).isEmpty();
    }

    /** Awaits that the page is no wider than its window: charts follow a moment after it has changed. */
    public void assertFits(String where) {
        Awaitility.await(where + " fits its window")
                .atMost(PATIENCE)
                .until(() -> run("return document.documentElement.scrollWidth <= innerWidth")
                        .equals("true"));
    }

    /** Writes a picture of the window into the module's {@code target/dashboard}. */
    public void picture(String name) throws IOException {
        Path folder = Files.createDirectories(Path.of("target/dashboard"));
        Files.write(folder.resolve(name + ".png"), driver.getScreenshotAs(OutputType.BYTES));
    }

    /** Asserts that the page asked nobody but its server, and complained of nothing but of refusals of this status. */
    public void assertQuiet(int... refusals) {
        List<String> elsewhere = new ArrayList<>();
        driver.manage().logs().get(LogType.PERFORMANCE).forEach(entry -> {
            JsonNode message = MAPPER.readTree(entry.getMessage()).get("message");
            if (message.get("method").asString().equals("Network.requestWillBeSent")) {
                String url = message.get("params").get("request").get("url").asString();
                if (!url.startsWith(origin + "/") && !url.startsWith("chrome://")) {
                    elsewhere.add(url);
                }
            }
        });
        assertThat(elsewhere).as("requests that leave %s", origin).isEmpty();
        List<String> complaints = driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
                .map(entry -> entry.getMessage())
                .filter(line -> Arrays.stream(refusals).noneMatch(status -> line.contains("status of " + status)))
                .toList();
        assertThat(complaints).as("what the console says").isEmpty();
    }

    @Override
    public void close() {
        driver.quit();
    }
}
