package org.tamanoir.node;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * A manual page of a command, made of the same texts as its help; man(7). Commands below it are sections of its page;
 * those of the program itself have pages of their own.
 *
 * <p>Thread contract: one thread.
 */
final class ManPage {
    private static final String SECTION = "1";
    private static final int WIDTH = 100_000;

    private final StringBuilder page = new StringBuilder();
    private final CommandSpec command;
    private final boolean isProgram;

    ManPage(CommandLine command) {
        this.command = command.getCommandSpec();
        isProgram = this.command.parent() == null;
    }

    /** Returns the page's name, {@code tamanoir-node} for {@code tamanoir node}. */
    static String name(CommandLine command) {
        return command.getCommandSpec().qualifiedName("-");
    }

    /** Returns the page, as roff. */
    String text(String version) {
        UsageMessageSpec usage = command.usageMessage();
        String name = command.qualifiedName("-");
        line(".TH " + quoted(name.toUpperCase(Locale.ROOT)) + " " + SECTION + " \"\" " + quoted("tamanoir " + version)
                + " \"Tamanoir\"");
        line(".ad l"); // Lines with long words cannot be stretched.
        line(".nh");
        line(".SH NAME");
        line(escaped(name) + " \\- " + escaped(summary(usage)));
        line(".SH SYNOPSIS");
        synopsis(command);
        line(".SH DESCRIPTION");
        Stream.of(usage.description()).forEach(this::paragraph);
        line(".SH OPTIONS");
        arguments(command, true);
        commands();
        if (!usage.exitCodeList().isEmpty()) {
            line(".SH \"EXIT STATUS\"");
            usage.exitCodeList().forEach((code, meaning) -> item(bold(code), meaning));
        }
        List<String> notes =
                Stream.of(usage.footer()).filter(text -> !text.isBlank()).toList();
        if (!notes.isEmpty()) {
            line(".SH NOTES");
            notes.forEach(this::paragraph);
        }
        seeAlso();
        return page.toString();
    }

    /** Returns the first sentence, without the dot at its end. */
    private static String summary(UsageMessageSpec usage) {
        return usage.description()[0].replaceFirst("(?s)[.:](\\s.*)?$", "");
    }

    private void commands() {
        if (command.subcommands().isEmpty()) {
            return;
        }
        line(".SH COMMANDS");
        for (CommandLine each : children(command)) {
            if (isProgram) {
                item(reference(each), summary(each.getCommandSpec().usageMessage()) + ".");
            } else {
                section(each.getCommandSpec());
            }
        }
    }

    private void section(CommandSpec spec) {
        line(".SS " + quoted(spec.qualifiedName()));
        synopsis(spec);
        Stream.of(spec.usageMessage().description()).forEach(this::paragraph);
        arguments(spec, false);
        children(spec).forEach(each -> section(each.getCommandSpec()));
    }

    private void seeAlso() {
        if (!isProgram) {
            line(".SH \"SEE ALSO\"");
            line(".BR tamanoir (" + SECTION + ")");
        }
    }

    private static List<CommandLine> children(CommandSpec spec) {
        return List.copyOf(spec.subcommands().values());
    }

    private static String reference(CommandLine child) {
        return bold(name(child)) + "(" + SECTION + ")";
    }

    private void synopsis(CommandSpec spec) {
        Help help = help(spec);
        String arguments =
                help.synopsis(0).strip().substring(spec.qualifiedName().length());
        line(".HP");
        line(bold(spec.qualifiedName()) + escaped(arguments.replaceAll("\\s+", " ")));
    }

    /** @param all whether those too that all commands have */
    private void arguments(CommandSpec spec, boolean all) {
        Help help = help(spec);
        for (PositionalParamSpec each : spec.positionalParameters()) {
            item("\\fI" + escaped(label(help, each)) + "\\fR", description(help, each));
        }
        List<OptionSpec> options = new ArrayList<>(spec.options());
        options.removeIf(option ->
                option.hidden() || !all && (option.inherited() || option.usageHelp() || option.versionHelp()));
        for (OptionSpec each : options) {
            String names = Stream.of(each.names()).map(ManPage::bold).collect(Collectors.joining(", "));
            String label = label(help, each);
            item(label.isEmpty() ? names : names + "\\fI" + escaped(label) + "\\fR", description(help, each));
        }
    }

    private static String label(Help help, ArgSpec argument) {
        return help.parameterLabelRenderer()
                .renderParameterLabel(argument, Ansi.OFF, List.of())
                .toString();
    }

    /** Returns the text with what stands for its default filled in. */
    private static String description(Help help, ArgSpec argument) {
        Help.Ansi.Text[][] rows = argument instanceof OptionSpec option
                ? help.createDefaultOptionRenderer().render(option, help.parameterLabelRenderer(), help.colorScheme())
                : help.createDefaultParameterRenderer()
                        .render((PositionalParamSpec) argument, help.parameterLabelRenderer(), help.colorScheme());
        return Arrays.stream(rows)
                .map(row -> row[row.length - 1].toString().strip())
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining(" "));
    }

    /** Without lines that are broken already: that is roff's work. */
    private static Help help(CommandSpec spec) {
        spec.usageMessage().width(WIDTH);
        return new Help(spec, Help.defaultColorScheme(Ansi.OFF));
    }

    private void item(String term, String text) {
        line(".TP");
        line(term);
        line(escaped(text));
    }

    private void paragraph(String text) {
        line(".PP");
        line(escaped(text.strip()));
    }

    private void line(String text) {
        page.append(text).append('\n');
    }

    private static String bold(String text) {
        return "\\fB" + escaped(text) + "\\fR";
    }

    private static String quoted(String text) {
        return '"' + escaped(text).replace("\"", "\\(dq") + '"';
    }

    /** Returns the text as roff shows it: hyphens as they are typed, and no line a request. */
    private static String escaped(String text) {
        String plain = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq");
        return plain.startsWith(".") ? "\\&" + plain : plain;
    }
}
