// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import java.nio.file.PathMatcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** Patterns of paths: {@code glob:} and {@code regex:} as {@link java.nio.file.FileSystem#getPathMatcher} describes them. Case counts. */
final class GlobPattern {

    private static final String SPECIAL = "\\^$.|?*+()[]{}";

    private final String glob;
    private final StringBuilder regex = new StringBuilder();
    private int at;
    private boolean inGroup;

    private GlobPattern(String glob) {
        this.glob = glob;
    }

    static PathMatcher matcher(String syntaxAndPattern) {
        int colon = syntaxAndPattern.indexOf(':');
        if (colon <= 0) {
            throw new IllegalArgumentException("no syntax, as in glob:*.java: " + syntaxAndPattern);
        }
        String syntax = syntaxAndPattern.substring(0, colon);
        String text = syntaxAndPattern.substring(colon + 1);
        String regex;
        if (syntax.equalsIgnoreCase("glob")) {
            regex = new GlobPattern(text).toRegex();
        } else if (syntax.equalsIgnoreCase("regex")) {
            regex = text;
        } else {
            throw new UnsupportedOperationException("patterns are glob: or regex:, not " + syntax + ":");
        }
        Pattern pattern = Pattern.compile(regex);
        return path -> pattern.matcher(path.toString()).matches();
    }

    private String toRegex() {
        while (at < glob.length()) {
            char next = glob.charAt(at++);
            switch (next) {
                case '*' -> star();
                case '?' -> regex.append("[^/]");
                case '[' -> bracket();
                case '{' -> beginGroup();
                case '}' -> {
                    regex.append(inGroup ? "))" : "\\}");
                    inGroup = false;
                }
                case ',' -> regex.append(inGroup ? ")|(?:" : ",");
                case '\\' -> literal(escaped());
                default -> literal(next);
            }
        }
        if (inGroup) {
            throw bad("a { without }");
        }
        return regex.toString();
    }

    private void star() {
        if (at < glob.length() && glob.charAt(at) == '*') {
            at++;
            regex.append("(?s:.*)");
        } else {
            regex.append("[^/]*");
        }
    }

    private void beginGroup() {
        if (inGroup) {
            throw bad("a group in a group");
        }
        inGroup = true;
        regex.append("(?:(?:");
    }

    private char escaped() {
        if (at == glob.length()) {
            throw bad("nothing behind the last \\");
        }
        return glob.charAt(at++);
    }

    private void literal(char character) {
        if (SPECIAL.indexOf(character) >= 0) {
            regex.append('\\');
        }
        regex.append(character);
    }

    /** One of a set of characters, never a slash; a backslash in it stands for itself. */
    private void bracket() {
        regex.append("[[^/]&&[");
        if (at < glob.length() && glob.charAt(at) == '!') {
            regex.append('^');
            at++;
        }
        int first = at;
        boolean afterCharacter = false;
        while (at < glob.length() && (glob.charAt(at) != ']' || at == first)) {
            char next = glob.charAt(at++);
            if (next == '/') {
                throw bad("a slash in a set of characters");
            }
            boolean isRange = next == '-' && afterCharacter && at < glob.length() && glob.charAt(at) != ']';
            if (isRange) {
                char end = glob.charAt(at++);
                if (end < glob.charAt(at - 3)) {
                    throw bad("a range that runs backwards");
                }
                regex.append('-');
                member(end);
                afterCharacter = false;
            } else {
                member(next);
                afterCharacter = true;
            }
        }
        if (at >= glob.length() || at == first) {
            throw bad("a [ without ]");
        }
        at++;
        regex.append("]]");
    }

    private void member(char character) {
        if ("\\[]^-&".indexOf(character) >= 0) {
            regex.append('\\');
        }
        regex.append(character);
    }

    private PatternSyntaxException bad(String reason) {
        return new PatternSyntaxException(reason, glob, Math.max(0, at - 1));
    }
}
