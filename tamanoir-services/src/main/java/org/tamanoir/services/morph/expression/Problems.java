package org.tamanoir.services.morph.expression;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelIssue;
import dev.cel.common.ast.CelExpr;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Structure;
import org.tamanoir.service.Suggestion;

/** Says in a line what is wrong with an expression, and what helps. */
final class Problems {
    private static final Pattern NAME = Pattern.compile("(?:undeclared reference to|undefined field) '([^']*)'.*");
    private static final Pattern OVERLOAD =
            Pattern.compile("found no matching overload for '([^']*)' applied to '([^']*)'.*", Pattern.DOTALL);
    private static final Pattern WHOLE =
            Pattern.compile("For input string: \"([^\"]*)\".*|String value (\\S+) exceeds range of unsigned long.*");
    private static final int NAMES_SHOWN = 8;

    private Problems() {}

    /** Returns where a part begins, from 1; 0 where that is not known. */
    static int column(CelAbstractSyntaxTree tree, CelExpr expr) {
        Integer at = tree.getSource().getPositionsMap().get(expr.id());
        return at == null ? 0 : at + 1;
    }

    static ExpressionException of(String text, CelIssue issue, @Nullable RecordTypes types) {
        String what = issue.getMessage();
        Matcher name = NAME.matcher(what);
        Matcher overload = OVERLOAD.matcher(what);
        if (types != null && name.matches()) {
            what = "there is no '" + ExpressionException.shown(name.group(1)) + "'; " + near(name.group(1), types);
        } else if (overload.matches()) {
            what = operation(overload.group(1), overload.group(2));
        } else if (WHOLE.matcher(what).matches()) {
            what = "a whole number beyond 64 bits: at most " + Long.MAX_VALUE + " or " + Long.toUnsignedString(-1)
                    + "u; a double ends in .0";
        }
        int line = issue.getSourceLocation().getLine();
        int column = issue.getSourceLocation().getColumn() + 1;
        return new ExpressionException(
                text, column, (line > 1 ? "line " + line + ": " : "") + ExpressionException.shown(what));
    }

    private static String operation(String function, String operands) {
        String shown = function.replace("_", "").replace("@", "");
        String what = "'" + shown + "' does not take " + operands;
        Set<String> kinds =
                new TreeSet<>(List.of(operands.replaceAll("[()]", "").split(", *")));
        if (kinds.size() > 1 && Set.of("int", "uint", "double").containsAll(kinds)) {
            return what + ": make both the same by double(…), int(…) or uint(…), whole numbers doubles by .0";
        }
        if (function.equals("!_") || shown.equals("&&") || shown.equals("||")) {
            return what + ": compare numbers with 0, texts with \"\"";
        }
        return what + ": string(…), int(…), double(…) convert";
    }

    private static String near(String name, RecordTypes types) {
        List<String> known = new ArrayList<>();
        for (Structure structure : types.format().structures()) {
            types.fields(structure).keySet().stream()
                    .filter(field -> !known.contains(field))
                    .forEach(known::add);
        }
        String record = types.recordName();
        if (record != null) {
            known.add(record);
        }
        List<String> top = List.copyOf(types.fields(types.format().top()).keySet());
        List<String> first = top.subList(0, Math.min(NAMES_SHOWN, top.size()));
        String shown = "there are " + String.join(", ", first) + (first.size() < top.size() ? ", …" : "");
        return Suggestion.nearest(name, known)
                .map(near -> "did you mean " + near + "?")
                .orElse(shown);
    }
}
