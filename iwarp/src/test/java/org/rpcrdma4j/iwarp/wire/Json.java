// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.wire;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the JSON of the vector file: objects, arrays, plain strings, integers, true, false and null. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** A {@code Map}, {@code List}, {@code String}, {@code Long}, {@code Boolean} or null. */
    static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.skipSpace();
        if (json.at != text.length()) {
            throw json.unexpected("the end");
        }
        return value;
    }

    private Object value() {
        skipSpace();
        return switch (text.charAt(at)) {
            case '{' -> object();
            case '[' -> array();
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, Object> object() {
        Map<String, Object> members = new LinkedHashMap<>();
        expect('{');
        if (!accept('}')) {
            do {
                skipSpace();
                String name = string();
                expect(':');
                members.put(name, value());
            } while (accept(','));
            expect('}');
        }
        return members;
    }

    private List<Object> array() {
        List<Object> items = new ArrayList<>();
        expect('[');
        if (!accept(']')) {
            do {
                items.add(value());
            } while (accept(','));
            expect(']');
        }
        return items;
    }

    private String string() {
        StringBuilder content = new StringBuilder();
        expect('"');
        while (text.charAt(at) != '"') {
            char next = text.charAt(at++);
            if (next == '\\') {
                next = text.charAt(at++);
                if (next != '"' && next != '\\' && next != '/') {
                    throw unexpected("a plain escape");
                }
            }
            content.append(next);
        }
        at++;
        return content.toString();
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw unexpected(word);
        }
        at += word.length();
        return value;
    }

    private Long number() {
        int start = at;
        while (at < text.length() && "-0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return Long.valueOf(text.substring(start, at));
    }

    private boolean accept(char wanted) {
        skipSpace();
        if (text.charAt(at) != wanted) {
            return false;
        }
        at++;
        return true;
    }

    private void expect(char wanted) {
        if (!accept(wanted)) {
            throw unexpected("'" + wanted + "'");
        }
    }

    private void skipSpace() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private IllegalArgumentException unexpected(String wanted) {
        return new IllegalArgumentException("expected " + wanted + " at offset " + at);
    }
}
